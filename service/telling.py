"""
A write seam: what people tell of clients, checked and stored. REST, pages and commands all come here.

Each method is told by whom (`actor`: the way in, such as `rest` or `command`).
"""

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from service import names
from service.analysis.catalogue import rests
from service.clock import Clock, system_clock
from service.errors import BadParameter, NotFound
from service.events import Recorded
from service.settings import Settings
from service.store import told
from service.store.driver import Connection, Writer, open_writer
from service.told import Alias, Exclusion, Mark, MarkKind, Note

NOTE_LIMIT = 1_000
"""Characters of a note."""

KEPT_PREFIX = {4: 24, 6: 48}
"""Of an address no more than this many bits of its range is stored."""

NETWORKS_MAX = 4_096
"""Ranges of that size that one rule may cover."""


class Telling:
    """Takes what people tell. Safe to share between threads."""

    def __init__(self, writer: Writer, *, skew_us: int, clock: Clock = system_clock) -> None:
        """
        The database of *writer* must be ready. Who marks may have a clock that is up to *skew_us* ahead.
        """
        self._writer = writer
        self._skew_us = skew_us
        self._clock = clock

    def alias(
        self, client: str | None, target: str | None, note: str | None, *, actor: str
    ) -> tuple[Alias, Recorded]:
        """
        Say that one client is another: its calls count as the other's, until this is taken back.

        Raises:
            BadParameter: A name is missing, both are one client, or the other is (in the end) this one.
        """
        said, now_us = noted(note), self._clock()
        with self._writer.transaction() as connection:
            key, _ = _client(connection, "client", client)
            other, shown = _client(connection, "target", target)
            if key == other:
                raise BadParameter(
                    "target", "is the same client already; spellings of one need no alias"
                )
            alias = Alias(client=key, target=shown, note=said, said_us=now_us, actor=actor)
            if told.leads_to(connection, other, key):
                raise BadParameter("target", f"is itself said to be {key}; take that back first")
            return alias, told.tell_alias(connection, alias)

    def unalias(self, client: str | None, *, actor: str) -> None:
        """
        Take an alias back.

        Raises:
            NotFound: That client has none.
        """
        with self._writer.transaction() as connection:
            key, _ = _client(connection, "client", client)
            if not told.drop_alias(connection, key, self._clock(), actor):
                raise NotFound(
                    f"no alias of {names.bounded(key)}; they are listed at /api/v1/aliases"
                )

    def exclude(
        self,
        *,
        server: str | None,
        client: str | None,
        version: str | None,
        network: str | None,
        note: str | None,
        actor: str,
    ) -> tuple[Exclusion, Recorded]:
        """
        Leave calls out that have everything which is given: own tests, probes.

        Raises:
            BadParameter: Nothing but a server is given, or the network is no range of addresses.
        """
        pattern = _pattern(client)
        rule = Exclusion(
            id=0,
            server=names.feed_name("server", server),
            client=pattern,
            version=names.bounded(names.clean(version or "").strip()) or None,
            network=_network(network),
            note=noted(note),
            said_us=self._clock(),
            actor=actor,
        )
        if rule.client is None and rule.version is None and rule.network is None:
            raise BadParameter(
                "client", "missing; name a client, a version or a network to leave out"
            )
        with self._writer.transaction() as connection:
            if pattern is not None and "*" not in pattern:
                known = told.key_shown(connection, names.clean(client or ""))
                rule = replace(rule, client=known or pattern)
            id_, outcome = told.tell_exclusion(connection, rule)
        return replace(rule, id=id_), outcome

    def include(self, id_: int, *, actor: str) -> None:
        """
        Take a rule back: what it left out counts again.

        Raises:
            NotFound: There is no such rule.
        """
        with self._writer.transaction() as connection:
            if not told.drop_exclusion(connection, id_, self._clock(), actor):
                raise NotFound(f"no exclusion {id_}; they are listed at /api/v1/exclusions")

    def mark(
        self,
        *,
        kind: str | None,
        server: str | None,
        client: str | None,
        name: str | None,
        at_us: int | None,
        note: str | None,
        actor: str,
    ) -> Mark:
        """
        Say that a client was contacted, is known, or was fixed at an instant (None: now).

        `client` "" is whatever names none; `name` None is every retired name. An instant by a clock that is
        ahead is now: a mark says nothing of calls that are still to come.

        Raises:
            BadParameter: A member is missing or cannot be used.
        """
        now_us = self._clock()
        if kind not in list(MarkKind):
            raise BadParameter("kind", f"must be one of {', '.join(MarkKind)}")
        named = names.feed_name("server", server)
        if named is None:
            raise BadParameter("server", "missing; name the MCP server, such as maps")
        if client is None:
            raise BadParameter("client", 'missing; name the client, or "" for calls that name none')
        if at_us is not None and at_us > now_us + self._skew_us:
            raise BadParameter("at", "lies ahead of the clock; say it when it has happened")
        mark = Mark(
            id=0,
            kind=MarkKind(kind),
            server=named,
            client="",
            name=names.bounded(names.clean(name)) if name else None,
            at_us=now_us if at_us is None else min(at_us, now_us),
            note=noted(note),
            said_us=now_us,
            actor=actor,
        )
        cleaned = names.clean(client)
        read = names.read_client(cleaned)
        with self._writer.transaction() as connection:
            if read is not None:
                mark = replace(mark, client=told.key_shown(connection, cleaned) or read.key)
            spelled = cleaned.strip()
            # the audit finds by it what was told of a client that is forgotten
            shown = spelled if names.shown_key(spelled) == mark.client else mark.client
            unknown = told.unknown(connection, mark, set(rests(mark.name or "")))
            id_ = told.tell_mark(connection, mark, shown)
        return replace(mark, id=id_, unknown=unknown)

    def unmark(self, id_: int, *, actor: str) -> None:
        """
        Take a mark back.

        Raises:
            NotFound: There is no such mark, or it was taken back before.
        """
        with self._writer.transaction() as connection:
            if not told.withdraw_mark(connection, id_, self._clock(), actor):
                raise NotFound(f"no mark {id_} that stands; they are listed at /api/v1/marks")

    def note(
        self, *, server: str | None, at_us: int | None, text: str | None, actor: str
    ) -> tuple[Note, Recorded]:
        """
        Write something beside an instant (None: now), of a server or (None) of all.

        An instant by a clock that is ahead is now, as of a mark.

        Raises:
            BadParameter: There is no text or too much of it, or the instant is still to come.
        """
        now_us = self._clock()
        said = noted(text, "text")
        if not said:
            raise BadParameter("text", "missing; write what happened")
        if at_us is not None and at_us > now_us + self._skew_us:
            raise BadParameter("at", "lies ahead of the clock; write it when it has happened")
        note = Note(
            id=0,
            server=names.feed_name("server", server),
            at_us=now_us if at_us is None else min(at_us, now_us),
            text=said,
            said_us=now_us,
            actor=actor,
        )
        with self._writer.transaction() as connection:
            id_, outcome = told.tell_note(connection, note)
        return replace(note, id=id_), outcome

    def unnote(self, id_: int, *, actor: str) -> None:
        """
        Take a note back.

        Raises:
            NotFound: There is no such note.
        """
        with self._writer.transaction() as connection:
            if not told.drop_note(connection, id_, self._clock(), actor):
                raise NotFound(f"no note {id_}; they are listed at /api/v1/notes")


