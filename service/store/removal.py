"""
Events taken out of the database, and all that followed from them.

What is left is derived again from the rows that are left, by the same SQL as `check` derives it: the lines of
calls of which one goes, the sessions of which a row goes, and the roll-ups of each day on which something
changes. All of it stands in temporary tables of the database, so memory does not grow with the events.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from service.clock import DAY_US, QUARTER_US
from service.events import Kind
from service.store import derived
from service.store.dialect import run_each
from service.store.driver import Connection, Values
from service.store.unused import drop_unused

Day = tuple[int, int]
"""Server id, UTC day since 1970-01-01."""

_POINTERS = "server_id, client_id, caller_id, session_id, tool_id, version_id, fact_id"
_STATE = "session_id, " + ", ".join(derived.SESSION_COLUMNS)
_TABLES = {
    "gone_event": (
        "time_us BIGINT NOT NULL, key BIGINT NOT NULL, kind SMALLINT, "
        + ", ".join(f"{name} INTEGER" for name in _POINTERS.split(", ")),
        "time_us, key",
    ),
    "gone_session": ("id INTEGER NOT NULL, hello_client_id INTEGER", "id"),
    "gone_state": (
        "session_id INTEGER NOT NULL, "
        + ", ".join(f"{name} BIGINT" for name in derived.SESSION_COLUMNS),
        "session_id",
    ),
    "gone_request": ("session_id INTEGER NOT NULL, request BIGINT NOT NULL", "session_id, request"),
    "gone_line": (
        "time_us BIGINT NOT NULL, key BIGINT NOT NULL, server_id INTEGER",
        "time_us, key",
    ),
    "gone_day": ("server_id INTEGER NOT NULL, day INTEGER NOT NULL", "server_id, day"),
    "gone_name": ("kind SMALLINT NOT NULL, id INTEGER NOT NULL", "kind, id"),
    "heir": (
        "time_us BIGINT NOT NULL, key BIGINT NOT NULL, batch_id INTEGER, source_id INTEGER",
        "time_us, key",
    ),
}
"""Columns and primary key of each temporary table."""

_GATHER = f"""
INSERT INTO gone_event (time_us, key, kind, {_POINTERS})
SELECT time_us, key, kind, {_POINTERS} FROM event AS e WHERE {{which}}
"""
_TOUCHED_SESSIONS = """
INSERT INTO gone_session (id, hello_client_id)
SELECT id, hello_client_id FROM session WHERE id IN (SELECT session_id FROM gone_event)
"""
_IS_GONE = "(time_us, key) IN (SELECT time_us, key FROM gone_event)"
_LINE_IS_GONE = f"session_id IN (SELECT id FROM gone_session) AND {_IS_GONE}"
_TOUCHED_REQUESTS = f"""
INSERT INTO gone_request (session_id, request)
SELECT DISTINCT session_id, request FROM call_line WHERE {_LINE_IS_GONE}
"""
_DELETES = (
    f"DELETE FROM call_line WHERE {_LINE_IS_GONE}",
    f"DELETE FROM event_extra WHERE {_IS_GONE}",
    f"DELETE FROM event WHERE {_IS_GONE}",
    # A record without a time takes that of its next arrival then.
    f"DELETE FROM arrival WHERE key IN (SELECT key FROM gone_event) AND {_IS_GONE}",
    # Ids number equal records, all of one instant; which of them is which event is not known. As long as
    # one may be left, the numbers stand: an id that comes again is the same event, stored or not.
    """
    DELETE FROM native WHERE time_us IN (SELECT time_us FROM gone_event)
      AND NOT EXISTS (SELECT 1 FROM event AS e WHERE e.time_us = native.time_us)
    """,
)
_LINES_LEFT = """(
    SELECT c.session_id, c.request, c.time_us, c.key FROM call_line AS c
    JOIN gone_request AS g ON g.session_id = c.session_id AND g.request = c.request
  )"""
_PROMOTED = f"""
INSERT INTO gone_line (time_us, key, server_id)
SELECT time_us, key, server_id FROM ({derived.COUNTED_OF.format(lines=_LINES_LEFT)}) AS differing
WHERE counted = 1
"""
_PROMOTE = """
UPDATE event SET counted = 1
FROM gone_line AS l WHERE event.time_us = l.time_us AND event.key = l.key
"""
_TOUCHED_SPAN = (
    "SELECT min(first_us), max(last_us) FROM session WHERE id IN (SELECT id FROM gone_session)"
)
_ROWS_OF_SESSIONS = (
    "e.session_id IN (SELECT id FROM gone_session) AND e.time_us BETWEEN {since} AND {until}"
)
_MEND_SESSIONS = f"""
UPDATE session SET {", ".join(f"{name} = s.{name}" for name in derived.SESSION_COLUMNS)}
FROM gone_state AS s WHERE s.session_id = session.id
"""
_STRAY_SESSIONS = """
DELETE FROM session WHERE id IN (SELECT id FROM gone_session)
  AND id NOT IN (SELECT session_id FROM gone_state)
