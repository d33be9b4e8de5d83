"""What the tests of the store share: rows to store, and a database's content in words."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from service.events import (
    TOOL_KINDS,
    BatchName,
    Caller,
    CallerLevel,
    Fact,
    Kind,
    Native,
    Outcome,
    Portion,
    Quarantined,
    Row,
    Stored,
    Subject,
)
from service.store import check, writer
from service.store.engine import Engine, driver_of, reading, writing
from service.store.schema import metadata

NOON = 1_791_201_600_000_000
"""2026-10-05T12:00:00Z in µs: day 20731, quarter-hour 1990224 since 1970."""
SECOND = 1_000_000
MINUTE = 60 * SECOND
DAY = 86_400 * SECOND
NOON_DAY = 20_731
NOON_QUARTER = 1_990_224


def row(
    key: int,
    at: int = NOON,
    kind: Kind = Kind.STALE_CALL,
    *,
    session: str | None = None,
    request_id: str | None = None,
    ns: int = 0,
    **given: Any,
) -> Row:
    """A row of server `main`; calls are to `old_tool` unless said otherwise."""
    if kind in TOOL_KINDS:
        given.setdefault("tool", "old_tool")
    request = None
    if request_id is not None and session is not None and kind in TOOL_KINDS:
        request = int(request_id) if request_id.isdigit() else -1 - zlib.crc32(request_id.encode())
    return (at, key, Subject(kind=kind, **{"server": "main", **given}), session, request, ns)


def again(line: Row, **otherwise: Any) -> Row:
    """A row of the same time and key that says something else; fields as in `row`."""
    at, key, subject, session, request, ns = line
    given: dict[str, Any] = {
        name: getattr(subject, name)
        for name in Subject.__dataclass_fields__
        if name not in otherwise
    }
    rest = {"session": session, "request_id": None if request is None else str(request), "ns": ns}
    return row(key, at, **{**given, **rest, **otherwise})


def portion(
    rows: Iterable[Row] = (),
    *,
    label: str = "run",
    arrived_us: int = NOON,
    rejected: Sequence[Quarantined] = (),
    ignored: int = 0,
    hours: dict[int, int] | None = None,
    server: str = "main",
    natives: Sequence[Native] = (),
) -> Portion:
    """A portion of source `files`."""
    return Portion(
        server=server,
        source="files",
        batch=BatchName(kind="ingest", label=label),
        arrived_us=arrived_us,
        rows=list(rows),
        natives=list(natives),
        rejected=list(rejected),
        ignored=ignored,
        hours=hours or {},
    )


def assert_alike(one: Engine, other: Engine) -> None:
    """Both hold the same, and nothing of *one* differs from what its rows say."""
    assert contents(one) == contents(other)
    assert differences(one) == []
    assert rebuild(one) == 0


def store(engine: Engine, rows: Iterable[Row] = (), **given: Any) -> Stored:
    """Store one portion in a transaction of its own."""
    with writing(engine) as conn:
        return writer.add(driver_of(conn), portion(rows, **given), quarantine_days=14)


def wipe(engine: Engine) -> None:
    """Take every row out of every table."""
    with writing(engine) as conn:
        for table in reversed(metadata.sorted_tables):
            conn.execute(table.delete())


def query(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a query, as tuples."""
    with reading(engine) as conn:
        return [tuple(found) for found in conn.execute(sa.text(sql))]


def execute(engine: Engine, sql: str) -> None:
    """Lay a hand on the database."""
    with writing(engine) as conn:
        conn.execute(sa.text(sql))


def differences(engine: Engine) -> list[str]:
    """What `lastcall db check` says."""
    with reading(engine) as conn:
        return check.differences(conn)


def rebuild(engine: Engine) -> int:
    """What `lastcall db rebuild` mends."""
    with writing(engine) as conn:
        return check.rebuild(conn)


