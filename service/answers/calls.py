"""
Calls to the retired names of a question, gathered: from the daily roll-up for the whole UTC days of
its range, from rows for what is left at both edges, or all from rows.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from service.analysis.counts import Column, codes, distinct
from service.analysis.zones import DAY_US
from service.answers.people import NOBODY, People
from service.answers.scope import Name, Scope
from service.events import Kind
from service.store import read_calls, read_names, read_words
from service.store.read_calls import Calls, Sums

_LOGGED_STALE = (Kind.STALE_CALL, Kind.UNKNOWN_CALL)
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Days:
    """Whole UTC days [first, last) that roll-ups answer, and the spans that rows answer."""

    whole: Span
    edges: tuple[Span, ...]


def days_of(scope: Scope) -> Days:
    """Split the range of a question."""
    start, end = scope.start_us, scope.until_us
    first = -(-start // DAY_US)
    last = min(end, scope.cut.solid_us) // DAY_US
    if last <= first:
        return Days((0, 0), ((start, end),) if start < end else ())
    edges = ((start, first * DAY_US), (last * DAY_US, end))
    return Days((first, last), tuple((a, b) for a, b in edges if a < b))


def _by_server(names: Iterable[Name]) -> dict[int, dict[int, int]]:
    """Server → tool → since when it is retired."""
    found: dict[int, dict[int, int]] = {}
    for name in names:
        found.setdefault(name.server_id, {}).update(
            (tool_id, name.retired_us) for tool_id in name.tool_ids
        )
    return found


def rows(
    scope: Scope,
    names: Sequence[Name],
    spans: Sequence[Span],
    need: Collection[str] = read_calls.EVERYTHING,
) -> Calls:
    """Every stale call to these names in the spans, in no order, with the columns it needs."""
    parts = []
    for server_id, retired in _by_server(names).items():
        parts += [
            read_calls.stale_calls(
                scope.connection, scope.cut, server_id, retired, *span, scope.client_ids, need
            )
            for span in spans
        ]
        parts.append(_succeeded(scope, server_id, retired, spans))
    return Calls.join(parts)


def _succeeded(
    scope: Scope, server_id: int, retired: dict[int, int], spans: Sequence[Span]
) -> Calls:
    """Ordinary calls to names that were retired by then, read for the days that hold any."""
    days = {
        day
        for tool_id, day in _succeeded_days(scope, server_id, retired)
        if (day + 1) * DAY_US > retired[tool_id]
    }
    days |= {time_us // DAY_US for time_us, _ in scope.cut.promoted}
    pieces = [
        (max(start, day * DAY_US), min(end, (day + 1) * DAY_US))
        for start, end in spans
        for day in sorted(days)
        if day * DAY_US < end and (day + 1) * DAY_US > start
    ]
    calls = read_calls.succeeded_calls(
        scope.connection, scope.cut, server_id, retired, _joined(pieces), scope.client_ids
    )
    return calls.where(calls.time_us >= _lookup(retired, calls.tool_id))


def _succeeded_days(scope: Scope, server_id: int, tool_ids: Iterable[int]) -> list[tuple[int, int]]:
    if server_id not in scope.succeeded:
        every = [tool_id for id_, tool_id in scope.resolved if id_ == server_id]
        found = read_names.succeeded_days(scope.connection, server_id, every)
        scope.succeeded[server_id] = found
    wanted = set(tool_ids)
    return [pair for pair in scope.succeeded[server_id] if pair[0] in wanted]


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Spans in order, adjacent ones made one."""
    joined: list[Span] = []
    for start, end in sorted(set(spans)):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _lookup(table: dict[int, int], keys: Column) -> Column:
    values, places = codes(keys)
    found = np.array([table[int(value)] for value in values], dtype=np.int64)
    return found[places] if places.size else places


def sums(
    scope: Scope, names: Sequence[Name], *, by_client: bool = True, by_day: bool = False
) -> Sums:
    """
    Sums of stale calls to these names, by (server, tool) and what is asked for, in several entries
    a group.

    `day` is the UTC day where `by_day`. What the roll-up holds for whole days is taken from it.
    """
    days = days_of(scope)
    parts = []
    for server_id, retired in _by_server(names).items():
        daily = partial(
            read_calls.daily,
            scope.connection,
            server_id,
            days=days.whole,
            by_client=by_client,
            client_ids=scope.client_ids,
        )
        parts.append(daily(tool_ids=retired, kinds=_LOGGED_STALE, by_day=by_day))
        met = [
            (tool_id, day)
            for tool_id, day in _succeeded_days(scope, server_id, retired)
            if days.whole[0] <= day < days.whole[1]
        ]
        if met:
            cells = daily(tool_ids={tool_id for tool_id, _ in met}, kinds=(Kind.CALL,), by_day=True)
            parts.append(cells.where(cells.day * DAY_US >= _lookup(retired, cells.tool_id)))
        for tool_id, day in met:
            at = retired[tool_id]
            if day * DAY_US < at < (day + 1) * DAY_US:  # the day it was retired on is not whole
                span = (at, (day + 1) * DAY_US)
                parts.append(_as_sums(_succeeded(scope, server_id, {tool_id: at}, [span])))
    parts.append(_as_sums(rows(scope, names, days.edges, read_calls.CLIENT)))
    return Sums.join(parts)


