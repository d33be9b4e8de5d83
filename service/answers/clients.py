"""Which clients were there, and what each still calls: one row a client."""

from dataclasses import dataclass

import numpy as np

from service.analysis.counts import codes, count_distinct
from service.answers import calls as gather
from service.answers import tallies
from service.answers.callers import VERSIONS_SHOWN
from service.answers.names import moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import People, people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_activity, read_words
from service.store.engine import Connection
from service.store.read_activity import Opened

SORTS = (
    "client",
    "version_count",
    "sessions",
    "stale_calls",
    "names",
    "callers",
    "first_call",
    "last_call",
    "inferred_calls",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """
    One client over all its spellings; `client` is None for whatever names no client.

    `via` are the bridges it came through. `versions` are the last 20 of `version_count`: those of its
    stale calls, the one with the latest call first, then further ones of its sessions' hellos.
    `sessions` are those that overlap the range. `names` is how many retired names it called.
    """

    client: str | None
    via: tuple[str, ...]
    versions: tuple[str, ...]
    version_count: int
    sessions: int
    stale_calls: int
    names: int
    callers: int
    first_call: Instant | None
    last_call: Instant | None
    inferred_calls: int


def clients(connection: Connection, query: Query, moment: Moment) -> Collection[ClientRow]:
    """
    Every client with any event in the range, by client; with a filter on names, those that called one that passes.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "clients", changes=order.changes)
    kept, last = page(
        _rows(scope),
        lambda pair: (sortable(pair[1], order.column), pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer((row for _, row in kept), last, excluded_calls=gather.left_out(scope))


def _active(scope: Scope) -> set[int]:
    """Ids of the clients with any event in the range, that were asked for."""
    found: set[int] = set()
    for server_id in scope.server_ids:
        found |= read_activity.active_clients(
            scope.connection, scope.cut, server_id, scope.start_us, scope.until_us
        )
    wanted = scope.client_ids
    return found if wanted is None else {id_ for id_ in found if id_ in wanted}


def _rows(scope: Scope) -> list[tuple[str, ClientRow]]:
    """(client key, row) of each client; its calls from rows, which tell callers and versions apart."""
    calls = gather.rows(scope, scope.names, ((scope.start_us, scope.until_us),))
    calling = {int(i) for i in codes(calls.client_id)[0]}
    active = calling if scope.query.name.is_set else calling | _active(scope)
    opened = _opened(scope)
    known = people(scope, active | ({int(i) for i in codes(opened.client_id)[0]} - {0}))
    size = len(known.keys)
    group = known.groups(calls.client_id)
    counted = tallies.tally(scope, group, calls, known, size)
    name = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    names = count_distinct(group, name, size)
    hellos = _hellos(scope, known, opened)
    vias = _vias(known, active)
    present = {known.key(id_) for id_ in active}
    rows = []
    for i, key in enumerate(known.keys):
        if key not in present:
            continue
        sessions, said = hellos.get(key, (0, []))
        called = counted.versions[i]
        every = called + [text for text in said if text not in called]
        row = ClientRow(
            client=known.name(key),
            via=tuple(sorted(vias.get(key, ()))),
            versions=tuple(every[:VERSIONS_SHOWN]),
            version_count=len(every),
            sessions=sessions,
            stale_calls=counted.totals[i].calls,
            names=int(names[i]),
            callers=int(counted.callers[i]),
            first_call=moment_of(counted.totals[i].first_us),
            last_call=moment_of(counted.totals[i].last_us),
            inferred_calls=int(counted.inferred[i]),
        )
        rows.append((key, row))
    return rows


def _opened(scope: Scope) -> Opened:
    """Sessions that overlap the range."""
    return read_activity.sessions(
        scope.connection, scope.cut, scope.server_ids, scope.start_us, scope.until_us
    )


def _hellos(scope: Scope, known: People, opened: Opened) -> dict[str, tuple[int, list[str]]]:
    """Client key → (sessions, versions of their hellos: the last begun first, ties by text)."""
    clients, client = codes(opened.client_id)
    versions, version = codes(opened.version_id)
    words = read_words.version_names(scope.connection, [int(id_) for id_ in versions if id_])
    count: dict[str, int] = {}
    last: dict[str, dict[str, int]] = {}
    each = np.bincount(client, weights=opened.sessions).astype(np.int64)
    for id_, sessions in zip(clients.tolist(), each.tolist(), strict=True):
        count[known.key(id_)] = count.get(known.key(id_), 0) + sessions
    pairs, place = codes(client * versions.size + version)
    begun = np.full(pairs.size, np.iinfo(np.int64).min)
    np.maximum.at(begun, place, opened.last_us)
    for pair, at in zip(pairs.tolist(), begun.tolist(), strict=True):
        one, other = divmod(pair, versions.size)
        if versions[other]:
            mine = last.setdefault(known.key(int(clients[one])), {})
            text = words[int(versions[other])]
            mine[text] = max(at, mine.get(text, at))
    return {
        key: (n, sorted(last.get(key, {}), key=lambda v: (-last[key][v], v)))
        for key, n in count.items()
    }


def _vias(known: People, active: set[int]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for id_ in active:
        spelling = known.spellings.get(id_)
        if spelling is not None and spelling.via is not None:
            found.setdefault(known.key(id_), set()).add(spelling.via)
    return found
