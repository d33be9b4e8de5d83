"""The servers that are watched: one row a server."""

from dataclasses import dataclass

from service.answers import calls as gather
from service.answers import tallies
from service.answers.names import moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import NOBODY, people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.clock import HOUR_US
from service.store import read_activity
from service.store.engine import Connection

SORTS = (
    "server",
    "names",
    "clients",
    "stale_calls",
    "first_call",
    "last_call",
    "first_event",
    "last_event",
    "sources",
    "last_heard",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """
    One server. `names` is how many retired names are known; calls and the clients that made them are
    of the range; events are the first and last of any kind; `last_heard` is the start of the last
    hour in which one of its sources was heard. The answer also holds `excluded_calls`, which rules leave out.
    """

    server: str
    names: int
    clients: int
    stale_calls: int
    first_call: Instant | None
    last_call: Instant | None
    first_event: Instant | None
    last_event: Instant | None
    sources: int
    last_heard: Instant | None


def servers(connection: Connection, query: Query, moment: Moment) -> Collection[ServerRow]:
    """
    Every server with an event or a source, by name.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "servers", changes=order.changes)
    kept, last = page(
        _rows(scope),
        lambda row: (sortable(row, order.column), row.server),
        order,
        scope.after,
        limit,
    )
    return scope.answer(kept, last, excluded_calls=gather.left_out(scope))


def _rows(scope: Scope) -> list[ServerRow]:
    rows = []
    for server_id in scope.server_ids:
        server = scope.servers[server_id]
        first = read_activity.first_event(scope.connection, scope.cut.as_of_us, server_id)
        heard = [source.hours for source in scope.heard if source.server == server]
        hours = [int(each[-1]) for each in heard if each.size]
        if first is None and not hours:
            continue
        names = [name for name in scope.names if name.server_id == server_id]
        found = gather.sums(scope, names)
        (total,) = tallies.totals(found.calls * 0, found, 1)
        known = people(scope, {int(id_) for id_ in found.client_id})
        last = read_activity.last_event(scope.connection, scope.cut.as_of_us, server_id)
        rows.append(
            ServerRow(
                server=server,
                names=len(names),
                clients=len(set(known.keys) - {NOBODY}),
                stale_calls=total.calls,
                first_call=moment_of(total.first_us),
                last_call=moment_of(total.last_us),
                first_event=moment_of(first),
                last_event=moment_of(last),
                sources=len(hours),
                last_heard=moment_of(max(hours) * HOUR_US if hours else None),
            )
        )
    return rows
