"""
Roll-ups: calls per day and events per quarter-hour, kept up with the rows in their transaction.

Newly stored rows are added. A row that changes its cell, because a late hello names its session's
client or another line of its call counts in its place, is taken out of the one and put into the
other; where it was the first or last of a cell, the cell's ends are read from the rows again.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from service.clock import DAY_US, QUARTER_US
from service.store.columns import COLUMNS
from service.store.dialect import insert_many, run_each, run_matching
from service.store.dimensions import Ids
from service.store.driver import Connection, Values
from service.store.sessions import Session

Cell = TypeVar("Cell")

_QUARTERS_A_DAY = DAY_US // QUARTER_US
_CALL_KINDS = 3
"""Kinds up to this one name a tool."""

DayCell = tuple[int, int, int, int]
"""Tool, kind, day, client (0 for none)."""
QuarterCell = tuple[int, int, int]
"""Client (0 for none), kind, quarter-hour."""
Span = tuple[int, int, int]
"""Calls, first and last of them in µs."""
Fresh = Counter[tuple[int, int, int | None, int]]
"""Rows by session, kind, tool (None for none) and quarter-hour."""

_UNNAMED = f"""
SELECT session_id, kind, tool_id, time_us / {QUARTER_US},
       count(*), min(time_us), max(time_us)
FROM event
WHERE time_us >= {{since}} AND time_us <= {{until}}
  AND client_id IS NULL AND counted = 1 AND session_id IN (SELECT wanted.column1 FROM {{wanted}})
GROUP BY session_id, kind, tool_id, time_us / {QUARTER_US}
"""
_ADD_CALLS = """
ON CONFLICT (server_id, tool_id, kind, day, client_id) DO UPDATE SET
  calls = call_day.calls + excluded.calls,
  first_us = CASE WHEN excluded.first_us < call_day.first_us
                  THEN excluded.first_us ELSE call_day.first_us END,
  last_us = CASE WHEN excluded.last_us > call_day.last_us
                 THEN excluded.last_us ELSE call_day.last_us END
"""
_SET_CALLS = """
ON CONFLICT (server_id, tool_id, kind, day, client_id) DO UPDATE SET
  calls = excluded.calls, first_us = excluded.first_us, last_us = excluded.last_us
"""
_ADD_EVENTS = """
ON CONFLICT (server_id, client_id, kind, quarter) DO UPDATE SET
  events = activity.events + excluded.events
"""
_END = """
SELECT e.time_us FROM event AS e LEFT JOIN session AS s ON s.id = e.session_id
WHERE e.time_us >= ? AND e.time_us < ? AND e.server_id = ?
  AND e.tool_id = ? AND e.kind = ? AND e.counted = 1
  AND coalesce(e.client_id, s.hello_client_id, 0) = ?
ORDER BY e.time_us {direction} LIMIT 1
"""
_LOSING = """
SELECT d.tool_id, d.kind, d.day, d.client_id, d.calls, d.first_us, d.last_us
FROM {wanted} CROSS JOIN call_day AS d
WHERE d.server_id = wanted.column1 AND d.tool_id = wanted.column2 AND d.kind = wanted.column3
  AND d.day = wanted.column4 AND d.client_id = wanted.column5
"""
_DROP_DAY = """
DELETE FROM call_day
WHERE server_id = ? AND tool_id = ? AND kind = ? AND day = ? AND client_id = ?
"""
_DROP_QUARTER = """
DELETE FROM activity
WHERE server_id = ? AND client_id = ? AND kind = ? AND quarter = ? AND events <= 0
"""


@dataclass(slots=True, eq=False)
class Cells:
    """
    The cells that a row counts in, but for its time. Never changed; told apart by identity: see
    `Shared`.
    """

    place: tuple[int, int]
    """Client, named or inferred (0 for none), and kind."""
    tool: int | None
    """None where the row is of no call."""


class Shared:
    """Makes cells, the same object for the same cells, so that counting them is quick."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int, int | None], Cells] = {}

    def of(self, ids: Ids, client: int) -> Cells:
        """The cells of a row whose client, named or inferred, is *client*; 0 for none."""
        said = (client, ids.kind, ids.tool if ids.kind <= _CALL_KINDS else None)
        made = self._made.get(said)
        if made is None:
            made = self._made[said] = Cells(said[:2], said[2])
        return made


