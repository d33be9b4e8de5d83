"""What people told, as rows: aliases, exclusions with what they leave out, marks with what came since."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from service.analysis.counts import Column, codes
from service.answers import calls as gather
from service.answers.marks import Status, status_of
from service.answers.names import moment_of
from service.answers.paging import Order, page
from service.answers.people import People, people
from service.answers.query import EVERY, Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_told
from service.store.engine import Connection
from service.store.read_calls import Calls
from service.told import Mark, MarkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasRow:
    """
    One client that is read as another. `client` is its key: case and spacing aside, every spelling.
    `actor` is the way in which it was said.
    """

    client: str
    target: str
    note: str
    said_at: Instant
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRow:
    """
    One rule of what not to count, and what it leaves out in the range: stale calls, how many names and
    clients they are of, and the last of them. A call that several rules leave out is told of by each.
    """

    id: int
    server: str | None
    client: str | None
    version: str | None
    network: str | None
    note: str
    said_at: Instant
    actor: str
    stale_calls: int
    names: int
    clients: int
    last_call: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRow:
    """
    What somebody said of a client at an instant: `contacted`, `known` or `resolved`. `client` is None
    for whatever names none, `name` for every retired name; one that was told with a gateway's prefix is the
    catalogued name that it stands for. `calls_since` are its stale calls after
    that, up to `as_of`, without those that rules leave out, and `last_call` is the last of all. `status` is
    that of the mark: `reopened` where it was resolved and there are calls since, `unheeded` where it was
    contacted and there are calls more than 14 days later, both to names that no later mark is about;
    `superseded` where a later one is about all that it is.
    """

    id: int
    kind: MarkKind
    server: str
    client: str | None
    name: str | None
    at: Instant
    note: str
    said_at: Instant
    actor: str
    status: Status | Literal["superseded"]
    calls_since: int
    last_call: Instant | None


def aliases(connection: Connection, query: Query, moment: Moment) -> Collection[AliasRow]:
    """
    Every alias, by client.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "aliases")
    told = read_told.aliases(connection)
    kept, last = page(told, lambda alias: ("", alias.client), Order(), scope.after, limit)
    return scope.answer(
        (
            AliasRow(
                client=alias.client,
                target=alias.target,
                note=alias.note,
                said_at=Instant(alias.said_us),
                actor=alias.actor,
            )
            for alias in kept
        ),
        last,
    )


def exclusions(connection: Connection, query: Query, moment: Moment) -> Collection[ExclusionRow]:
    """
    Every rule, the oldest first; with a filter on servers, those that concern one that passes.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "exclusions")
    told = [
        rule
        for rule in read_told.exclusions(connection)
        if rule.server is None or query.server.takes(rule.server)
    ]
    kept, last = page(told, lambda rule: ("", rule.id), Order(), scope.after, limit)
    rules = {rule.told.id: rule for rule in scope.exclusions.rules}
    calls = _every_call(scope, excluded="count") if kept else Calls.join(())
    name = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    known = people(scope, codes(calls.client_id)[0])
    person = np.where(calls.client_id > 0, known.groups(calls.client_id), -1)
    rows = []
    for rule in kept:
        mine = rules[rule.id].mask(calls) if rule.id in rules else np.zeros(name.size, dtype=bool)
        rows.append(
            ExclusionRow(
                id=rule.id,
                server=rule.server,
                client=rule.client,
                version=rule.version,
                network=rule.network,
                note=rule.note,
                said_at=Instant(rule.said_us),
                actor=rule.actor,
                stale_calls=int(mine.sum()),
                names=len(set(name[mine].tolist())),
                clients=len(set(person[mine].tolist()) - {-1}),
                last_call=moment_of(int(calls.time_us[mine].max()) if mine.any() else None),
            )
        )
    return scope.answer(rows, last)


def marks(connection: Connection, query: Query, moment: Moment) -> Collection[MarkRow]:
    """
    Every mark that stands, the oldest first; with filters, those of that server, client and name.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "marks")
    told = [mark for mark in scope.told_marks if _asked(scope, mark)]
    kept, last = page(told, lambda mark: ("", mark.id), Order(), scope.after, limit)
    calls = _every_call(scope, excluded=query.excluded) if kept else Calls.join(())
    known = people(scope, codes(calls.client_id)[0])
    called = _Called(scope, calls, known)
    rows = []
    for mark in kept:
        key = scope.aliases.canonical(mark.client)
        times = called.times(mark.server, mark.name, key)
        last_us = int(times[-1]) if times.size else None
        rows.append(
            MarkRow(
                id=mark.id,
                kind=mark.kind,
                server=mark.server,
                client=None if key == "" else known.name(key) if called.by(key) else mark.client,
                name=mark.name,
                at=Instant(mark.at_us),
                note=mark.note,
                said_at=Instant(mark.said_us),
                actor=mark.actor,
                status=_status(scope, mark, key, called),
                calls_since=times.size - int(np.searchsorted(times, mark.at_us, side="right")),
                last_call=moment_of(last_us),
            )
        )
    return scope.answer(rows, last)


