"""
Calls to the retired names of a question, gathered: from the daily roll-up for the whole UTC days of
its range, from rows for what is left at both edges, or all from rows.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column, codes
from service.analysis.zones import EARLIEST_US
from service.answers.retired import Name
from service.answers.scope import Scope
from service.clock import DAY_US
from service.events import Kind
from service.store import read_calls, read_spans
from service.store.read_calls import Calls, Sums
from service.store.read_spans import Span

Mask = NDArray[np.bool_]
_LOGGED_STALE = (Kind.STALE_CALL, Kind.UNKNOWN_CALL)


@dataclass(frozen=True, slots=True)
class Days:
    """Whole UTC days [first, last) that roll-ups answer, and the spans that rows answer."""

    whole: Span
    edges: tuple[Span, ...]


def days_of(scope: Scope, span: Span | None = None) -> Days:
    """Split a span, that of the question if none is given."""
    start, end = (scope.start_us, scope.until_us) if span is None else span
    first = -(-start // DAY_US)
    last = min(end, scope.cut.solid_us) // DAY_US
    if last <= first:
        return Days((0, 0), ((start, end),) if start < end else ())
    edges = ((start, first * DAY_US), (last * DAY_US, end))
    return Days((first, last), tuple((a, b) for a, b in edges if a < b))


def by_server(names: Iterable[Name]) -> dict[int, dict[int, int]]:
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
    """
    Every stale call to these names in the spans that counts, in no order, with the columns it needs.

    Questions to one snapshot share what was read: of calls in wider spans, those that lie in these.
    """
    shared = scope.moment.shared
    if shared is None:
        return _rows(scope, names, spans, need)
    rules = scope.query.excluded if scope.exclusions.any else None
    asked = ("rows", scope.cut, tuple(names), scope.client_ids, rules)
    before: list[_Read] = shared.setdefault(asked, [])
    for each in before:
        if each.holds(spans, need):
            return each.calls.where(_lies_in(each.calls.time_us, spans))
    # those of one client are few, so that all that the index holds of them is read at once
    usual = read_calls.EVERYTHING if scope.client_ids is None else read_calls.INDEXED
    need = frozenset({*need, *usual})
    calls = _rows(scope, names, spans, need)
    before.append(_Read(tuple(spans), need, calls))
    return calls


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read: the calls of spans, with some columns."""

    spans: tuple[Span, ...]
    need: frozenset[str]
    calls: Calls

    def holds(self, spans: Sequence[Span], need: Collection[str]) -> bool:
        """Whether it has every call of these spans, with these columns."""
        inside = all(any(a <= low and high <= b for a, b in self.spans) for low, high in spans)
        return inside and self.need.issuperset(need)


def _lies_in(time_us: Column, spans: Sequence[Span]) -> Mask:
    inside = np.zeros(time_us.size, dtype=np.bool_)
    for low, high in spans:
        inside |= (time_us >= low) & (time_us < high)
    return inside


def _rows(
    scope: Scope, names: Sequence[Name], spans: Sequence[Span], need: Collection[str]
) -> Calls:
    need = {*need, *scope.exclusions.needs}
    parts = []
    for server_id, retired in by_server(names).items():
        parts += [
            read_calls.stale_calls(
                scope.connection, scope.cut, server_id, retired, *span, scope.client_ids, need
            )
            for span in spans
        ]
        parts.append(_succeeded(scope, server_id, retired, spans, need))
    return scope.exclusions.calls(Calls.join(parts))