"""
_RENAMED_SESSIONS = """
SELECT s.server_id, s.first_us, s.last_us
FROM gone_session AS g JOIN session AS s ON s.id = g.id
WHERE s.unnamed > 0 AND coalesce(s.hello_client_id, 0) <> coalesce(g.hello_client_id, 0)
"""
_ROLLUPS = (
    (
        "call_day (server_id, tool_id, client_id, kind, day, calls, first_us, last_us)",
        derived.CALL_DAY_OF,
    ),
    ("activity (server_id, client_id, kind, quarter, events)", derived.ACTIVITY_OF),
)
_EMPTY_ROLLUPS = (
    "DELETE FROM call_day WHERE (server_id, day) IN (SELECT server_id, day FROM gone_day)",
    f"""
    DELETE FROM activity
    WHERE (server_id, quarter / {DAY_US // QUARTER_US}) IN (SELECT server_id, day FROM gone_day)
    """,
)


@contextmanager
def prepared(conn: Connection) -> Iterator[None]:
    """The temporary tables, within the write transaction that *conn* has open."""
    for name, (columns, key) in _TABLES.items():
        tail = "WITHOUT ROWID" if conn.embedded else "ON COMMIT DROP"
        conn.run(f"CREATE TEMP TABLE {name} ({columns}, PRIMARY KEY ({key})) {tail}")
    yield
    for name in _TABLES:  # a connection of SQLite lives on; what raises is rolled back with them
        conn.run(f"DROP TABLE {name}")


def gather(conn: Connection, which: str, values: Values) -> None:
    """Note the events that go: rows `e` of `event` by a condition and its values."""
    conn.run(_GATHER.format(which=which), values)
    learn(conn, "gone_event")


def learn(conn: Connection, table: str) -> None:
    """Let PostgreSQL look at a temporary table, of which it knows nothing else."""
    if not conn.embedded:
        conn.run(f"ANALYZE {table}")


def gathered(conn: Connection) -> dict[Kind, int]:
    """How many events of each kind go."""
    rows = conn.rows("SELECT kind, count(*) FROM gone_event GROUP BY kind ORDER BY kind")
    return {Kind(kind): number for kind, number in rows}


def remove(conn: Connection, *, every_name: bool = False) -> None:
    """
    Delete the events that were gathered and bring all that is derived up to date, within the write
    transaction that *conn* has open.

    Clients, callers, tools, versions and facts that no event points to any more go too; *every_name* says
    whether all of them do or, where that takes long, only the first.
    """
    days: set[Day] = set(
        conn.rows(f"SELECT DISTINCT server_id, time_us / {DAY_US} FROM gone_event")
    )
    conn.run(_TOUCHED_SESSIONS)
    learn(conn, "gone_session")
    conn.run(_TOUCHED_REQUESTS)
    learn(conn, "gone_request")
    for delete in _DELETES:
        conn.run(delete)
    days |= _recount(conn)
    days |= _mend_sessions(conn)
    _roll_up(conn, days)
    drop_unused(conn, every_name=every_name)


def _recount(conn: Connection) -> set[Day]:
    """Let the next line of a call stand for it where the one that did is gone."""
    conn.run(_PROMOTED)
    days = set(conn.rows(f"SELECT DISTINCT server_id, time_us / {DAY_US} FROM gone_line"))
    if days:
        conn.run(_PROMOTE)
    return days


def _mend_sessions(conn: Connection) -> set[Day]:
    """Derive the touched sessions again; returns the days on which one may now be another client's."""
    [(since, until)] = conn.rows(_TOUCHED_SPAN)
    if since is None:
        return set()
    rows = _ROWS_OF_SESSIONS.format(since=since, until=until)
    truth = derived.SESSION_OF.format(rows=rows)
    conn.run(f"INSERT INTO gone_state ({_STATE}) SELECT {_STATE} FROM ({truth}) AS truth")
    conn.run(_MEND_SESSIONS)
    conn.run(_STRAY_SESSIONS)
    return {
        (server, day)
        for server, first_us, last_us in conn.rows(_RENAMED_SESSIONS)
        for day in range(first_us // DAY_US, last_us // DAY_US + 1)
    }


def _roll_up(conn: Connection, days: set[Day]) -> None:
    """Compute the cells of these days again."""
    run_each(conn, "INSERT INTO gone_day (server_id, day) VALUES (?, ?)", sorted(days))
    for empty in _EMPTY_ROLLUPS:
        conn.run(empty)
    for server, first, last in _runs(days):
        rows = (
            f"e.server_id = {server} AND e.time_us >= {first * DAY_US} "
            f"AND e.time_us < {(last + 1) * DAY_US}"
        )
        for table, truth in _ROLLUPS:
            conn.run(f"INSERT INTO {table} {truth.format(rows=rows)}")


def _runs(days: Iterable[Day]) -> Iterator[tuple[int, int, int]]:
    """Server, first and last of days that follow one another."""
    by_server: defaultdict[int, list[int]] = defaultdict(list)
    for server, day in sorted(days):
        by_server[server].append(day)
    for server, each in by_server.items():
        first = last = each[0]
        for day in each[1:]:
            if day > last + 1:
                yield server, first, last
                first = day
            last = day
        yield server, first, last