def _status(
    scope: Scope, mark: Mark, key: str, called: "_Called"
) -> Status | Literal["superseded"]:
    """What a mark comes to, with the last call to a name that no later mark of that client is about."""
    marks = scope.marks
    if marks.of(mark.server, mark.name, key).last != mark:
        return "superseded"
    about = called.names(mark.server, key) if mark.name is None else [mark.name]
    due = [
        int(called.times(mark.server, name, key)[-1])
        for name in about
        if marks.of(mark.server, name, key).last == mark
        and called.times(mark.server, name, key).size
    ]
    return status_of(mark, max(due, default=None))


class _Called:
    """When each client called each name, and each server's names together: sorted once for all marks."""

    def __init__(self, scope: Scope, calls: Calls, known: People) -> None:
        self._keys = frozenset(known.keys)
        self._times: dict[tuple[str, str | None, str], Column] = {}
        self._names: dict[tuple[str, str], list[str]] = {}
        number = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
        client = known.groups(calls.client_id)
        for (place, who), times in _sorted(number, client, calls.time_us).items():
            name, key = scope.names[place], known.keys[who]
            self._times[name.server, name.name, key] = times
            self._names.setdefault((name.server, key), []).append(name.name)
        for (server_id, who), times in _sorted(calls.server_id, client, calls.time_us).items():
            self._times[scope.servers[server_id], None, known.keys[who]] = times

    def by(self, key: str) -> bool:
        """Whether the client called any of them."""
        return key in self._keys

    def names(self, server: str, key: str) -> list[str]:
        """The names of a server that a client called."""
        return self._names.get((server, key), [])

    def times(self, server: str, name: str | None, key: str) -> Column:
        """The calls of one client to a name, to every name of the server if None; ascending, in µs."""
        return self._times.get((server, name, key), np.empty(0, dtype=np.int64))


def _sorted(one: Column, other: Column, time_us: Column) -> dict[tuple[int, int], Column]:
    """Pair of numbers → the instants of its rows, ascending."""
    order = np.lexsort((time_us, other, one))
    pairs = np.stack([one[order], other[order]], axis=1)
    first = np.flatnonzero(np.any(pairs[1:] != pairs[:-1], axis=1)) + 1
    starts = [0, *first.tolist()] if order.size else []
    parts = np.split(time_us[order], first)
    return {
        (int(pairs[start, 0]), int(pairs[start, 1])): times
        for start, times in zip(starts, parts, strict=False)
    }


def _asked(scope: Scope, mark: Mark) -> bool:
    query = scope.query
    if not query.server.takes(mark.server):
        return False
    if mark.name is not None and not query.name.takes(mark.name):
        return False
    return scope.client_keys is None or scope.aliases.canonical(mark.client) in scope.client_keys


def _every_call(scope: Scope, *, excluded: str) -> Calls:
    """The stale calls of the range, to whatever name and by whatever client."""
    every = replace(scope, query=replace(scope.query, excluded=excluded, name=EVERY, client=EVERY))
    return gather.rows(every, scope.names, ((scope.start_us, scope.until_us),))
