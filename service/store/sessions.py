"""
Sessions: what joins lines. A session's client is read in place of one that a line does not name.

What a session row says is a pure function of the session's rows, whatever order they came in.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from service.events import Kind, Subject
from service.store.dialect import insert_many, new_ids, run_matching, update_many
from service.store.dimensions import Ids
from service.store.driver import Connection, Values

_HELLO = int(Kind.HELLO)
_NEVER = 2**63 - 1

_SELECT = """
SELECT s.digest, s.id, s.hello_us, s.hello_client_id, s.hello_version_id,
       s.named_us, s.named_client_id, s.first_us, s.last_us, s.unnamed
FROM {wanted} CROSS JOIN session AS s
WHERE s.server_id = wanted.column1 AND s.digest = wanted.column2
"""
_TEXTS = """
SELECT s.id, h.raw, v.name, n.raw
FROM {wanted} CROSS JOIN session AS s
LEFT JOIN client AS h ON h.id = s.hello_client_id
LEFT JOIN version AS v ON v.id = s.hello_version_id
LEFT JOIN client AS n ON n.id = s.named_client_id
WHERE s.id = wanted.column1
"""


Naming = tuple[int, str, bool, str, int, int | None]
"""
A line that names a client: (time in µs, client, without a version, version or "", client id, version
id). The least one counts: the earliest, then the least text.
"""


class State(NamedTuple):
    """What a session row says."""

    hello_us: int | None = None
    hello_client_id: int | None = None
    hello_version_id: int | None = None
    named_us: int | None = None
    named_client_id: int | None = None
    first_us: int = _NEVER
    last_us: int = -_NEVER
    unnamed: int = 0


_NEW = State()


class Session:
    """
    A session as it was before a portion, and what the portion's rows say of it.

    Rows are to be told in the order of time: set `last_us` of each; count those that name no client as
    `unnamed` and keep `first_us`; of those that do, `take` the hellos and the ones up to
    `open_until_us`.
    """

    __slots__ = (
        "after",
        "before",
        "first_us",
        "hello",
        "id",
        "last_us",
        "named",
        "open_until_us",
        "request",
        "unnamed",
        "unordered",
    )

    def __init__(self, number: int | None, before: State | None = None) -> None:
        """A session as it is stored; without *before* a new one, without *number* none at all."""
        self.id = number
        self.before = before
        self.after = before or _NEW
        """What it is with the portion's rows, once `merge` was called."""
        self.first_us = _NEVER
        self.last_us = -_NEVER
        self.unnamed = 0
        self.hello: Naming | None = None
        self.named: Naming | None = None
        self.request = -_NEVER
        """Of the latest line of a call."""
        self.unordered = False
        """Whether a request was no greater than one before it, and so may be the same."""
        self.open_until_us = _NEVER
        """Up to this time a row that names a client may be the first, or the one that names it."""
        if number is None:
            self.open_until_us = -_NEVER
        elif before is not None and before.named_us is not None:
            self.open_until_us = before.named_us

    @property
    def client_before(self) -> int:
        """Id of the client that was read where a line names none; 0 for none."""
        return 0 if self.before is None else self.before.hello_client_id or 0

    @property
    def client(self) -> int:
        """Id of the client that is read where a line names none; 0 for none."""
        return self.after.hello_client_id or 0

    @property
    def moves(self) -> bool:
        """Whether rows that were stored before are another client's now."""
        before = self.before
        return before is not None and before.unnamed > 0 and self.client != self.client_before

    def take(self, time_us: int, subject: Subject, ids: Ids) -> None:
        """Take in a row that names a client."""
        if time_us < self.first_us:
            self.first_us = time_us
        text, version = subject.client or "", subject.version
        naming = (time_us, text, version is None, version or "", ids.client or 0, ids.version)
        if self.named is None or naming < self.named:
            self.named = naming
            if time_us < self.open_until_us:
                self.open_until_us = time_us
        if ids.kind == _HELLO and (self.hello is None or naming < self.hello):
            self.hello = naming


def load(conn: Connection, server: int, digests: Collection[str]) -> dict[str, Session]:
    """The sessions of a server by these digests; new ones have their ids, and `save` stores them."""
    wanted = [(server, digest) for digest in sorted(digests)]
    found: dict[str, Session] = {}
    for digest, number, *state in run_matching(conn, _SELECT, ["int4", "text"], wanted):
        found[digest] = Session(number, State._make(state))
    missing = [digest for _, digest in wanted if digest not in found]
    for digest, number in zip(missing, new_ids(conn, "session", len(missing)), strict=True):
        found[digest] = Session(number)
    return found


def merge(conn: Connection, sessions: Collection[Session]) -> None:
    """Find out what the sessions are with the rows that they were told of."""
    ties = [(each.id,) for each in sessions if _ties(each)]
    texts = {number: said for number, *said in run_matching(conn, _TEXTS, ["int4"], ties)}
    for each in sessions:
        each.after = _after(each, *texts.get(each.id, (None, None, None)))


def save(conn: Connection, server: int, sessions: Mapping[str, Session]) -> None:
    """Store what `merge` found out, where it is new."""
    new: list[Values] = []
    changed: list[Values] = []
    for digest, each in sessions.items():
        if each.before is None:
            new.append((each.id, server, digest, *each.after))
        elif each.after != each.before:
            changed.append((each.id, *each.after))
    new.sort()
    insert_many(conn, "session", new)
    update_many(conn, "session", State._fields, changed)


def _ties(session: Session) -> bool:
    """Whether text must decide between a stored naming and a new one."""
    before, hello, named = session.before, session.hello, session.named
    if before is None:
        return False
    return (hello is not None and hello[0] == before.hello_us) or (
        named is not None and named[0] == before.named_us
    )


def _after(
    session: Session, hello_text: str | None, version: str | None, named_text: str | None
) -> State:
    """What a session is with its new rows; the texts of its stored namings matter in ties only."""
    before, hello, named = session.before or _NEW, session.hello, session.named
    hello_said: tuple[int | None, int | None, int | None] = before[:3]
    if hello is not None and (
        before.hello_us is None
        or hello[:4] < (before.hello_us, hello_text or "", version is None, version or "")
    ):
        hello_said = (hello[0], *hello[4:])
    named_said: tuple[int | None, int | None] = before[3:5]
    if named is not None and (
        before.named_us is None or named[:2] < (before.named_us, named_text or "")
    ):
        named_said = (named[0], named[4])
    return State(
        *hello_said,
        *named_said,
        min(before.first_us, session.first_us),
        max(before.last_us, session.last_us),
        before.unnamed + session.unnamed,
    )
