"""
Roll-ups: calls per day and events per quarter-hour, kept up with the rows in their transaction.

Newly stored rows are added. A row that changes its cell, because a late hello names its session's
client or another line of its call counts in its place, is taken out of the one and put into the
other; where it was the first or last of a cell, the cell's ends are read from the rows again.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from service.clock import DAY_US, QUARTER_US
from service.store import schema
from service.store.dialect import PgType, insert_many, run_each, run_matching
from service.store.engine import Connection
from service.store.sessions import Session

_QUARTERS_A_DAY = DAY_US // QUARTER_US

DayCell = tuple[int, int, int, int, int]
"""Server, tool, client (0 for none), kind, day."""
QuarterCell = tuple[int, int, int, int]
"""Server, client (0 for none), kind, quarter-hour."""

_UNNAMED = f"""
SELECT session_id, server_id, kind, tool_id, time_us / {QUARTER_US},
       count(*), min(time_us), max(time_us)
FROM event
WHERE time_us >= {{since}} AND time_us <= {{until}}
  AND client_id IS NULL AND counted = 1 AND session_id IN (SELECT wanted.column1 FROM {{wanted}})
GROUP BY session_id, server_id, kind, tool_id, time_us / {QUARTER_US}
"""
_ADD_CALLS = """
ON CONFLICT (server_id, tool_id, client_id, kind, day) DO UPDATE SET
  calls = call_day.calls + excluded.calls,
  first_us = CASE WHEN excluded.first_us < call_day.first_us
                  THEN excluded.first_us ELSE call_day.first_us END,
  last_us = CASE WHEN excluded.last_us > call_day.last_us
                 THEN excluded.last_us ELSE call_day.last_us END
"""
_SET_CALLS = """
ON CONFLICT (server_id, tool_id, client_id, kind, day) DO UPDATE SET
  calls = excluded.calls, first_us = excluded.first_us, last_us = excluded.last_us
"""
_ADD_EVENTS = """
ON CONFLICT (server_id, client_id, kind, quarter) DO UPDATE SET
  events = activity.events + excluded.events
"""
_END = """
SELECT e.time_us FROM event AS e LEFT JOIN session AS s ON s.id = e.session_id
WHERE e.time_us >= {since} AND e.time_us < {until} AND e.server_id = {server}
  AND e.tool_id = {tool} AND e.kind = {kind} AND e.counted = 1
  AND coalesce(e.client_id, s.hello_client_id, 0) = {client}
ORDER BY e.time_us {direction} LIMIT 1
"""
_DAY_COLUMNS = ["server_id", "tool_id", "client_id", "kind", "day", "calls", "first_us", "last_us"]
_QUARTER_COLUMNS = ["server_id", "client_id", "kind", "quarter", "events"]
_DAY_TYPES: tuple[PgType, ...] = ("int4", "int4", "int4", "int2", "int4")
_LOSING = f"""
SELECT {", ".join(f"d.{name}" for name in _DAY_COLUMNS)}
FROM {{wanted}} CROSS JOIN call_day AS d
WHERE d.server_id = wanted.column1 AND d.tool_id = wanted.column2
  AND d.client_id = wanted.column3 AND d.kind = wanted.column4 AND d.day = wanted.column5
