"""A range against the one before it: one row a retired name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.analysis.change import Why, Word, describe
from service.analysis.coverage import Coverage
from service.analysis.paired_hours import hours_of
from service.analysis.ranges_before import just_before, weeks_before, weeks_in
from service.analysis.reactions import change_pct
from service.answers import calls as gather
from service.answers.names import SORTS as NAME_SORTS
from service.answers.names import rows_of, sortable
from service.answers.paging import Key, Order, order_asked, page
from service.answers.query import (
    Collection,
    Instant,
    Moment,
    Query,
    Range,
    choice_asked,
    limit_asked,
)
from service.answers.retired import Name
from service.answers.scope import Scope, scope_of
from service.clock import HOUR_US
from service.store.engine import Connection

SHIFTS = ("length", "weeks")
LEAST_SHARE: Final = 2
"""One in so many hours of the range must match, or nothing is compared."""
SORTS = (
    *(column for column in NAME_SORTS if column in ("server", "name", "stale_calls", "clients")),
    "stale_calls_before",
    "clients_before",
    "change_pct",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRow:
    """
    One retired name in the range, and in the equally long one before it (`…_before`), each as far as it has
    come and as a whole. Compared are only the `matched_hours` in which the server was watched in both ranges,
    paired by the clock of the zone, since what was not watched is not zero: `matched_calls` lie in them, and
    `change_pct` is their change in per cent to one decimal. It is None where there was none before, or where
    fewer than half of the hours match. It describes, and is adjusted for nothing: see how few calls it rests on.
    """

    server: str
    name: str
    stale_calls: int
    stale_calls_before: int
    change_pct: float | None
    clients: int
    clients_before: int
    callers: int
    callers_before: int
    active_days: int
    active_days_before: int
    covered_hours: int
    hours: int
    covered_hours_before: int
    hours_before: int
    matched_hours: int
    matched_calls: int
    matched_calls_before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareTotals:
    """
    All names together, in the range as far as it has come and in the one before it. The `matched_hours` are those
    in which every server of the answer was watched in both. `word` says what became of the calls in them: `fewer`,
    `more`, `equal`, `none`, or `cannot_compare`, and then `why`: `short_history` (the log begins within the range
    before), or `gap`. `pct` is None where either number is below 30.
    """

    stale_calls: int
    stale_calls_before: int
    covered_hours: int
    hours: int
    covered_hours_before: int
    hours_before: int
    matched_hours: int
    matched_calls: int
    matched_calls_before: int
    word: Word
    why: Why | None
    pct: float | None


def compare(connection: Connection, query: Query, moment: Moment) -> Collection[CompareRow]:
    """
    Every retired name, by server and name, in the range and in the one before it. That ends where the range
    begins and is as long on the clock of the zone: seven local days are compared with seven. With `shift`
    `weeks` it lies before it by the length of the range, rounded up to whole weeks, so that weekdays match. The
    range ends now where `until` lies ahead.

    The answer also holds `before`, that range; `weeks`, by how many it lies earlier (None where it ends where the
    range begins); and `totals`.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    choice_asked("shift", query.shift, SHIFTS)
    scope = scope_of(connection, query, moment, "compare", changes=order.changes)
    # what has not come yet is no part of a comparison
    scope = replace(scope, until_us=max(min(scope.until_us, moment.now_us), scope.start_us))
    weeks = weeks_in(_span(scope), scope.zone) if query.shift == "weeks" else None
    earlier = (
        just_before(_span(scope), scope.zone)
        if weeks is None
        else weeks_before(_span(scope), scope.zone, weeks)
    )
    before = replace(scope, since_us=earlier[0], until_us=earlier[1])
    pair = _Pair(scope, before)
    kept, last = _page(pair, order, limit)
    empty = scope.since_us is None
    since, until = (None, None) if empty else map(Instant, earlier)
    return scope.answer(
        kept,
        last,
        before=Range(since, until, query.tz),
        weeks=weeks,
        totals=_totals(pair),
        excluded_calls=gather.left_out(scope),
    )


def _page(pair: "_Pair", order: Order, limit: int) -> tuple[Sequence[CompareRow], Key | None]:
    """The rows of a page. In the order of names, no others are made."""
    scope = pair.scope
    if order.column is None and scope.client_ids is None:
        names, last = page(
            scope.names, lambda name: ("", name.server, name.name), order, scope.after, limit
        )
        return _rows(pair, names), last
    return page(
        _rows(pair, scope.names),
        lambda row: (sortable(row, order.column), row.server, row.name),
        order,
        scope.after,
        limit,
    )