@contextmanager
def open_telling(settings: Settings) -> Iterator[Telling]:
    """What takes it, over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        yield Telling(writer, skew_us=settings.future_skew_s * 1_000_000)


def _client(connection: Connection, parameter: str, text: str | None) -> tuple[str, str]:
    """(key, name) of a client, in any of its spellings; first of all the one that answers show."""
    cleaned = names.clean(text or "")
    read = names.read_client(cleaned)
    if read is None:
        raise BadParameter(parameter, "missing; name a client, such as claude-code")
    key = told.key_shown(connection, cleaned)
    if key is not None and (parameter == "client" or len(cleaned.strip()) <= names.TEXT_LIMIT):
        return key, read.name if read.key == key else cleaned.strip()
    if max(len(read.key), len(read.name)) > names.TEXT_LIMIT:
        raise BadParameter(parameter, f"longer than {names.TEXT_LIMIT} characters")
    return read.key, read.name


def _pattern(text: str | None) -> str | None:
    key = names.bounded(names.shown_key(names.clean(text or "")))
    if key and not key.replace("*", ""):
        raise BadParameter("client", "a pattern of nothing but * would leave every client out")
    return key or None


def _network(text: str | None) -> str | None:
    if not (text or "").strip():
        return None
    try:
        network = ipaddress.ip_network((text or "").strip(), strict=False)
    except ValueError:
        raise BadParameter(
            "network", "no range of addresses; write one such as 203.0.113.0/24 or 2001:db8::/48"
        ) from None
    kept = KEPT_PREFIX[network.version]
    if network.prefixlen > kept:
        whole = network.supernet(new_prefix=kept)
        raise BadParameter("network", f"of an address only its /{kept} is kept; write {whole}")
    if 2 ** (kept - network.prefixlen) > NETWORKS_MAX:
        raise BadParameter("network", f"too wide; at most {NETWORKS_MAX:,} ranges of /{kept}")
    return str(network)


def noted(text: str | None, parameter: str = "note") -> str:
    """
    Read a note, which *parameter* holds.

    Raises:
        BadParameter: It is too long.
    """
    cleaned = names.clean(text or "").strip()
    if len(cleaned) > NOTE_LIMIT:
        raise BadParameter(
            parameter, f"at most {NOTE_LIMIT:,} characters, this has {len(cleaned):,}"
        )
    return cleaned
