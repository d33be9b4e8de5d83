"""
A seam: who may come in. Tokens are made, listed, revoked and known again here, for commands, pages and the door
of the service alike. A secret is returned once, when it is made; what is kept is its digest.
"""

import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hmac import compare_digest

from service import names
from service.clock import DAY_US, Clock, system_clock
from service.errors import BadParameter, Conflict, NotFound, Unauthenticated
from service.settings import Settings
from service.store import tokens
from service.store.driver import Writer, open_writer
from service.store.secrets import read_secrets
from service.tokens import Issued, Limits, Scope, Token, digest_of, new_secret

ACTORS = frozenset({"rest", "command", "page", "demo"})
"""What the audit calls somebody who needed no token: a token cannot be called so."""
LOGIN_US = 14 * DAY_US
"""How long a login holds."""
USE_US = 60_000_000
"""A use is kept where the one before lies longer back: who delivers by the second costs no more writes."""
_PASS = re.compile(r"([0-9]{1,9})\.([0-9]{1,18})\.([0-9a-f]{64})", re.ASCII)
MOST_RECORDS = 10**12
SECRET_LIMIT = 512
"""Longer text is no secret of ours, and is not hashed."""


class Access:
    """Makes, lists, revokes and finds tokens. Safe to share between threads."""

    def __init__(
        self,
        writer: Writer,
        *,
        settings: Settings,
        reader: Writer | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """
        The database of *writer* must be ready. A *reader* of its own does not wait for what is written.
        """
        self._writer = writer
        self._reader = reader or writer
        self._most = Limits(
            sent_bytes=settings.max_body_bytes,
            body_bytes=settings.max_body_bytes,
            line_bytes=settings.max_line_bytes,
            depth=settings.max_depth,
        )
        self._clock = clock
        self._asks = False
        self._noted: dict[int, int] = {}
        """When a use of each token was kept by this process, by number."""

    def asks(self) -> bool:
        """Whether a token was ever made, by any process: from then on everybody must show one."""
        if not self._asks:  # it never turns back
            with self._reader.reading() as connection:
                self._asks = tokens.ever_any(connection)
        return self._asks

    def tokens(self) -> list[Token]:
        """Every token, the oldest first, revoked ones too."""
        with self._reader.reading() as connection:
            return tokens.tokens(connection)

    def find(self, secret: str) -> Token | None:
        """The token with that secret; None where there is none or it is revoked."""
        if not secret or len(secret) > SECRET_LIMIT:
            return None
        with self._reader.reading() as connection:
            return tokens.by_digest(connection, digest_of(secret))

    def add(
        self,
        name: str | None,
        scope: str | None,
        limits: Limits | None = None,
        *,
        actor: str,
        by: Token | None = None,
        first: bool = False,
    ) -> Issued:
        """
        Make a token: *scope* is `ingest:SERVER`, `ingest:*`, `read` or `admin`. It is made only if the token *by*
        which it is asked for still stands, and where it is to be the *first* one, only if there was none.

        Raises:
            BadParameter: The name, the scope or a limit cannot be used.
            Conflict: There is or was a token of that name.
            Unauthenticated: Whoever asks may no longer.
        """
        named = names.feed_name("name", name)
        if named is None:
            raise BadParameter("name", "missing; name who or what will use it, such as vector-maps")
        if not named.isprintable():
            raise BadParameter("name", "holds characters that cannot be seen; take letters")
        if named.casefold() in ACTORS:
            raise BadParameter("name", f"{named!r} says in the audit that no token was used")
        kind, server = read_scope(scope)
        token = Token(
            id=0,
            name=named,
            scope=kind,
            server=server,
            limits=self._admitted(limits or Limits(), kind),
            created_us=self._clock(),
            actor=actor,
        )
        secret = new_secret()
        with self._writer.transaction() as connection:
            ended = by is not None and tokens.by_number(connection, by.id) is None
            if ended or (first and tokens.ever_any(connection)):
                raise Unauthenticated("you may no longer do that; log in again, at /login")
            if tokens.by_name(connection, named) is not None:
                raise Conflict(f"there is or was a token {named!r}; take a name that none had yet")
            id_ = tokens.keep_token(connection, token, digest_of(secret))
        self._asks = True
        return Issued(replace(token, id=id_), secret)

    def revoke(self, name: str, *, actor: str) -> Token:
        """
        End a token: from now on its secret is not known.

        Raises:
            NotFound: There is none of that name that stands.
        """
        now_us = self._clock()
        with self._writer.transaction() as connection:
            found = tokens.by_name(connection, names.clean(name).strip())
            if found is None or found[0].revoked_us is not None:
                raise NotFound(
                    f"no token {names.bounded(names.clean(name))!r} that stands; "
                    "`lastcall tokens list` lists them"
                )
            tokens.revoke_token(connection, found[0], now_us, actor)
        return replace(found[0], revoked_us=now_us, revoked_by=actor)

    def note_use(self, token: Token) -> None:
        """
        Keep that a token was used just now, unless that was kept a minute ago.

        Raises:
            Busy, StorageUnavailable: It cannot be kept now; nothing else is lost.
        """
        if not self.is_noted(token):
            now_us = self._clock()
            self._noted[token.id] = now_us  # of several at once the first one writes
            with self._writer.transaction() as connection:
                tokens.note_use(connection, token.id, now_us)

    def is_noted(self, token: Token) -> bool:
        """Whether a use was kept within the last minute."""
        last_us = max(token.used_us or 0, self._noted.get(token.id, 0))
        return 0 <= self._clock() - last_us < USE_US

    def log_in(self, secret: str) -> tuple[Token, str] | None:
        """
        The token of a secret, and a pass that stands for it in a browser until `LOGIN_US` is over or the token
        is revoked. None where there is none.
        """
        token = self.find(secret)
        if token is None:
            return None
        issued_us = self._clock()
        with self._reader.reading() as connection:
            key = read_secrets(connection)[1]
        signed = _signed(key, token.id, issued_us, digest_of(secret))
        return token, f"{token.id}.{issued_us}.{signed}"

    def by_pass(self, text: str) -> Token | None:
        """The token of a pass that holds; None where it is none of ours, too old, or its token is revoked."""
        if (found := _PASS.fullmatch(text)) is None:
            return None
        id_, issued_us = int(found[1]), int(found[2])
        if not 0 <= self._clock() - issued_us < LOGIN_US:
            return None
        with self._reader.reading() as connection:
            known, key = tokens.by_number(connection, id_), read_secrets(connection)[1]
        if known is None:
            return None
        token, digest = known
        return token if compare_digest(_signed(key, id_, issued_us, digest), found[3]) else None

    def _admitted(self, limits: Limits, kind: Scope) -> Limits:
        given, most = limits.given(), self._most.given()
        if given and kind is Scope.READ:
            raise BadParameter("scope", "a token that only reads delivers nothing to be limited")
        for name, value in given.items():
            least = 2 if name == "depth" else 1
            if value < least:
                raise BadParameter(
                    name, f"must be {least} or more; leave it out for what the settings say"
                )
            if name not in most and value > MOST_RECORDS:
                raise BadParameter(name, f"at most {MOST_RECORDS:,}; leave it out for no limit")
            if value > most.get(name, value):
                raise BadParameter(name, f"at most {most[name]:,}, which is what the settings say")
        if "burst" in given and "records_per_s" not in given:
            raise BadParameter("burst", "says nothing without records_per_s; give both")
        return limits


def read_scope(text: str | None) -> tuple[Scope, str | None]:
    """
    Read a scope; with it the server that it is for, None where it is for any.

    >>> read_scope("ingest:maps")
    (<Scope.INGEST: 'ingest'>, 'maps')

    Raises:
        BadParameter: It is none.
    """
    word, colon, rest = (text or "").strip().partition(":")
    server = names.feed_name("scope", rest)
    if not (server or "").isprintable():
        raise BadParameter(
            "scope", "names a server with characters that cannot be seen; take letters"
        )
    if word == Scope.INGEST and server is not None:
        return Scope.INGEST, None if server == "*" else server
    if word in {Scope.READ, Scope.ADMIN} and not colon:
        return Scope(word), None
    raise BadParameter("scope", "write ingest:SERVER, ingest:* for any server, read or admin")


def _signed(key: bytes, id_: int, issued_us: int, digest: str) -> str:
    """What binds a pass to its token and to the database: nobody can make one from either alone."""
    return hmac.digest(key, f"lastcall login {id_} {issued_us} {digest}".encode(), "sha256").hex()


@contextmanager
def open_access(settings: Settings) -> Iterator[Access]:
    """The seam over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        yield Access(writer, settings=settings)
