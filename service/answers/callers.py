"""Who calls a retired name: one row a server, name and client."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column, codes
from service.analysis.zones import EARLIEST_US
from service.answers import calls as gather
from service.answers import tallies
from service.answers.exclusions import Mask
from service.answers.marks import Standing, Status, status_of
from service.answers.names import moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import People, people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store.engine import Connection
from service.store.read_calls import Calls

VERSIONS_SHOWN = 20
SORTS = (
    "server",
    "name",
    "client",
    "stale_calls",
    "callers",
    "active_days",
    "version_count",
    "first_call",
    "last_call",
    "inferred_calls",
    "open_calls",
    "open_days",
    "status",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRow:
    """
    One client's calls to one retired name; `client` is None for those that name no client.

    `callers` are the distinct people, addresses or processes behind them. `versions` are the last 20
    of `version_count`, the one with the latest call first. `inferred_calls` name no client
    themselves: it is that of their session's hello.

    `status` is what somebody said last of this client and name (`contacted`, `known`, `resolved`), `open`
    where nobody did; `marked_at` is the instant it was said of. Once resolved, only later calls count as
    `open_calls`, on `open_days` local days, and with one it is `reopened`; contacted it is `unheeded` with a call more than 14 days
    later.
    """

    server: str
    name: str
    client: str | None
    stale_calls: int
    callers: int
    active_days: int
    versions: tuple[str, ...]
    version_count: int
    first_call: Instant | None
    last_call: Instant | None
    inferred_calls: int
    status: Status
    marked_at: Instant | None
    open_calls: int
    open_days: int


def callers(connection: Connection, query: Query, moment: Moment) -> Collection[CallerRow]:
    """
    Every client that called a retired name in the range, by server, name and client.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "callers", changes=order.changes)
    calls = gather.rows(scope, scope.names, ((scope.start_us, scope.until_us),))
    kept, last = page(
        rows_of(scope, calls, people(scope, codes(calls.client_id)[0])),
        lambda pair: (sortable(pair[1], order.column), pair[1].server, pair[1].name, pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer((row for _, row in kept), last, excluded_calls=gather.left_out(scope))


def groups(scope: Scope, calls: Calls, known: People) -> tuple[Column, Column]:
    """
    The groups of calls of one name and client, ascending, as the name's place among the question's names
    times the number of clients plus the client's number; and the place of each call's group.
    """
    number = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    return codes(number * max(len(known.keys), 1) + known.groups(calls.client_id))


def still_open(calls: Calls, group: Column, marks: Sequence[Standing]) -> Mask:
    """Which calls came after whatever was said to be resolved of their group."""
    resolved = [EARLIEST_US if each.resolved_us is None else each.resolved_us for each in marks]
    if not group.size:
        return np.zeros(0, dtype=np.bool_)
    found: Mask = calls.time_us > np.array(resolved, dtype=np.int64)[group]
    return found


def rows_of(scope: Scope, calls: Calls, known: People) -> list[tuple[str, CallerRow]]:
    """(client key, row) of each group of `groups`, in its order; rows tell callers and versions apart."""
    names, width = scope.names, max(len(known.keys), 1)
    pairs, group = groups(scope, calls, known)
    counted = tallies.tally(scope, group, calls, known, pairs.size)
    days = tallies.local_days(scope, group, calls, pairs.size)
    said = [(names[pair // width], known.keys[pair % width]) for pair in pairs.tolist()]
    marks = [scope.marks.of(name.server, name.name, key) for name, key in said]
    is_open = still_open(calls, group, marks)
    open_calls = np.bincount(group[is_open], minlength=pairs.size)
    open_days = tallies.local_days(scope, group[is_open], calls.where(is_open), pairs.size)
    rows = []
    for i, ((name, key), marked) in enumerate(zip(said, marks, strict=True)):
        row = CallerRow(
            server=name.server,
            name=name.name,
            client=known.name(key),
            stale_calls=counted.totals[i].calls,
            callers=int(counted.callers[i]),
            active_days=int(days[i]),
            versions=tuple(counted.versions[i][:VERSIONS_SHOWN]),
            version_count=len(counted.versions[i]),
            first_call=moment_of(counted.totals[i].first_us),
            last_call=moment_of(counted.totals[i].last_us),
            inferred_calls=int(counted.inferred[i]),
            status=status_of(marked.last, counted.totals[i].last_us),
            marked_at=moment_of(None if marked.last is None else marked.last.at_us),
            open_calls=int(open_calls[i]),
            open_days=int(open_days[i]),
        )
        rows.append((key, row))
    return rows
