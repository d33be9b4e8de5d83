"""Which release each caller's copy of the list dates from: one row a server, release and client."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.analysis import vintage as analysis
from service.analysis.counts import Column, codes, count_distinct
from service.analysis.versions import sort_text
from service.answers import calls as gather
from service.answers import tallies
from service.answers.names import facts, moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import People, people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.events import TOOL_KINDS, Kind
from service.store import read_activity, read_calls
from service.store.engine import Connection
from service.store.read_calls import Calls

SORTS = (
    "server",
    "client",
    "callers",
    "stale_calls",
    "first_call",
    "last_call",
    "client_failed_calls",
    "client_stale_share",
)
_FAILED = (Kind.STALE_CALL, Kind.UNKNOWN_CALL)
_LAST = "~"
"""Sorts after every release: where none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VintageRow:
    """
    Callers of one client whose copy of a server's list dates from `release` or before; None where no
    call says in which release the name was last. `client` is None for calls that name none.

    A copy is one caller's (see `callers`) with one client, by all names that it calls in the range: the
    least of their last releases bounds it. A call of nobody is a copy of its own. `names` are those that
    these copies call.

    `client_calls` are all calls of the client at that server, `client_failed_calls` those that named a
    tool which is not there (of other errors the log says nothing), and `client_stale_share` is the share
    of stale calls in these: they are the client's, the same in each of its rows, with what rules leave out.
    All three are None where the server logs no ordinary calls.
    """

    server: str
    release: str | None
    client: str | None
    callers: int
    stale_calls: int
    names: tuple[str, ...]
    first_call: Instant | None
    last_call: Instant | None
    client_calls: int | None
    client_failed_calls: int | None
    client_stale_share: float | None


def vintage(connection: Connection, query: Query, moment: Moment) -> Collection[VintageRow]:
    """
    The releases that the copies of all callers date from, by server, release in the order of versions,
    none last, and client.

    The answer also holds `releases`: every release of its rows, in that order, as an axis has them; and
    `excluded_calls`, the stale calls that rules leave out.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "vintage", changes=order.changes)
    rows = _rows(scope)
    kept, last = page(
        rows,
        lambda pair: (
            sortable(pair[1], order.column),
            pair[1].server,
            _LAST if pair[1].release is None else sort_text(pair[1].release),
            pair[1].release or "",
            pair[0],
        ),
        order,
        scope.after,
        limit,
    )
    axis = analysis.order(row.release for _, row in rows)
    return scope.answer(
        (row for _, row in kept), last, releases=axis, excluded_calls=gather.left_out(scope)
    )


def _rows(scope: Scope) -> list[tuple[str, VintageRow]]:
    """(client key, row) of each server, release and client."""
    names = scope.names
    calls = _calls(scope)
    known = people(scope, codes(calls.client_id)[0])
    width = max(len(known.keys), 1)
    number = gather.name_numbers(names, calls.server_id, calls.tool_id)
    said = [each.last_release for each in facts(scope, names)]
    axis = analysis.order(said)
    places = {text: place for place, text in enumerate(axis)}
    ranks = np.array([places.get(text or "", len(axis)) for text in said], dtype=np.int64)
    person = known.groups(calls.client_id)
    copy = _copies(calls, known, person)
    release = analysis.vintages(copy, ranks[number] if number.size else number)
    server = calls.server_id * width + person
    groups, group = codes(server * (len(axis) + 1) + release)
    totals = tallies.totals(group, gather.as_sums(calls), groups.size)
    mine = copy != analysis.ALONE
    callers = count_distinct(group[mine], copy[mine], groups.size)
    called = _names_called(group, number, groups.size)
    shares = _shares(scope, server, known)
    rows = []
    for i, each in enumerate(groups.tolist()):
        pair, rank = divmod(each, len(axis) + 1)
        server_id, place = divmod(pair, width)
        every, failed, share = shares.get(pair, (None, None, None))
        row = VintageRow(
            server=scope.servers[server_id],
            release=axis[rank] if rank < len(axis) else None,
            client=known.name(known.keys[place]),
            callers=int(callers[i]),
            stale_calls=totals[i].calls,
            names=tuple(sorted({names[n].name for n in called[i]})),
            first_call=moment_of(totals[i].first_us),
            last_call=moment_of(totals[i].last_us),
            client_calls=every,
            client_failed_calls=failed,
            client_stale_share=share,
        )
        rows.append((known.keys[place], row))
    return rows


def _calls(scope: Scope) -> Calls:
    return gather.rows(scope, scope.names, ((scope.start_us, scope.until_us),), read_calls.KINDS)


def _copies(calls: Calls, known: People, person: Column) -> Column:
    """The number of each call's copy: one a server, client and caller."""
    caller = tallies.caller_numbers(calls, known)
    width = max(len(known.keys), 1)
    # callers are below zero where a client stands in for them
    copy = codes(codes(caller + width)[1] * width + person)[1]
    places = codes(calls.server_id)[1]
    copy = copy + places * (int(copy.max(initial=0)) + 1)
    return np.where(caller == 0, analysis.ALONE, copy)


def _names_called(group: Column, number: Column, size: int) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(size)]
    width = int(number.max(initial=0)) + 1
    for pair in codes(group * width + number)[0].tolist():
        found[pair // width].add(pair % width)
    return found


def _shares(
    scope: Scope, server: Column, known: People
) -> dict[int, tuple[int, int, float | None]]:
    """
    Server and client as one number → all calls, failed calls, the share of stale ones among these; absent
    where the server logs no ordinary calls.
    """
    width = max(len(known.keys), 1)
    span = (scope.start_us, scope.until_us)
    stale = _stale(scope)
    found: dict[int, tuple[int, int, float | None]] = {}
    for server_id in codes(server // width)[0].tolist():
        if not read_calls.logs_ordinary_calls(scope.connection, scope.cut, server_id, *span):
            continue
        counts = read_activity.counts(
            scope.connection, scope.cut, server_id, TOOL_KINDS, *span, scope.client_ids
        )
        failed_of = _by_key(scope, [counts[kind] for kind in _FAILED])
        every_of = _by_key(scope, list(counts.values()))
        for place, key in enumerate(known.keys):
            errors = failed_of.get(key, 0)
            share = round(stale.get((server_id, key), 0) / errors, 4) if errors else None
            found[server_id * width + place] = (every_of.get(key, 0), errors, share)
    return found


def _stale(scope: Scope) -> dict[tuple[int, str], int]:
    """Server and client's key → its failed calls to retired names, whether rules leave them out or not."""
    calls = _calls(replace(scope, query=replace(scope.query, excluded="count")))
    known = people(scope, codes(calls.client_id)[0])
    width = max(len(known.keys), 1)
    failing = calls.where(np.isin(calls.kind, [int(kind) for kind in _FAILED]))
    pairs, numbers = np.unique(
        failing.server_id * width + known.groups(failing.client_id), return_counts=True
    )
    return {
        (pair // width, known.keys[pair % width]): number
        for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True)
    }


def _by_key(scope: Scope, counts: Sequence[dict[int, int]]) -> dict[str, int]:
    """Counts by client id, added up by the client's key."""
    known = people(scope, {id_ for each in counts for id_ in each})
    found: dict[str, int] = {}
    for each in counts:
        for id_, number in each.items():
            found[known.key(id_)] = found.get(known.key(id_), 0) + number
    return found