"""
_DROP_DAY = """
DELETE FROM call_day
WHERE server_id = ? AND tool_id = ? AND client_id = ? AND kind = ? AND day = ?
"""
_DROP_QUARTER = """
DELETE FROM activity
WHERE server_id = ? AND client_id = ? AND kind = ? AND quarter = ? AND events <= 0
"""


@dataclass(slots=True)
class Span:
    """Calls of one cell, with the first and the last of them in µs."""

    calls: int
    first_us: int
    last_us: int

    def widen(self, calls: int, first_us: int, last_us: int) -> None:
        """Take in further calls."""
        self.calls += calls
        self.first_us = min(self.first_us, first_us)
        self.last_us = max(self.last_us, last_us)


@dataclass(slots=True)
class Changes:
    """What a transaction changes in the roll-ups, collected and then written at once."""

    gained: dict[DayCell, Span] = field(default_factory=dict)
    lost: dict[DayCell, Span] = field(default_factory=dict)
    events: Counter[QuarterCell] = field(default_factory=Counter)
    lessened: set[QuarterCell] = field(default_factory=set)

    def add(self, server: int, tool: int | None, client: int, kind: int, time_us: int) -> None:
        """Count one row in its cells."""
        self.events[server, client, kind, time_us // QUARTER_US] += 1
        if tool is not None and kind <= 3:
            _widen(
                self.gained, (server, tool, client, kind, time_us // DAY_US), 1, time_us, time_us
            )

    def remove(self, server: int, tool: int, client: int, kind: int, time_us: int) -> None:
        """Take one row out of its cells."""
        quarter = (server, client, kind, time_us // QUARTER_US)
        self.events[quarter] -= 1
        self.lessened.add(quarter)
        _widen(self.lost, (server, tool, client, kind, time_us // DAY_US), 1, time_us, time_us)

    def move(
        self,
        conn: Connection,
        sessions: dict[int, tuple[Session, int]],
        fresh: Counter[tuple[int, int, int | None, int]],
    ) -> None:
        """
        Move the rows that name no client to the client that their session has now.

        Args:
            conn: The open write transaction.
            sessions: By id, the session and the client id (0 for none) that it had before.
            fresh: The newly stored ones among those rows, by (session, kind, tool, quarter-hour):
                they were in no cell yet.
        """
        for since, until, ids in _intervals([session for session, _ in sessions.values()]):
            sql = _UNNAMED.format(since=since, until=until, wanted="{wanted}")
            for number, server, kind, tool, quarter, rows, first_us, last_us in run_matching(
                conn, sql, ["int4"], [(one,) for one in ids]
            ):
                session, before = sessions[number]
                after = session.client_id or 0
                leaving = rows - fresh[number, kind, tool, quarter]
                self.events[server, after, kind, quarter] += rows
                self.events[server, before, kind, quarter] -= leaving
                self.lessened.add((server, before, kind, quarter))
                if tool is not None and kind <= 3:
                    day = quarter // _QUARTERS_A_DAY
                    _widen(self.gained, (server, tool, after, kind, day), rows, first_us, last_us)
                    if leaving:
                        cell = (server, tool, before, kind, day)
                        _widen(self.lost, cell, leaving, first_us, last_us)

    def write(self, conn: Connection) -> None:
        """Bring the roll-ups up to date; the rows and sessions must have been written before."""
        gained = [
            (*cell, span.calls, span.first_us, span.last_us)
            for cell, span in sorted(self.gained.items())
        ]
        insert_many(conn, schema.call_day, _DAY_COLUMNS, gained, conflict=_ADD_CALLS)
        if self.lost:
            self._write_lost(conn)
        events = [(*cell, events) for cell, events in sorted(self.events.items()) if events]
        insert_many(conn, schema.activity, _QUARTER_COLUMNS, events, conflict=_ADD_EVENTS)
        run_each(conn, _DROP_QUARTER, sorted(self.lessened))

    def _write_lost(self, conn: Connection) -> None:
        """Take the lost calls out of their cells; empty cells go, touched ends are read again."""
        stored = run_matching(conn, _LOSING, _DAY_TYPES, self.lost)
        gone: list[DayCell] = []
        kept = []
        for *parts, calls, first_us, last_us in stored:
            server, tool, client, kind, day = parts
            cell = (server, tool, client, kind, day)
            lost = self.lost[cell]
            if calls <= lost.calls:
                gone.append(cell)
                continue
            if lost.first_us <= first_us:
                first_us = _end(conn, cell, "ASC", first_us)
            if lost.last_us >= last_us:
                last_us = _end(conn, cell, "DESC", last_us)
            kept.append((*cell, calls - lost.calls, first_us, last_us))
        run_each(conn, _DROP_DAY, gone)
        insert_many(conn, schema.call_day, _DAY_COLUMNS, sorted(kept), conflict=_SET_CALLS)


def _widen(cells: dict[DayCell, Span], cell: DayCell, calls: int, first: int, last: int) -> None:
    span = cells.get(cell)
    if span is None:
        cells[cell] = Span(calls, first, last)
    else:
        span.widen(calls, first, last)


def _end(conn: Connection, cell: DayCell, direction: str, otherwise: int) -> int:
    """Time of the first (`ASC`) or last (`DESC`) call of a cell, from the rows."""
    server, tool, client, kind, day = cell
    sql = _END.format(
        since=day * DAY_US,
        until=(day + 1) * DAY_US,
        server=server,
        tool=tool,
        kind=kind,
        client=client,
        direction=direction,
    )
    found = conn.exec_driver_sql(sql).scalar()
    return otherwise if found is None else int(found)


def _intervals(sessions: Iterable[Session]) -> Iterable[tuple[int, int, list[int]]]:
    """Spans of time (both ends included) with the sessions in them; overlapping ones are one scan."""
    since = until = 0
    ids: list[int] = []
    for session in sorted(sessions, key=lambda s: s.first_us):
        if ids and session.first_us > until:
            yield since, until, ids
            ids = []
        if not ids:
            since, until = session.first_us, session.last_us
        ids.append(session.id)
        until = max(until, session.last_us)
    if ids:
        yield since, until, ids