class Changes:
    """What a transaction changes in the roll-ups of one server, collected and then written at once."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._events: defaultdict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        """Client and kind → quarter-hour → events more or fewer."""
        self._gained: defaultdict[tuple[int, int], dict[tuple[int, int], Span]] = defaultdict(dict)
        """Tool and kind → day and client → calls more."""
        self._lost: dict[DayCell, Span] = {}
        self._lessened: set[QuarterCell] = set()

    def add(self, cells: Sequence[Cells], times: Sequence[int]) -> None:
        """Count rows, given in the order of time, in their cells. Comes once, before all else."""
        for quarter, start, end in _stretches(times, QUARTER_US):
            for place, rows in Counter([each.place for each in cells[start:end]]).items():
                self._events[place][quarter] = rows
        for day, start, end in _stretches(times, DAY_US):
            part, at = cells[start:end], times[start:end]
            first = dict(zip(reversed(part), reversed(at), strict=True))
            last = dict(zip(part, at, strict=True))
            for each, rows in Counter(part).items():
                if each.tool is not None:
                    client, kind = each.place
                    self._gained[each.tool, kind][day, client] = (rows, first[each], last[each])

    def remove(self, tool: int, client: int, kind: int, time_us: int) -> None:
        """Take one row out of its cells."""
        self._lose_events((client, kind, time_us // QUARTER_US), 1)
        _widen(self._lost, (tool, kind, time_us // DAY_US, client), (1, time_us, time_us))

    def move(self, conn: Connection, sessions: Mapping[int, Session], fresh: Fresh) -> None:
        """
        Move the rows that name no client to the client that their session has now.

        Args:
            conn: The open write transaction.
            sessions: The sessions that have another client than before, by id.
            fresh: The newly stored ones among those rows: they were in no cell yet.
        """
        for since, until, ids in _intervals(sessions):
            sql = _UNNAMED.format(since=since, until=until, wanted="{wanted}")
            for number, kind, tool, quarter, rows, first_us, last_us in run_matching(
                conn, sql, ["int4"], [(one,) for one in ids]
            ):
                before, after = sessions[number].client_before, sessions[number].client
                leaving = rows - fresh[number, kind, tool, quarter]
                quarters = self._events[after, kind]
                quarters[quarter] = quarters.get(quarter, 0) + rows
                self._lose_events((before, kind, quarter), leaving)
                if tool is not None and kind <= _CALL_KINDS:
                    day = quarter // _QUARTERS_A_DAY
                    _widen(self._gained[tool, kind], (day, after), (rows, first_us, last_us))
                    if leaving:
                        cell = (tool, kind, day, before)
                        _widen(self._lost, cell, (leaving, first_us, last_us))

    def write(self, conn: Connection) -> None:
        """Bring the roll-ups up to date; the rows and sessions must have been written before."""
        server = {"server_id": self._server}
        gained = (
            (tool, kind, day, client, calls, first_us, last_us)
            for (tool, kind), days in sorted(self._gained.items())
            for (day, client), (calls, first_us, last_us) in sorted(days.items())
        )
        insert_many(conn, "call_day", gained, constant=server, conflict=_ADD_CALLS)
        if self._lost:
            self._write_lost(conn)
        events = (
            (client, kind, quarter, rows)
            for (client, kind), quarters in sorted(self._events.items())
            for quarter, rows in sorted(quarters.items())
            if rows
        )
        insert_many(conn, "activity", events, constant=server, conflict=_ADD_EVENTS)
        run_each(conn, _DROP_QUARTER, [(self._server, *cell) for cell in sorted(self._lessened)])

    def _lose_events(self, cell: QuarterCell, rows: int) -> None:
        client, kind, quarter = cell
        quarters = self._events[client, kind]
        quarters[quarter] = quarters.get(quarter, 0) - rows
        self._lessened.add(cell)

    def _write_lost(self, conn: Connection) -> None:
        """Take the lost calls out of their cells; empty cells go, touched ends are read again."""
        types = list(COLUMNS["call_day"].values())[:5]
        wanted = [(self._server, *cell) for cell in self._lost]
        gone: list[Values] = []
        kept: list[Values] = []
        for tool, kind, day, client, calls, first_us, last_us in run_matching(
            conn, _LOSING, types, wanted
        ):
            cell = (self._server, tool, kind, day, client)
            lost_calls, lost_first_us, lost_last_us = self._lost[tool, kind, day, client]
            if calls <= lost_calls:
                gone.append(cell)
                continue
            if lost_first_us <= first_us:
                first_us = _end(conn, cell, "ASC", first_us)
            if lost_last_us >= last_us:
                last_us = _end(conn, cell, "DESC", last_us)
            kept.append((*cell, calls - lost_calls, first_us, last_us))
        run_each(conn, _DROP_DAY, gone)
        insert_many(conn, "call_day", sorted(kept), conflict=_SET_CALLS)


def _stretches(times: Sequence[int], width: int) -> Iterable[tuple[int, int, int]]:
    """Cut ascending *times* at the multiples of *width*: which one it is, first place, end of the places."""
    start = 0
    while start < len(times):
        number = times[start] // width
        end = bisect_left(times, (number + 1) * width, start)
        yield number, start, end
        start = end


def _widen(cells: dict[Cell, Span], cell: Cell, more: Span) -> None:
    """Take further calls into a cell."""
    calls, first_us, last_us = cells.get(cell, (0, more[1], more[2]))
    cells[cell] = (calls + more[0], min(first_us, more[1]), max(last_us, more[2]))


def _end(conn: Connection, cell: Values, direction: str, otherwise: int) -> int:
    """Time of the first (`ASC`) or last (`DESC`) call of a cell of `call_day`, from the rows."""
    server, tool, kind, day, client = cell
    found = conn.rows(
        _END.format(direction=direction),
        (day * DAY_US, (day + 1) * DAY_US, server, tool, kind, client),
    )
    return int(found[0][0]) if found else otherwise


def _intervals(sessions: Mapping[int, Session]) -> Iterable[tuple[int, int, list[int]]]:
    """Spans of time (both ends included) with the sessions in them; overlapping ones are one scan."""
    since = until = 0
    ids: list[int] = []
    spans = ((each.after.first_us, each.after.last_us, number) for number, each in sessions.items())
    for first_us, last_us, number in sorted(spans):
        if ids and first_us > until:
            yield since, until, ids
            ids = []
        if not ids:
            since, until = first_us, last_us
        ids.append(number)
        until = max(until, last_us)
    if ids:
        yield since, until, ids
