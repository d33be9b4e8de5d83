"""What is known of each client's calls to a name, gathered for `analysis.stopped`: active days and hearing."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from service.analysis.counts import Column, codes
from service.analysis.coverage import Coverage
from service.analysis.stopped import History
from service.answers import calls as gather
from service.answers import tallies
from service.answers.people import NOBODY, People, people
from service.answers.retired import Name
from service.answers.scope import Scope
from service.answers.tallies import Total
from service.clock import DAY_US, HOUR_US
from service.events import Kind
from service.store import read_days

T = TypeVar("T")
LEAST_UNHEARD_H = 24
"""A stretch of so many hours that were not covered makes each day that it meets an unheard one. Of a
shorter one a part of every day was heard."""
SEEN = (Kind.LISTING, Kind.HELLO, Kind.LISTEN, Kind.CALL)
"""Kinds of events by which a client is seen to be there."""
CALLING = (Kind.STALE_CALL, Kind.UNKNOWN_CALL)
"""Kinds by which it is, too, but which say nothing where no other is logged."""


@dataclass(frozen=True)
class Hearing:
    """When one server was heard, from `start_us` up to `end_us`."""

    coverage: Coverage
    start_us: int
    end_us: int

    @cached_property
    def unheard(self) -> tuple[int, ...]:
        """UTC days that were not heard, ascending."""
        start, end = self.start_us // HOUR_US, -(-self.end_us // HOUR_US)
        if start >= end:
            return ()
        missed = np.concatenate([[False], ~self.coverage.each(start, end), [False]]).astype(np.int8)
        begins, ends = (start + np.flatnonzero(np.diff(missed) == step) for step in (1, -1))
        long = ends - begins >= LEAST_UNHEARD_H
        days = {
            day
            for begin, last in zip(begins[long].tolist(), ends[long].tolist(), strict=True)
            for day in range(begin // 24, (last - 1) // 24 + 1)
        }
        return tuple(sorted(days))

    def covered(self, since_us: int) -> bool:
        """Whether every hour since an instant was covered."""
        start, end = since_us // HOUR_US, -(-self.end_us // HOUR_US)
        return start >= end or self.coverage.is_covered(start, end)


@dataclass(frozen=True, slots=True)
class Silence:
    """One client and name: its history, and all its stale calls of the range."""

    key: str
    history: History
    total: Total


@dataclass(frozen=True, slots=True)
class Silences:
    """One name: each client that called it, by key, and what one who never did would be judged by."""

    name: Name
    hearing: Hearing
    nobody: History
    """Without a call, from when the name could be called first."""
    clients: tuple[Silence, ...]


def silences(scope: Scope, names: Sequence[Name]) -> tuple[People, list[Silences]]:
    """Each of these names, with its clients."""
    found = gather.sums(scope, names, by_day=True)
    known = people(scope, codes(found.client_id)[0])
    width = max(len(known.keys), 1)
    number = gather.name_numbers(names, found.server_id, found.tool_id)
    pairs, pair = codes(number * width + known.groups(found.client_id))
    totals = tallies.totals(pair, found, pairs.size)
    hearings = {server_id: _hearing(scope, server_id) for server_id in scope.server_ids}
    presence = {
        server_id: _presence(scope, server_id, hearing, known)
        for server_id, hearing in hearings.items()
    }
    order = np.lexsort((found.day, pair))
    bounds = np.searchsorted(pair[order], np.arange(pairs.size + 1))
    clients: list[list[Silence]] = [[] for _ in names]
    for i, (low, high) in enumerate(pairwise(bounds)):
        mine = order[low:high]
        place, key = int(pairs[i]) // width, known.keys[int(pairs[i]) % width]
        name = names[place]
        hearing = hearings[name.server_id]
        history = _history(scope, name, key, hearing, found.day[mine], found.last_us[mine])
        clients[place].append(Silence(key, presence[name.server_id].seen(key, history), totals[i]))
    return known, [
        _silences(name, hearings[name.server_id], clients[place])
        for place, name in enumerate(names)
    ]


def _silences(name: Name, hearing: Hearing, clients: list[Silence]) -> Silences:
    start = min([_start(name, hearing), *(each.history.start for each in clients)])
    unheard = [day for day in hearing.unheard if day >= start]
    return Silences(
        name, hearing, History((), start, hearing.end_us / DAY_US, unheard), tuple(clients)
    )


def _hearing(scope: Scope, server_id: int) -> Hearing:
    """From the start of the range, or where the server was heard first, to its end, or now."""
    coverage = scope.coverage_of(scope.servers[server_id])
    end_us = min(scope.until_us, scope.moment.now_us)
    first_us = coverage.first * HOUR_US if len(coverage.sums) > 1 else end_us
    return Hearing(coverage, min(max(scope.start_us, first_us), end_us), end_us)


def _start(name: Name, hearing: Hearing) -> int:
    """The first day on which a call would be one to a retired name, as far as is known."""
    told_us = name.told.facts.retired_us if name.told is not None else None
    return max(hearing.start_us, hearing.start_us if told_us is None else told_us) // DAY_US


def _history(
    scope: Scope, name: Name, key: str, hearing: Hearing, day: Column, last_us: Column
) -> History:
    """Days with a call that counts: after whatever was said to be fixed."""
    resolved_us = scope.marks.of(name.server, name.name, key).resolved_us
    start = _start(name, hearing)
    if resolved_us is not None:
        day, start = day[last_us > resolved_us], max(start, resolved_us // DAY_US)
    days = sorted(set(day.tolist()))
    start = min([start, *days[:1]])
    called = set(days) if hearing.unheard else ()
    return History(
        days=days,
        start=start,
        now=hearing.end_us / DAY_US,
        unheard=[each for each in hearing.unheard if each >= start and each not in called],
        resolved=resolved_us is not None,
    )


@dataclass(frozen=True, slots=True)
class _Presence:
    """The days on which each client of a server was there."""

    sessions: dict[str, tuple[Column, Column]]
    """Client key → days, ascending, on which sessions began, and how many did on each."""
    last: dict[str, int]
    """Client key → the last day with an event; absent where nothing but stale calls is logged of it."""

    def seen(self, key: str, history: History) -> History:
        """A history with what is known of its client beside its calls."""
        if key == NOBODY:
            return history
        return replace(
            history,
            sessions=self.sessions.get(key, ((), ())),
            last_seen=self.last.get(key),
        )


def _presence(scope: Scope, server_id: int, hearing: Hearing, known: People) -> _Presence:
    def ask(read: Callable[..., T], kinds: Collection[Kind]) -> T:
        clients = sorted(known.spellings)
        span = (hearing.start_us, scope.until_us)
        return read(scope.connection, scope.cut, server_id, kinds, clients, *span)

    begun = ask(read_days.present, (Kind.HELLO,))
    sessions = _by_day(known, begun.client_id, begun.day, begun.events)
    last: dict[str, int] = {}
    others: set[str] = set()
    for (client_id, kind), day in ask(read_days.last_days, (*SEEN, *CALLING)).items():
        key = known.key(client_id)
        last[key] = max(day, last.get(key, day))
        if kind in SEEN:
            others.add(key)
    return _Presence(sessions, {key: day for key, day in last.items() if key in others})


def _by_day(
    known: People, client_id: Column, day: Column, events: Column
) -> dict[str, tuple[Column, Column]]:
    """Client key → its days, ascending, and the events of each."""
    client = known.groups(client_id)
    low = int(day.min(initial=0))
    width = int(day.max(initial=0)) - low + 1
    cells, place = codes(client * width + (day - low))
    number = np.bincount(place, weights=events, minlength=cells.size).astype(np.int64)
    clients, days = cells // width, cells % width + low
    bounds = np.searchsorted(clients, np.arange(len(known.keys) + 1))
    return {
        key: (days[begin:end], number[begin:end])
        for key, (begin, end) in zip(known.keys, pairwise(bounds.tolist()), strict=True)
        if begin < end
    }
