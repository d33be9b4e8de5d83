"""Who still calls each retired name: one row a name."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from service.analysis.counts import codes, count_distinct
from service.analysis.lint import ends
from service.analysis.vintage import order as version_order
from service.analysis.zones import is_utc
from service.answers import calls as gather
from service.answers import tallies
from service.answers.paging import order_asked, page
from service.answers.people import people
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.retired import Name
from service.answers.scope import Scope, scope_of
from service.entries import Facts
from service.store import read_names
from service.store.engine import Connection
from service.store.read_calls import CALLERS

SORTS = (
    "server",
    "name",
    "stale_calls",
    "clients",
    "callers",
    "active_days",
    "first_call",
    "last_call",
    "last_release",
    "unattributed_calls",
    "source",
)
Source = Literal["told", "lines"]
LIVE_SHOWN = 20
"""Names to call instead that are told, where the ways to them lead over retired names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameRow:
    """
    One retired name of one server. Counts are of the range; `clients` leaves unattributed calls out,
    they stand in `unattributed_calls`. `active_days` are local days with a call.

    `source` is `told` where the catalogue has the name, else `lines`. `last_release`, `replaced_by` and
    `message` are those of the catalogue; what it leaves open is what the latest stale call that states
    it says. `no_replacement`: it is said that nothing replaces it.
    """

    server: str
    name: str
    stale_calls: int
    clients: int
    callers: int
    active_days: int
    first_call: Instant | None
    last_call: Instant | None
    last_release: str | None
    replaced_by: tuple[str, ...]
    no_replacement: bool
    unattributed_calls: int
    message: str | None
    source: Source


def names(connection: Connection, query: Query, moment: Moment) -> Collection[NameRow]:
    """
    Every retired name known as of the cut, by server and name, also those without a call in the
    range; with a filter on clients, the names that one which passes called.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "names", changes=order.changes)
    rows = rows_of(scope)
    if scope.client_ids is not None:
        rows = [row for row in rows if row.stale_calls]
    kept, last = page(
        rows,
        lambda row: (sortable(row, order.column), row.server, row.name),
        order,
        scope.after,
        limit,
    )
    return scope.answer(kept, last, excluded_calls=gather.left_out(scope))


@dataclass(frozen=True, slots=True, kw_only=True)
class LastReleaseRow:
    """The names that a release listed last (None: no line and no entry says), and the calls to them."""

    release: str | None
    names: int
    stale_calls: int


def last_releases(
    connection: Connection, query: Query, moment: Moment
) -> Collection[LastReleaseRow]:
    """The retired names of `names` added up by their last release: versions in their order, then None."""
    scope = scope_of(connection, query, moment, "last_releases")
    calls = gather.counted(scope, scope.names).tolist()
    summed: dict[str | None, list[int]] = {}
    for said, number in zip(facts(scope, scope.names), calls, strict=True):
        if number or scope.client_ids is None:
            summed.setdefault(said.last_release, []).append(number)
    known: list[str | None] = [*version_order(summed)]
    return scope.answer(
        LastReleaseRow(release=release, names=len(each), stale_calls=sum(each))
        for release in ([*known, None] if None in summed else known)
        for each in [summed[release]]
    )


def sortable(row: object, column: str | None) -> object:
    """The value of a row to sort by; the same for all rows where no column was asked for."""
    return "" if column is None else getattr(row, column)


def moment_of(instant_us: int | None) -> Instant | None:
    """An instant for a row."""
    return None if instant_us is None else Instant(instant_us)


def rows_of(scope: Scope, names: Sequence[Name] | None = None) -> list[NameRow]:
    """
    One row a name of the question, or of *names* among them. How often and when is summed up by day; who called is
    read from rows.
    """
    names = scope.names if names is None else names
    utc = is_utc(scope.query.tz)
    found = gather.sums(scope, names, by_client=False, by_day=utc)
    need = CALLERS if utc else ("time_us", *CALLERS)
    calls = gather.rows(scope, names, ((scope.start_us, scope.until_us),), need)
    known = people(scope, codes(calls.client_id)[0])
    size = len(names)
    group = gather.name_numbers(names, found.server_id, found.tool_id)
    row_group = gather.name_numbers(names, calls.server_id, calls.tool_id)
    totals = tallies.totals(group, found, size)
    unattributed = np.zeros(size, dtype=np.int64)
    np.add.at(unattributed, group, found.unattributed)
    named = calls.client_id != 0
    person = known.groups(calls.client_id)
    clients = count_distinct(row_group[named], person[named], size)
    callers = tallies.count_callers(row_group, calls, known, size)
    days = (
        count_distinct(group, found.day, size)
        if utc
        else tallies.local_days(scope, row_group, calls, size)
    )
    said = facts(scope, names)
    return [
        NameRow(
            server=name.server,
            name=name.name,
            stale_calls=totals[i].calls,
            clients=int(clients[i]),
            callers=int(callers[i]),
            active_days=int(days[i]),
            first_call=moment_of(totals[i].first_us),
            last_call=moment_of(totals[i].last_us),
            last_release=said[i].last_release,
            replaced_by=said[i].replaced_by or (),
            no_replacement=said[i].replaced_by == (),
            unattributed_calls=int(unattributed[i]),
            message=said[i].message,
            source=source(name),
        )
        for i, name in enumerate(names)
    ]


def facts(scope: Scope, names: Sequence[Name]) -> list[Facts]:
    """What is said of each name: each fact by its entry, else by its latest stale call that states it."""
    said: dict[tuple[int, int], list[read_names.Said]] = {}
    for server_id, group in groupby(names, key=lambda name: name.server_id):
        ids = [tool_id for name in group for tool_id in name.tool_ids]
        for fact in read_names.said(scope.connection, server_id, ids, scope.cut.as_of_us):
            said.setdefault((server_id, fact.tool_id), []).append(fact)
    found = []
    for name in names:
        mine = [f for tool_id in name.tool_ids for f in said.get((name.server_id, tool_id), ())]
        releases = [(-f.time_us, f.last_release) for f in mine if f.last_release is not None]
        messages = [(-f.time_us, f.message) for f in mine if f.message is not None]
        replacements = [
            (-f.time_us, json.dumps(f.replaced_by, ensure_ascii=False), f.replaced_by)
            for f in mine
            if f.replaced_by is not None
        ]
        learned = Facts(
            last_release=min(releases)[1] if releases else None,
            replaced_by=min(replacements)[2] if replacements else None,
            message=min(messages)[1] if messages else None,
        )
        found.append(learned if name.told is None else name.told.facts.over(learned))
    return found


def in_the_end(scope: Scope, names: Sequence[Name], said: Sequence[Facts]) -> list[tuple[str, ...]]:
    """What to call instead of each name: in place of a replacement that is retired itself what replaces that."""
    told = [each.replaced_by or () for each in said]
    retired = {(name.server, name.name) for name in scope.retired}
    if not any(
        (name.server, other) in retired
        for name, others in zip(names, told, strict=True)
        for other in others
    ):
        return told
    every: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, each in zip(scope.retired, facts(scope, scope.retired), strict=True):
        every.setdefault(name.server, {})[name.name] = each.replaced_by or ()
    live = {server: ends(replaced_by, LIVE_SHOWN) for server, replaced_by in every.items()}
    return [
        tuple(live[name.server][name.name])
        if any((name.server, other) in retired for other in others)
        else others
        for name, others in zip(names, told, strict=True)
    ]


def source(name: Name) -> Source:
    """Where a name is known from."""
    return "lines" if name.told is None else "told"
