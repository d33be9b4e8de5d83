"""
Sessions: what joins lines. A session's client is read in place of one that a line does not name.

What a session row says is a pure function of the session's rows, whatever order they came in.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from service.events import Kind
from service.store import schema
from service.store.dialect import Values, insert_many, run_matching
from service.store.engine import Connection

SessionKey = tuple[int, str]
"""Server id, digest."""

_COLUMNS = [
    "server_id",
    "digest",
    "hello_us",
    "hello_client_id",
    "hello_version_id",
    "named_us",
    "named_client_id",
    "first_us",
    "last_us",
    "unnamed",
]
_SELECT = """
SELECT s.server_id, s.digest, s.id, s.first_us, s.last_us, s.unnamed,
       s.hello_us, h.raw, v.name, s.hello_client_id, s.hello_version_id,
       s.named_us, n.raw, s.named_client_id
FROM {wanted} CROSS JOIN session AS s
LEFT JOIN client AS h ON h.id = s.hello_client_id
LEFT JOIN version AS v ON v.id = s.hello_version_id
LEFT JOIN client AS n ON n.id = s.named_client_id
WHERE s.server_id = wanted.column1 AND s.digest = wanted.column2
"""
_REPLACE = "ON CONFLICT (server_id, digest) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in _COLUMNS[2:]
)


@dataclass(frozen=True, slots=True, order=True)
class Naming:
    """A line that names a client. The least one counts: the earliest, then the least text."""

    time_us: int
    client: str
    versionless: bool
    version: str
    client_id: int
    version_id: int | None


@dataclass(slots=True)
class Session:
    """One session, as stored and then as the new rows make it."""

    id: int
    server_id: int
    digest: str
    first_us: int
    last_us: int
    unnamed: int
    hello: Naming | None = None
    named: Naming | None = None
    changed: bool = False

    @property
    def client_id(self) -> int | None:
        """The client that is read where a line of this session names none."""
        return None if self.hello is None else self.hello.client_id

    def add(self, kind: Kind, time_us: int, naming: Naming | None) -> None:
        """Take in one newly stored row; *naming* is None where it names no client."""
        if time_us < self.first_us:
            self.first_us, self.changed = time_us, True
        if time_us > self.last_us:
            self.last_us, self.changed = time_us, True
        if naming is None:
            self.unnamed += 1
            self.changed = True
            return
        if self.named is None or naming < self.named:
            self.named, self.changed = naming, True
        if kind is Kind.HELLO and (self.hello is None or naming < self.hello):
            self.hello, self.changed = naming, True


def load(conn: Connection, firsts: dict[SessionKey, int]) -> dict[SessionKey, Session]:
    """Find or make sessions, given the time in µs of a row of each."""
    found = {
        values[:2]: _session(values)
        for values in run_matching(conn, _SELECT, ["int4", "text"], firsts)
    }
    missing = [
        (*key, None, None, None, None, None, time_us, time_us, 0)
        for key, time_us in sorted(firsts.items())
        if key not in found
    ]
    returning = ["server_id", "digest", "id", "first_us"]
    for server, digest, number, time_us in insert_many(
        conn, schema.session, _COLUMNS, missing, returning=returning
    ):
        found[server, digest] = Session(number, server, digest, time_us, time_us, 0)
    return found


def save(conn: Connection, sessions: Iterable[Session]) -> None:
    """Write back the sessions that changed."""
    changed = [_values(session) for session in sessions if session.changed]
    insert_many(
        conn, schema.session, _COLUMNS, sorted(changed, key=lambda v: v[:2]), conflict=_REPLACE
    )


def _session(values: Values) -> Session:
    _, _, _, _, _, _, hello_us, hello, version, hello_id, version_id, named_us, named, named_id = (
        values
    )
    server, digest, number, first_us, last_us, unnamed = values[:6]
    session = Session(number, server, digest, first_us, last_us, unnamed)
    if hello_us is not None:
        session.hello = Naming(
            hello_us, hello, version is None, version or "", hello_id, version_id
        )
    if named_us is not None:
        session.named = Naming(named_us, named, True, "", named_id, None)
    return session


def _values(session: Session) -> Values:
    hello, named = session.hello, session.named
    return (
        session.server_id,
        session.digest,
        None if hello is None else hello.time_us,
        None if hello is None else hello.client_id,
        None if hello is None else hello.version_id,
        None if named is None else named.time_us,
        None if named is None else named.client_id,
        session.first_us,
        session.last_us,
        session.unnamed,
    )