CALL_DAYS = """
SELECT s.name, t.name, c.raw, d.kind, d.day, d.calls, d.first_us, d.last_us
FROM call_day AS d JOIN server AS s ON s.id = d.server_id JOIN tool AS t ON t.id = d.tool_id
LEFT JOIN client AS c ON c.id = d.client_id
ORDER BY 1, 2, coalesce(c.raw, ''), 4, 5
"""
ACTIVITY = """
SELECT s.name, c.raw, a.kind, a.quarter, a.events
FROM activity AS a JOIN server AS s ON s.id = a.server_id
LEFT JOIN client AS c ON c.id = a.client_id
ORDER BY 1, coalesce(c.raw, ''), 3, 4
"""
EVENTS = """
SELECT e.time_us, e.key, e.kind, s.name, c.raw, k.level, k.digest, j.digest, t.name, v.name,
       f.digest, e.outcome, e.counted
FROM event AS e JOIN server AS s ON s.id = e.server_id
LEFT JOIN client AS c ON c.id = e.client_id LEFT JOIN caller AS k ON k.id = e.caller_id
LEFT JOIN session AS j ON j.id = e.session_id LEFT JOIN tool AS t ON t.id = e.tool_id
LEFT JOIN version AS v ON v.id = e.version_id LEFT JOIN fact AS f ON f.id = e.fact_id
ORDER BY 1, 2
"""
SESSIONS = """
SELECT s.name, j.digest, j.hello_us, h.raw, v.name, j.named_us, n.raw, j.first_us, j.last_us,
       j.unnamed
FROM session AS j JOIN server AS s ON s.id = j.server_id
LEFT JOIN client AS h ON h.id = j.hello_client_id
LEFT JOIN version AS v ON v.id = j.hello_version_id
LEFT JOIN client AS n ON n.id = j.named_client_id
ORDER BY 1, 2
"""
_OTHERS = (
    (
        'SELECT time_us, key, "trigger", protocol_version, ttl_ms, listed_count, ns, arrival '
        "FROM event_extra ORDER BY 1, 2"
    ),
    (
        "SELECT s.name, j.digest, l.request, l.time_us, l.key FROM call_line AS l "
        "JOIN session AS j ON j.id = l.session_id JOIN server AS s ON s.id = j.server_id "
        "ORDER BY 1, 2, 3, 4, 5"
    ),
    "SELECT raw, key, name, via, version FROM client ORDER BY 1",
    (
        "SELECT s.name, k.level, k.digest, k.network FROM caller AS k "
        "JOIN server AS s ON s.id = k.server_id ORDER BY 1, 2, 3"
    ),
    (
        "SELECT s.name, t.name, f.digest, f.last_release, f.replaced_by, f.message FROM fact AS f "
        "JOIN server AS s ON s.id = f.server_id JOIN tool AS t ON t.id = f.tool_id ORDER BY 1, 2, 3"
    ),
    "SELECT key, time_us FROM arrival ORDER BY 1",
    "SELECT time_us, key, native_id, ordinal FROM native ORDER BY 1, 2, 3",
    "SELECT name FROM server ORDER BY 1",
    "SELECT name FROM tool ORDER BY 1",
    "SELECT name FROM version ORDER BY 1",
)


def contents(engine: Engine) -> list[list[tuple[Any, ...]]]:
    """All that rows have left behind, in words: without ids, batches and tallies."""
    return [query(engine, sql) for sql in (EVENTS, SESSIONS, CALL_DAYS, ACTIVITY, *_OTHERS)]


def rich_rows() -> list[Row]:
    """Twelve rows in which everything meets: two servers, a late hello, one call on three lines,
    rare fields, facts, callers, two rows in one instant. `revision_0001.sql` holds the same."""
    fact = Fact(last_release="1.2", replaced_by=("new_tool",), message="gone")
    shape: dict[str, Any] = {"session": "s1", "request_id": "7"}
    who = Caller(level=CallerLevel.ADDRESS, digest="ab", network="n1")
    return [
        row(1, NOON, session="s1", fact=fact, outcome=Outcome.TOMBSTONE, caller=who),
        row(2, NOON + SECOND, Kind.CALL, **shape),
        row(3, NOON + 2 * SECOND, Kind.UNKNOWN_CALL, client="Cursor", version="1", **shape),
        row(4, NOON + 3 * SECOND, Kind.STALE_CALL, fact=fact, **shape),
        row(5, NOON + 4 * SECOND, Kind.HELLO, session="s1", client="Claude-AI (via mcp-remote 1)"),
        row(6, NOON + 4 * SECOND, Kind.HELLO, session="s1", client="Zed", version="3"),
        row(7, NOON + 20 * MINUTE, Kind.LISTING, session="s1", listed_count=12, ttl_ms=5),
        row(8, NOON + DAY, Kind.CALL, server="other", client="Zed", tool="fine", ns=999),
        row(9, NOON + DAY, Kind.NOTIFICATION, server="other", session="s1", trigger="release"),
        row(10, NOON - DAY, Kind.CALL, session="s1"),
        row(11, NOON - DAY, Kind.HELLO, session="s2", protocol_version="2025-11-25"),
        row(12, NOON - DAY, Kind.LISTEN, session="s2", client="Zed", caller=who),
    ]
