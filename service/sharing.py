"""
A seam: links that show one filter to whoever holds them. They are made, listed, revoked and known again here, for
commands, REST, pages and the door. A secret is returned once, when it is made; what is kept is its digest.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from service import names
from service.clock import DAY_US, HOUR_US, Clock, system_clock
from service.errors import BadParameter, NotFound
from service.settings import Settings
from service.shares import PREFIX, Bound, Share, SharedNow, new_secret
from service.store import shares
from service.store.driver import Connection, Writer, open_writer
from service.tokens import digest_of

EXPIRES: Final = "30d"
"""How long a link stands where nobody says."""
SPANS: Final = {"h": HOUR_US, "d": DAY_US, "w": 7 * DAY_US}
LONGEST_US: Final = 3_660 * DAY_US
MOST_ORIGINS: Final = 8
SECRET_LIMIT: Final = 128
"""Longer text is no secret of ours, and is not hashed."""
USE_US: Final = 60_000_000
"""A use is kept where the one before lies longer back."""
_SPAN = re.compile(r"([0-9]{1,6})([hdw])", re.ASCII)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?", re.ASCII)


class Sharing:
    """Makes, lists, revokes and finds links. Safe to share between threads."""

    def __init__(
        self, writer: Writer, *, reader: Writer | None = None, clock: Clock = system_clock
    ) -> None:
        """The database of *writer* must be ready. A *reader* of its own does not wait for what is written."""
        self._writer = writer
        self._reader = reader or writer
        self._clock = clock
        self._noted: dict[int, int] = {}
        """When a use of each link was kept by this process, by number."""

    def shares(self) -> list[Share]:
        """Every link, the oldest first, those that have ended too."""
        with self._reader.reading() as connection:
            return shares.shares(connection)

    def find(self, secret: str) -> Share | None:
        """The link with that secret; None where there is none, or it has ended, or is revoked."""
        if not secret.startswith(PREFIX) or len(secret) > SECRET_LIMIT:
            return None
        with self._reader.reading() as connection:
            found = shares.by_digest(connection, digest_of(secret))
        return found if found is not None and found.stands(self._clock()) else None

    def add(
        self,
        server: str | None,
        name: str | None = None,
        client: str | None = None,
        *,
        expires: str | None = None,
        embed: Sequence[str] = (),
        actor: str,
    ) -> SharedNow:
        """
        Make a link to what is asked of one *server*, and if given of one *name* and one *client* (empty: the calls
        that name none). *expires* is a span such as `12h`, `30d` or `8w`, or `never`; *embed* are the origins whose
        pages may frame it.

        Raises:
            BadParameter: Something of it cannot be used.
        """
        wanted = names.feed_name("server", server)
        if wanted is None:
            raise BadParameter("server", "missing; a link shows one MCP server, such as maps")
        now_us = self._clock()
        share = Share(
            id=0,
            bound=Bound(
                server=wanted,
                name=names.bounded(names.clean(name or "").strip()) or None,
                client=None if client is None else names.bounded(names.clean(client).strip()),
            ),
            embed=origins(embed),
            created_us=now_us,
            actor=actor,
            expires_us=end_of(expires or EXPIRES, now_us),
        )
        secret = new_secret()
        with self._writer.transaction() as connection:
            known = shares.servers(connection)
            if wanted not in known:
                listed = ", ".join(names.bounded(each) for each in known[:5]) or "none yet"
                raise BadParameter("server", f"no such server; there is {listed}")
            _check(connection, share.bound)
            id_ = shares.keep_share(connection, share, digest_of(secret))
        return SharedNow(replace(share, id=id_), secret)

    def revoke(self, id_: int, *, actor: str) -> Share:
        """
        End a link: from now on its secret is not known.

        Raises:
            NotFound: There is none of that number that stands.
        """
        now_us = self._clock()
        with self._writer.transaction() as connection:
            found = shares.by_number(connection, id_)
            if found is None or not found.stands(now_us):
                raise NotFound(f"no link {id_} that stands; `lastcall share list` lists them")
            shares.revoke_share(connection, found, now_us, actor)
        return replace(found, revoked_us=now_us, revoked_by=actor)

    def note_use(self, share: Share) -> None:
        """
        Keep that a link was used just now, unless that was kept a minute ago.

        Raises:
            Busy, StorageUnavailable: It cannot be kept now; nothing else is lost.
        """
        if not self.is_noted(share):
            now_us = self._clock()
            self._noted[share.id] = now_us  # of several at once the first one writes
            with self._writer.transaction() as connection:
                shares.note_use(connection, share.id, now_us)

    def is_noted(self, share: Share) -> bool:
        """Whether a use was kept within the last minute."""
        last_us = max(share.used_us or 0, self._noted.get(share.id, 0))
        return 0 <= self._clock() - last_us < USE_US


def _check(connection: Connection, bound: Bound) -> None:
    """A link to what was mistyped would show nothing. Raises BadParameter."""
    name, client = bound.name, bound.client
    if name is not None and not shares.knows_name(connection, bound.server, name):
        raise BadParameter("name", f"no tool {name!r} is known; write it as the pages do")
    if client and not shares.knows_client(connection, client):
        raise BadParameter(
            "client", f"no client {client!r} was ever seen; write it as the pages do"
        )


def end_of(text: str, now_us: int) -> int | None:
    """
    When something ends that begins now and lasts so long; None for `never`.

    >>> end_of("2d", 0) == 2 * DAY_US, end_of("never", 0)
    (True, None)

    Raises:
        BadParameter: It is no such span.
    """
    said = text.strip().lower()
    if said == "never":
        return None
    found = _SPAN.fullmatch(said)
    length_us = int(found[1]) * SPANS[found[2]] if found else 0
    if not 0 < length_us <= LONGEST_US:
        raise BadParameter(
            "expires",
            "write hours, days or weeks such as 12h, 30d or 8w (10 years at most), or never",
        )
    return now_us + length_us


def origins(texts: Sequence[str]) -> tuple[str, ...]:
    """
    Read the origins of pages, each once and in their order.

    >>> origins(["https://Wiki.example/", "http://localhost:3000"])
    ('https://wiki.example', 'http://localhost:3000')

    Raises:
        BadParameter: One is no origin, or there are more than `MOST_ORIGINS`.
    """
    found = tuple(dict.fromkeys(_origin(text) for text in texts if text.strip()))
    if len(found) > MOST_ORIGINS:
        raise BadParameter("embed", f"at most {MOST_ORIGINS} origins; make another link for others")
    return found


def _origin(text: str) -> str:
    """One origin. It goes into a header: nothing of it may be more than a scheme, a host and a port."""
    scheme, mark, rest = text.strip().lower().partition("://")
    host = rest.removesuffix("/")
    if scheme in {"http", "https"} and mark and _HOST.fullmatch(host) and _has_port(f"//{host}"):
        return f"{scheme}://{host}"
    raise BadParameter(
        "embed", "write the origin of the page that frames it, such as https://wiki.example"
    )


def _has_port(address: str) -> bool:
    """Whether what stands for a port, if anything does, is one."""
    try:
        return urlsplit(address).port != 0
    except ValueError:
        return False


@contextmanager
def open_sharing(settings: Settings) -> Iterator[Sharing]:
    """The seam over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        yield Sharing(writer)