class _Pair:
    """The calls of a range and of the one before it, and the hours that were watched in both."""

    def __init__(self, scope: Scope, before: Scope) -> None:
        self.scope, self.before = scope, before
        self._each = (scope, before)
        self._calls = [
            gather.rows(one, one.names, (_span(one),), ("time_us",)) for one in self._each
        ]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many calls there were in either."""
        now, was = (calls.time_us.size for calls in self._calls)
        return now, was

    def together(self) -> tuple[int, int, int]:
        """The hours in which every server was watched in both, and the calls in them: of the range, before it."""
        matched, inside = self._matched([one.coverage for one in self._each], [True, True])
        now, was = (int(mine.sum()) for mine in inside)
        return matched, now, was

    def by_name(self, names: Sequence[Name]) -> list[tuple[int, int, int]]:
        """The same of each of these names, by the hours of its server."""
        every = self.scope.names
        number = [
            gather.name_numbers(every, calls.server_id, calls.tool_id) for calls in self._calls
        ]
        hours = {}
        counts = np.zeros((2, len(every)), dtype=np.int64)
        for server_id, server in {name.server_id: name.server for name in names}.items():
            mine = [(calls.server_id == server_id) for calls in self._calls]
            hours[server_id], inside = self._matched(
                [one.coverage_of(server) for one in self._each], mine
            )
            for count, own, within in zip(counts, number, inside, strict=True):
                count += np.bincount(own[within], minlength=len(every))
        found = {
            (name.server_id, name.name): (hours.get(name.server_id, 0), int(now), int(was))
            for name, now, was in zip(every, *counts, strict=True)
        }
        return [found[name.server_id, name.name] for name in names]

    def _matched(
        self, coverages: Sequence[Coverage], mine: Sequence[NDArray[np.bool_] | bool]
    ) -> tuple[int, list[NDArray[np.bool_]]]:
        """How many hours were watched in both ranges, and which of the calls *mine* lie in them."""
        now, was = (
            hours_of(coverage, _span(one), _now_us(one), one.zone)
            for one, coverage in zip(self._each, coverages, strict=True)
        )
        kept = np.intersect1d(now.watched, was.watched)
        inside = [
            own & hours.within(calls.time_us, kept)
            for own, hours, calls in zip(mine, (now, was), self._calls, strict=True)
        ]
        return kept.size, inside


def _totals(pair: _Pair) -> CompareTotals:
    scope, before = pair.scope, pair.before
    calls, calls_before = pair.sizes
    same, matched, matched_before = pair.together()
    covered, every = _watched(scope, scope.coverage)
    covered_before, every_before = _watched(before, scope.coverage)
    described = describe(
        matched_before,
        matched,
        long_enough=LEAST_SHARE * same >= every or scope.coverage.first <= _hours(before)[0],
        matched_hours=same,
        least_hours=-(-every // LEAST_SHARE),
    )
    return CompareTotals(
        stale_calls=calls,
        stale_calls_before=calls_before,
        covered_hours=covered,
        hours=every,
        covered_hours_before=covered_before,
        hours_before=every_before,
        matched_hours=same,
        matched_calls=matched,
        matched_calls_before=matched_before,
        word=described.word,
        why=described.why,
        pct=described.pct,
    )


def _rows(pair: _Pair, names: Sequence[Name]) -> list[CompareRow]:
    scope, before = pair.scope, pair.before
    found = []
    hours = {
        server: [_watched(each, each.coverage_of(server)) for each in (scope, before)]
        for server in {name.server for name in names}
    }
    for row, was, (same, calls, calls_before) in zip(
        rows_of(scope, names), rows_of(before, names), pair.by_name(names), strict=True
    ):
        (covered, every), (covered_before, every_before) = hours[row.server]
        if scope.client_ids is not None and not row.stale_calls and not was.stale_calls:
            continue
        change = None if LEAST_SHARE * same < every else change_pct(calls_before, calls)
        found.append(
            CompareRow(
                server=row.server,
                name=row.name,
                stale_calls=row.stale_calls,
                stale_calls_before=was.stale_calls,
                change_pct=change,
                clients=row.clients,
                clients_before=was.clients,
                callers=row.callers,
                callers_before=was.callers,
                active_days=row.active_days,
                active_days_before=was.active_days,
                covered_hours=covered,
                hours=every,
                covered_hours_before=covered_before,
                hours_before=every_before,
                matched_hours=same,
                matched_calls=calls,
                matched_calls_before=calls_before,
            )
        )
    return found


def _span(scope: Scope) -> tuple[int, int]:
    return scope.start_us, scope.until_us


def _now_us(scope: Scope) -> int:
    return min(scope.cut.as_of_us, scope.moment.now_us)


def _watched(scope: Scope, coverage: Coverage) -> tuple[int, int]:
    """The covered hours of a range as far as it has come, and all of these."""
    first, last = _hours(scope)
    return coverage.covered_hours(first, last), last - first


def _hours(scope: Scope) -> tuple[int, int]:
    """The hours that a range shares, as far as they have come."""
    end_us = max(min(scope.until_us, scope.moment.now_us), scope.start_us)
    return scope.start_us // HOUR_US, -(-end_us // HOUR_US)
