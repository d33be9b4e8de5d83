"""Who calls the names that still work: what to know before one of them is retired."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from service.analysis import catalogue
from service.analysis.counts import Column, codes, count_distinct
from service.answers import calls as gather
from service.answers import tallies
from service.answers.exclusions import Mask
from service.answers.names import moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import NOBODY, People, people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.retired import told
from service.answers.scope import Scope, scope_of
from service.store import read_catalogue, read_listed
from service.store.engine import Connection
from service.store.read_calls import Calls, Sums
from service.store.read_listed import Worked

TOP = 3
"""Clients that a row names."""
SORTS = ("server", "name", "calls", "clients", "active_days", "first_call", "last_call")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRow:
    """
    One name that still works. `listed` says whether the server's latest snapshot has it; None where
    there is no snapshot, and the name is known from its calls. Counts are of ordinary calls in the
    range; `clients` leaves unattributed calls out, they stand in `unattributed_calls`. `active_days` are
    UTC days with a call, whatever `tz`. `top_clients` are at most three, the one with the most calls first.
    """

    server: str
    name: str
    listed: bool | None
    calls: int
    clients: int
    active_days: int
    top_clients: tuple[str, ...]
    unattributed_calls: int
    first_call: Instant | None
    last_call: Instant | None


def listed(connection: Connection, query: Query, moment: Moment) -> Collection[ListedRow]:
    """
    Every name that a server lists, or that ordinary calls name, and that is not retired, by server and
    name; of those that no snapshot has, only those with a call in the range. With a filter on
    clients, the names that one which passes called.

    The answer also holds `excluded_calls`, which rules leave out. Where one of these is about versions or
    networks every call of the range is read; else calls are summed up by day already.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "listed", changes=order.changes)
    entries = told(connection, {id_: scope.servers[id_] for id_ in scope.server_ids})
    found = [
        _server(scope, server_id, set(entries.get(server_id, {})))
        for server_id in sorted(scope.server_ids)
    ]
    every = [row for rows, _ in found for row in rows if not query.client.is_set or row.calls]
    about = frozenset(row.server for row in every) or None
    kept, last = page(
        every,
        lambda row: (sortable(row, order.column), row.server, row.name),
        order,
        scope.after,
        limit,
    )
    left_out = sum(calls for _, calls in found)
    return scope.answer(kept, last, about, excluded_calls=left_out)


def _server(scope: Scope, server_id: int, entered: set[str]) -> tuple[list[ListedRow], int]:
    """
    The rows of one server, and how many calls to its names rules leave out; *entered* are the names of
    its catalogue, hidden ones too.
    """
    shown = read_catalogue.listed_names(scope.connection, server_id)
    retired = entered | {name.name for name in scope.retired if name.server_id == server_id}
    spelled = read_listed.called(scope.connection, server_id)
    named = _named(spelled, (shown or set()) - retired, retired)
    # Without the calls of its name, a spelling that resolves to a retired one would look alive.
    stale = {tool_id for id_, tool_id in scope.resolved if id_ == server_id}
    wanted = scope.query.name
    tools = {
        id_: name
        for id_, name in named.items()
        if id_ not in stale and name not in retired and wanted.takes(name)
    }
    every = _worked(scope, server_id, tools)
    left_out = _left_out(scope, server_id, every)
    found = every.where(left_out if scope.query.excluded == "only" else ~left_out)
    live = {name for name in (shown or set()) - retired if wanted.takes(name)}
    names = sorted({tools[int(id_)] for id_ in codes(found.tool_id)[0]} | live)
    place = {name: at for at, name in enumerate(names)}
    ids, row = codes(found.tool_id)
    group = np.array([place[tools[int(id_)]] for id_ in ids], dtype=np.int64)[row]
    rows = _counted(scope, scope.servers[server_id], names, group, found, shown)
    return rows, int(every.calls[left_out].sum()) if scope.query.excluded == "hide" else 0


