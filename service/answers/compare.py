"""A range against the one before it: one row a retired name."""

from dataclasses import dataclass, replace
from datetime import UTC, tzinfo

from service.analysis import zones
from service.answers import calls as gather
from service.answers.names import SORTS as NAME_SORTS
from service.answers.names import rows_of, sortable
from service.answers.paging import order_asked, page
from service.answers.query import Collection, Instant, Moment, Query, Range, limit_asked
from service.answers.scope import Scope, scope_of
from service.clock import HOUR_US
from service.store.engine import Connection

SORTS = (
    *(column for column in NAME_SORTS if column in ("server", "name", "stale_calls", "clients")),
    "stale_calls_before",
    "clients_before",
    "change_pct",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """
    One retired name in the range, and in the equally long one before it (`…_before`). `change_pct` is the
    change of its stale calls in per cent to one decimal; None where there was none before. It describes,
    and is adjusted for nothing: see that `covered_hours`, those in which the server was watched, are
    about the same, and how few calls it rests on.
    """

    server: str
    name: str
    stale_calls: int
    stale_calls_before: int
    change_pct: float | None
    clients: int
    clients_before: int
    callers: int
    callers_before: int
    active_days: int
    active_days_before: int
    covered_hours: int
    hours: int
    covered_hours_before: int
    hours_before: int


def compare(connection: Connection, query: Query, moment: Moment) -> Collection[CompareRow]:
    """
    Every retired name, by server and name, in the range and in the one before it, which ends where the
    range begins and is as long on the clock of the zone: seven local days are compared with seven.

    The answer also holds `before`, that range.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "compare", changes=order.changes)
    start_us = _earlier(scope.start_us, scope.until_us, scope.zone)
    before = replace(scope, since_us=start_us, until_us=scope.start_us)
    kept, last = page(
        _rows(scope, before),
        lambda row: (sortable(row, order.column), row.server, row.name),
        order,
        scope.after,
        limit,
    )
    empty = scope.since_us is None
    since, until = (None, None) if empty else (Instant(start_us), Instant(scope.start_us))
    return scope.answer(
        kept,
        last,
        before=Range(since, until, query.tz),
        excluded_calls=gather.left_out(scope),
    )


def _earlier(start_us: int, end_us: int, zone: tzinfo) -> int:
    """The instant that lies as long before the start as the end lies after it, by the zone's clock."""
    start, end = (zones.local(at, zone).replace(tzinfo=None) for at in (start_us, end_us))
    first = zones.local(zones.EARLIEST_US, UTC).replace(tzinfo=None)
    if start - first < end - start:
        return zones.EARLIEST_US
    return min(zones.instant((start - (end - start)).replace(tzinfo=zone)), start_us)


def _rows(scope: Scope, before: Scope) -> list[CompareRow]:
    found = []
    hours = {}
    for server in scope.servers.values():
        watched = scope.coverage_of(server)
        hours[server] = [
            (watched.covered_hours(first, last), last - first)
            for first, last in map(_hours, (scope, before))
        ]
    for row, was in zip(rows_of(scope), rows_of(before), strict=True):
        (covered, every), (covered_before, every_before) = hours[row.server]
        if scope.client_ids is not None and not row.stale_calls and not was.stale_calls:
            continue
        change = row.stale_calls - was.stale_calls
        found.append(
            CompareRow(
                server=row.server,
                name=row.name,
                stale_calls=row.stale_calls,
                stale_calls_before=was.stale_calls,
                change_pct=round(100 * change / was.stale_calls, 1) if was.stale_calls else None,
                clients=row.clients,
                clients_before=was.clients,
                callers=row.callers,
                callers_before=was.callers,
                active_days=row.active_days,
                active_days_before=was.active_days,
                covered_hours=covered,
                hours=every,
                covered_hours_before=covered_before,
                hours_before=every_before,
            )
        )
    return found


def _hours(scope: Scope) -> tuple[int, int]:
    """The hours that a range shares, as far as they have come."""
    end_us = max(min(scope.until_us, scope.moment.now_us), scope.start_us)
    return scope.start_us // HOUR_US, -(-end_us // HOUR_US)