def _succeeded(
    scope: Scope,
    server_id: int,
    retired: dict[int, int],
    spans: Sequence[Span],
    need: Collection[str],
) -> Calls:
    """Ordinary calls to names that were retired by then, read where the roll-up knows of some."""
    if not retired or not spans:
        return Calls.join(())
    low, high = min(start for start, _ in spans), max(end for _, end in spans)
    cells = _cells(scope, server_id, retired, (low // DAY_US, -(-high // DAY_US)))
    # of one or two calls a cell knows the instants
    exact = cells.calls <= 2
    standing = np.array([row.time_us for row in scope.cut.promoted], dtype=np.int64)
    ends = np.where(exact, cells.first_us, cells.last_us)
    stretches = read_spans.few(
        np.concatenate([cells.first_us, cells.last_us[exact], standing]),
        np.concatenate([ends, cells.last_us[exact], standing]) + 1,
    )
    pieces = [piece for span in spans for piece in read_spans.clip(stretches, span)]
    calls = read_calls.succeeded_calls(
        scope.connection, scope.cut, server_id, retired, pieces, scope.client_ids, need
    )
    return calls.where(calls.time_us >= _lookup(retired, calls.tool_id))


def _cells(scope: Scope, server_id: int, retired: dict[int, int], days: Span) -> Sums:
    """The roll-up of ordinary calls in UTC days, of each name from the day on which it was retired."""
    since = {tool_id: max(at // DAY_US, days[0]) for tool_id, at in retired.items()}
    cells = scope.moment.once(
        ("succeeded", server_id, frozenset(since.items()), days[1]),
        lambda: read_calls.succeeded(scope.connection, server_id, since, days[1]),
    )
    return cells.where(cells.last_us >= _lookup(retired, cells.tool_id))


def turning_days(
    scope: Scope,
    server_id: int,
    retired: dict[int, int],
    met: Iterable[tuple[int, int]],
    need: Collection[str] = read_calls.CLIENT,
) -> Calls:
    """
    Ordinary calls of the days on which their names were retired, from the instant they were.

    `met` are (tool, day) that hold ordinary calls. Of all other days the roll-up's cells are whole:
    they lie before the instant, or from it on.
    """
    turned = {
        tool_id: retired[tool_id]
        for tool_id, day in met
        if day * DAY_US < retired[tool_id] < (day + 1) * DAY_US
    }
    days = sorted({at // DAY_US for at in turned.values()})
    spans = [(day * DAY_US, (day + 1) * DAY_US) for day in days]
    calls = _succeeded(scope, server_id, turned, spans, need)
    return calls.where(calls.time_us // DAY_US == _lookup(turned, calls.tool_id) // DAY_US)


def _lookup(table: dict[int, int], keys: Column) -> Column:
    values, places = codes(keys)
    found = np.array([table[int(value)] for value in values], dtype=np.int64)
    return found[places] if places.size else places


def sums(
    scope: Scope,
    names: Sequence[Name],
    *,
    by_client: bool = True,
    by_day: bool = False,
    span: Span | None = None,
) -> Sums:
    """
    Sums of stale calls to these names in the range (or *span*), by (server, tool) and what is asked
    for, in several entries a group.

    `day` is the UTC day where `by_day`. What the roll-up holds for whole days is taken from it, unless
    a rule about what not to count needs to see each call.
    """
    within = (scope.start_us, scope.until_us) if span is None else span
    rules = scope.query.excluded if scope.exclusions.any else None
    asked = (scope.cut, tuple(names), scope.client_ids, rules, by_client, by_day, within)
    return scope.moment.once(
        ("sums", asked), lambda: _sums(scope, names, within, by_client=by_client, by_day=by_day)
    )


def _sums(
    scope: Scope, names: Sequence[Name], span: Span, *, by_client: bool, by_day: bool
) -> Sums:
    if scope.exclusions.fine:
        return as_sums(rows(scope, names, (span,), read_calls.CLIENT))
    by_client = by_client or scope.exclusions.any
    days = days_of(scope, span)
    parts = []
    for server_id, retired in by_server(names).items():
        daily = partial(
            read_calls.daily,
            scope.connection,
            server_id,
            days=days.whole,
            by_client=by_client,
            client_ids=scope.client_ids,
        )
        parts.append(daily(tool_ids=retired, kinds=_LOGGED_STALE, by_day=by_day))
        if days.whole[0] < days.whole[1]:
            cells = _cells(scope, server_id, retired, days.whole)
            if scope.client_ids is not None:
                cells = cells.where(scope.client_ids.mask(cells.client_id))
            whole = cells.day * DAY_US >= _lookup(retired, cells.tool_id)
            parts.append(cells.where(whole))
            turned = cells.where(~whole)
            met = zip(turned.tool_id.tolist(), turned.day.tolist(), strict=True)
            parts.append(as_sums(turning_days(scope, server_id, retired, met)))
    parts = [scope.exclusions.sums(part) for part in parts]
    parts.append(as_sums(rows(scope, names, days.edges, read_calls.CLIENT)))
    return Sums.join(parts)


def left_out(scope: Scope) -> int:
    """How many stale calls of the range are not counted, since a rule leaves them out."""
    if scope.query.excluded != "hide" or not scope.exclusions.any:
        return 0
    only = replace(scope, query=replace(scope.query, excluded="only"))
    return int(sums(only, scope.names).calls.sum())


def counted(scope: Scope, names: Sequence[Name], span: Span | None = None) -> Column:
    """How many stale calls to each of these names count in the range (or *span*), in their order."""
    found = sums(scope, names, by_client=False, span=span)
    total = np.zeros(len(names), dtype=np.int64)
    np.add.at(total, name_numbers(names, found.server_id, found.tool_id), found.calls)
    return total


def worked(scope: Scope, names: Sequence[Name]) -> Column:
    """How many ordinary calls to each of these names came in the range before it is retired, in their order."""
    ever = [replace(name, retired_us=EARLIEST_US) for name in names]
    return counted(scope, ever) - counted(scope, names)


def working(scope: Scope, names: Iterable[Name], span: Span) -> Calls:
    """The ordinary calls in a span to these names before each is retired, in no order."""
    parts = []
    need = {*read_calls.CLIENT, *scope.exclusions.needs}
    for server_id, retired in by_server(names).items():
        late = {tool_id: at for tool_id, at in retired.items() if at > span[0]}
        calls = _succeeded(scope, server_id, dict.fromkeys(late, span[0]), [span], need)
        parts.append(calls.where(calls.time_us < _lookup(late, calls.tool_id)))
    return scope.exclusions.calls(Calls.join(parts))


def as_sums(calls: Calls) -> Sums:
    """Each call as a sum of one."""
    return Sums(
        server_id=calls.server_id,
        tool_id=calls.tool_id,
        client_id=calls.client_id,
        day=calls.time_us // DAY_US,
        calls=np.ones(calls.time_us.size, dtype=np.int64),
        unattributed=(calls.client_id == 0).astype(np.int64),
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