def _as_sums(calls: Calls) -> Sums:
    """Each call as a sum of one."""
    return Sums(
        server_id=calls.server_id,
        tool_id=calls.tool_id,
        client_id=calls.client_id,
        day=calls.time_us // DAY_US,
        calls=np.ones(calls.time_us.size, dtype=np.int64),
        first_us=calls.time_us,
        last_us=calls.time_us,
    )


def name_numbers(names: Sequence[Name], server_id: Column, tool_id: Column) -> Column:
    """For each pair of ids the place of its name in *names*."""
    table = {
        (name.server_id << 32) + tool: place
        for place, name in enumerate(names)
        for tool in name.tool_ids
    }
    return _lookup(table, (server_id << 32) + tool_id)


@dataclass(frozen=True, slots=True)
class Total:
    """What the calls of one group came to. Instants are None where there is no call."""

    calls: int
    first_us: int | None
    last_us: int | None


def totals(group: Column, found: Sums, groups: int) -> list[Total]:
    """Add up sums by the number of their group."""
    calls = np.zeros(groups, dtype=np.int64)
    np.add.at(calls, group, found.calls)
    first = np.full(groups, np.iinfo(np.int64).max)
    np.minimum.at(first, group, found.first_us)
    last = np.full(groups, np.iinfo(np.int64).min)
    np.maximum.at(last, group, found.last_us)
    return [
        Total(int(n), int(a), int(b)) if n else Total(0, None, None)
        for n, a, b in zip(calls, first, last, strict=True)
    ]


def caller_numbers(calls: Calls, people: People) -> Column:
    """
    Who made each call: a stored caller's id, else minus one and below for the client, else 0.

    A call without a stored caller counts its client as the caller; without either it counts none.
    """
    group = people.groups(calls.client_id)
    nobody = people.keys.index(NOBODY) if NOBODY in people.keys else -1
    by_client = np.where(group == nobody, 0, -1 - group)
    return np.where(calls.caller_id > 0, calls.caller_id, by_client)


def count_callers(group: Column, calls: Calls, people: People, groups: int) -> Column:
    """How many distinct callers each group of calls has."""
    caller = caller_numbers(calls, people)
    known = caller != 0
    pairs, _ = distinct([group[known], caller[known]])
    return np.bincount(pairs, minlength=groups).astype(np.int64)


def version_texts(scope: Scope, calls: Calls, people: People) -> tuple[list[str | None], Column]:
    """The distinct versions of calls (their line's, else the one in the client's name), and each's."""
    own, own_row = codes(calls.version_id)
    words = read_words.version_names(scope.connection, [int(i) for i in own if i])
    named, named_row = codes(calls.client_id)
    in_name = [people.spellings[int(i)].version if i else None for i in named]
    texts: dict[str | None, int] = {}

    def place(text: str | None) -> int:
        return texts.setdefault(text, len(texts))

    by_name = np.array([place(text) for text in in_name], dtype=np.int64)
    by_line = np.array([place(words[int(i)]) if i else -1 for i in own], dtype=np.int64)
    if not calls.time_us.size:
        return [], calls.time_us
    chosen = by_line[own_row]
    return list(texts), np.where(chosen >= 0, chosen, by_name[named_row])


def versions_by_group(
    scope: Scope, group: Column, calls: Calls, people: People, groups: int
) -> list[list[str]]:
    """The distinct versions of each group's calls, the one with the latest call first; ties by text."""
    texts, version = version_texts(scope, calls, people)
    found: list[dict[str, int]] = [{} for _ in range(groups)]
    pairs, place = codes(group * max(len(texts), 1) + version)
    last = np.full(pairs.size, np.iinfo(np.int64).min)
    np.maximum.at(last, place, calls.time_us)
    for pair, time_us in zip(pairs, last, strict=True):
        text = texts[int(pair) % len(texts)]
        if text is not None:
            found[int(pair) // len(texts)][text] = int(time_us)
    return [sorted(each, key=lambda text: (-each[text], text)) for each in found]
