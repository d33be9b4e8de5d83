"""Who calls a retired name: one row a server, name and client."""

from dataclasses import dataclass

import numpy as np

from service.analysis.counts import codes
from service.analysis.zones import is_utc
from service.answers import calls as gather
from service.answers.names import active_days, moment_of, sortable
from service.answers.paging import Order, order_asked, page
from service.answers.people import people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store.engine import Connection

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
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerRow:
    """
    One client's calls to one retired name; `client` is None for those that name no client.

    `callers` are the distinct people, addresses or processes behind them. `versions` are the last 20
    of `version_count`, the one with the latest call first. `inferred_calls` name no client
    themselves: it is that of their session's hello.
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


def callers(connection: Connection, query: Query, moment: Moment) -> Collection[CallerRow]:
    """
    Every client that called a retired name in the range, by server, name and client.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    column, descending = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "callers")
    kept, last = page(
        _rows(scope),
        lambda pair: (sortable(pair[1], column), pair[1].server, pair[1].name, pair[0]),
        Order(descending),
        scope.after,
        limit,
    )
    return scope.answer((row for _, row in kept), last)


def _rows(scope: Scope) -> list[tuple[str, CallerRow]]:
    """(client key, row) of each group."""
    names = scope.names
    found = gather.sums(scope, names, by_day=is_utc(scope.query.tz))
    calls = gather.rows(scope, names, ((scope.start_us, scope.until_us),))
    known = people(scope, [*codes(found.client_id)[0], *codes(calls.client_id)[0]])
    width = max(len(known.keys), 1)
    pair = gather.name_numbers(names, found.server_id, found.tool_id) * width
    pair = pair + known.groups(found.client_id)
    row_pair = gather.name_numbers(names, calls.server_id, calls.tool_id) * width
    row_pair = row_pair + known.groups(calls.client_id)
    pairs, place = codes(np.concatenate([pair, row_pair]))
    group, row_group = place[: pair.size], place[pair.size :]
    size = pairs.size
    totals = gather.totals(group, found, size)
    people_behind = gather.count_callers(row_group, calls, known, size)
    days = active_days(scope, names, group, found, row_group, calls, size)
    versions = gather.versions_by_group(scope, row_group, calls, known, size)
    inferred = np.bincount(row_group, weights=calls.inferred, minlength=size)
    rows = []
    for i, number in enumerate(pairs):
        name, key = names[int(number) // width], known.keys[int(number) % width]
        row = CallerRow(
            server=name.server,
            name=name.name,
            client=known.name(key),
            stale_calls=totals[i].calls,
            callers=int(people_behind[i]),
            active_days=int(days[i]),
            versions=tuple(versions[i][:VERSIONS_SHOWN]),
            version_count=len(versions[i]),
            first_call=moment_of(totals[i].first_us),
            last_call=moment_of(totals[i].last_us),
            inferred_calls=int(inferred[i]),
        )
        rows.append((key, row))
    return rows