def _worked(scope: Scope, server_id: int, tools: Mapping[int, str]) -> Worked:
    """
    The ordinary calls of the range: from the roll-up for whole UTC days, from rows for what is left at
    both edges; all from rows where a rule about what not to count needs to see each call.
    """
    fine = scope.exclusions.fine
    span = (scope.start_us, scope.until_us)
    days = gather.Days((0, 0), (span,)) if fine else gather.days_of(scope)
    connection, clients = scope.connection, scope.client_ids
    return Worked.join(
        [
            read_listed.worked(connection, server_id, tools, days.whole, clients),
            *(
                read_listed.worked_rows(
                    connection, scope.cut, server_id, tools, edge, clients, fine=fine
                )
                for edge in days.edges
            ),
        ]
    )


def _left_out(scope: Scope, server_id: int, found: Worked) -> Mask:
    """Which of these rules leave out."""
    zero = np.zeros(found.tool_id.size, dtype=np.int64)
    as_calls = dict.fromkeys(Calls.__slots__, zero) | {
        "server_id": zero + server_id,
        "tool_id": found.tool_id,
        "client_id": found.client_id,
        "caller_id": found.caller_id,
        "version_id": found.version_id,
    }
    return scope.exclusions.mask(Calls(**as_calls))


def _named(spelled: Mapping[int, str], shown: set[str], retired: set[str]) -> dict[int, str]:
    """The name that each spelling stands for: a listed one behind a prefix, else itself."""
    found = catalogue.resolve(spelled.values(), shown, shown | retired)
    return {id_: found.get(spelling, spelling) for id_, spelling in spelled.items()}


def _counted(
    scope: Scope,
    server: str,
    names: list[str],
    group: Column,
    found: Worked,
    shown: set[str] | None,
) -> list[ListedRow]:
    size, zero = len(names), np.zeros(group.size, dtype=np.int64)
    known = people(scope, codes(found.client_id)[0])
    person = known.groups(found.client_id)
    who = found.client_id != 0
    clients = count_distinct(group[who], person[who], size)
    days = count_distinct(group, found.day, size)
    sums = Sums(
        server_id=zero,
        tool_id=found.tool_id,
        client_id=found.client_id,
        day=found.day,
        calls=found.calls,
        unattributed=np.where(who, 0, found.calls),
        first_us=found.first_us,
        last_us=found.last_us,
    )
    totals = tallies.totals(group, sums, size)
    top = _top(group, person, found.calls, known, size)
    nameless = np.bincount(group, weights=sums.unattributed, minlength=size)
    return [
        ListedRow(
            server=server,
            name=name,
            listed=None if shown is None else name in shown,
            calls=totals[i].calls,
            clients=int(clients[i]),
            active_days=int(days[i]),
            top_clients=top[i],
            unattributed_calls=int(nameless[i]),
            first_call=moment_of(totals[i].first_us),
            last_call=moment_of(totals[i].last_us),
        )
        for i, name in enumerate(names)
    ]


def _top(
    group: Column, person: Column, calls: Column, known: People, size: int
) -> list[tuple[str, ...]]:
    """Of each group the clients with the most calls; ties by their keys."""
    width = max(len(known.keys), 1)
    pairs, place = codes(group * width + person)
    totals = np.bincount(place, weights=calls, minlength=pairs.size)
    named = np.array([key != NOBODY for key in known.keys], dtype=np.bool_)[pairs % width]
    pairs, totals = pairs[named], totals[named]
    order = np.lexsort((pairs, -totals, pairs // width))
    each = pairs[order] // width
    rank = np.arange(each.size) - np.searchsorted(each, each)
    found: list[list[str]] = [[] for _ in range(size)]
    for pair in pairs[order[rank < TOP]].tolist():
        key = known.keys[pair % width]
        found[pair // width].append(known.name(key) or key)
    return [tuple(names) for names in found]
