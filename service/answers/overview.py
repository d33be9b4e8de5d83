"""Every retired name with who still calls it, and whether that gets better: one row a name."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from service.analysis import zones
from service.answers import calls as gather
from service.answers import overview_counts as counts
from service.answers import overview_periods as periods_
from service.answers.names import SORTS as NAME_SORTS
from service.answers.names import facts, moment_of, source
from service.answers.overview_counts import Count, Laid, Matches
from service.answers.overview_periods import Periods, Watch, watch_of, watch_of_all
from service.answers.overview_rows import (
    Bucket,
    Change,
    OverviewRow,
    OverviewTotals,
    SparkPoint,
    State,
    TopClient,
    TopCure,
    TotalChange,
    TotalWindow,
    Window,
)
from service.answers.overview_verdicts import Verdicts, notified, top_cures, verdicts_of
from service.answers.paging import bad_cursor, order_asked, page
from service.answers.query import ABSENT, Absent, Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.clock import HOUR_US
from service.errors import BadParameter
from service.store.engine import Connection
from service.store.read_spans import Span

SORTS = (
    *NAME_SORTS,
    "retired_at",
    "last_call_ever",
    "state",
    "quiet_hours",
    "quiet_covered_hours",
)
NEED = "need"
"""The order of what needs doing, which is that of no column."""
SPARK_MAX = 100
"""Buckets of a small picture."""


def overview(connection: Connection, query: Query, moment: Moment) -> Collection[OverviewRow]:
    """
    Every retired name known as of the cut, by server and name, also those without a call in the
    range; with `client`, the names that it called in the range.

    With `detail`, rows and totals have verdicts, the top client of each row what would make it stop, and
    `spark` notifications; `sort=need` then puts first what needs doing: by the verdict, from still calling to
    stopped, then by active days and stale calls in the range, the most first.

    The answer also holds `bucket`, the length of a bucket of `spark` (day, week or month), and
    `totals` of the rows of all pages (`OverviewTotals`). All pages look back from the instant that
    the first one did.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, (*SORTS, NEED))
    if order.column == NEED and not query.detail:
        raise BadParameter("sort", "need is the order of verdicts; ask with detail=true, too")
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "overview", changes=order.changes)
    board = _board(_held(scope))
    names, end_us = board.laid.names, board.periods.end_us
    scalars = _scalars(board)
    verdicts = verdicts_of(board.scope, names) if query.detail else None
    if order.column is None:
        column: list[Any] = [""] * len(names)
    elif order.column == NEED and verdicts is not None:
        column = verdicts.need(scalars["active_days"], scalars["stale_calls"])
    elif order.column == "last_release":
        column = [said.last_release for said in facts(scope, names)]
    else:
        column = scalars[order.column]
    kept, last = page(
        range(len(names)),
        lambda i: (column[i], names[i].server, names[i].name, end_us),
        order,
        scope.after,
        limit,
    )
    bucket, made = _buckets(scope)
    return scope.answer(
        _rows(board, scalars, kept, made, verdicts),
        last,
        bucket=bucket,
        totals=_totals(board, scalars["state"], verdicts),
        excluded_calls=gather.left_out(scope),
    )


def _held(scope: Scope) -> Scope:
    """The question, asked at the instant of its first page."""
    if scope.after is None:
        return scope
    at = scope.after[3] if len(scope.after) == 4 else None
    if type(at) is not int or not zones.EARLIEST_US <= at <= scope.cut.as_of_us:
        raise bad_cursor()
    return replace(scope, moment=replace(scope.moment, now_us=at))


@dataclass(frozen=True, slots=True)
class _Board:
    """What the calls of a question come to, for all of its names."""

    scope: Scope
    range: Span
    periods: Periods
    laid: Laid
    lasts: list[int | None]
    watches: dict[str, Watch]
    together: Watch
    ranged: Count
    windows: dict[int, Count]
    before: Count
    after: Count
    matched: Matches


def _board(scope: Scope) -> _Board:
    """Read the calls of the range and of all that looks back, once, and count them."""
    periods = Periods(min(scope.cut.as_of_us, scope.moment.now_us))
    range_ = (scope.start_us, scope.until_us)
    tail = (min(since for since, _ in periods.windows.values()), scope.cut.as_of_us)
    spans = counts.union(range_, tail)
    laid = counts.lay(scope, spans)
    watches = {server: watch_of(scope, server) for server in _servers(scope, laid)}
    together = watch_of_all(scope, watches.values())
    cells = {server: watch.cells(periods) for server, watch in watches.items()}
    return _Board(
        scope=scope,
        range=range_,
        periods=periods,
        laid=laid,
        lasts=counts.lasts(scope, laid, spans),
        watches=watches,
        together=together,
        ranged=laid.count(range_),
        windows={days: laid.count(span) for days, span in periods.windows.items()},
        before=laid.count(periods.before),
        after=laid.count(periods.after),
        matched=laid.matches(periods.start_us, cells, together.cells(periods)),
    )


def _servers(scope: Scope, laid: Laid) -> set[str]:
    """The servers of the names; without any name, those that were asked for."""
    return {n.server for n in laid.names} or {scope.servers[id_] for id_ in scope.server_ids}


def _scalars(board: _Board) -> dict[str, list[Any]]:
    """Column → its value for each name; without what stale calls say of the name."""
    laid, recent = board.laid, board.periods.recent
    heard = {server: watch.is_covered(recent) for server, watch in board.watches.items()}
    end = board.periods.end_us // HOUR_US
    quiet = [
        (_quiet_from(last, board.watches[name.server], end), end)
        for name, last in zip(laid.names, board.lasts, strict=True)
    ]
    firsts, lasts = laid.ends(board.range)
    return {
        "server": [name.server for name in laid.names],
        "name": [name.name for name in laid.names],
        "stale_calls": board.ranged.calls.tolist(),
        "clients": board.ranged.clients.tolist(),
        "callers": board.ranged.callers.tolist(),
        "active_days": counts.active_days(board.scope, laid).tolist(),
        "first_call": [moment_of(at) for at in firsts],
        "last_call": [moment_of(at) for at in lasts],
        "unattributed_calls": laid.unattributed(board.range).tolist(),
        "retired_at": [Instant(name.retired_us) for name in laid.names],
        "last_call_ever": [moment_of(at) for at in board.lasts],
        "source": [source(name) for name in laid.names],
        "state": [
            _state(last, recent, is_heard=heard[name.server])
            for name, last in zip(laid.names, board.lasts, strict=True)
        ],
        "quiet_hours": [until - since for since, until in quiet],
        "quiet_covered_hours": [
            board.watches[name.server].coverage.covered_hours(*hours)
            for name, hours in zip(laid.names, quiet, strict=True)
        ],
    }


def _quiet_from(last_us: int | None, watch: Watch, end: int) -> int:
    """The first whole hour after the last call, or where there is none the first that was heard."""
    if last_us is None:
        return end if watch.began is None else min(watch.began, end)
    return min(-(-last_us // HOUR_US), end)


def _state(last_us: int | None, recent: Span, *, is_heard: bool) -> State:
    if last_us is not None and last_us >= recent[0]:
        return "called"
    return "quiet" if is_heard else "not_heard"


def _rows(
    board: _Board,
    scalars: dict[str, list[Any]],
    kept: Sequence[int],
    made: Sequence[zones.Bucket],
    verdicts: Verdicts | None,
) -> list[OverviewRow]:
    """The rows of one page, of which *kept* are the places of the names."""
    names = board.laid.names
    ordered = sorted(kept)  # by server, which facts are read by
    said = dict(zip(ordered, facts(board.scope, [names[i] for i in ordered]), strict=True))
    tops = board.laid.tops(board.range, kept)
    starts = [bucket.start_us for bucket in made]
    pictures = board.laid.spark(board.range, kept, starts)
    cures, told = {}, {}
    if verdicts is not None:
        cures = top_cures(board.scope, verdicts, names, tops)
        told = notified(board.scope, {names[i].server for i in kept}, starts)
    covered = {server: _covered(board, watch, made) for server, watch in board.watches.items()}
    rows = []
    for i, values in zip(kept, pictures.tolist(), strict=True):
        watch = board.watches[names[i].server]
        rung = told[names[i].server].tolist() if made and told else [ABSENT] * len(made)
        points = zip(made, values, covered[names[i].server], rung, strict=True)
        known = {column: each[i] for column, each in scalars.items()}
        known |= {
            "last_release": said[i].last_release,
            "replaced_by": said[i].replaced_by or (),
            "no_replacement": said[i].replaced_by == (),
            "message": said[i].message,
        }
        rows.append(
            OverviewRow(
                **known,
                windows=tuple(
                    Window(**periods_.window(board.periods, watch, days, count.of(i)))
                    for days, count in board.windows.items()
                ),
                change=Change(
                    **periods_.change(
                        board.periods,
                        watch,
                        board.before.of(i),
                        board.after.of(i),
                        board.matched.of(i),
                    )
                ),
                top_client=_top(board, tops.get(i), cures.get(i) if verdicts else ABSENT),
                spark=tuple(
                    SparkPoint(
                        start=Instant(at.start_us),
                        label=at.label,
                        value=n,
                        covered=was,
                        notifications=rang,
                    )
                    for at, n, was, rang in points
                ),
                verdict=ABSENT if verdicts is None else verdicts.of(i),
            )
        )
    return rows


def _top(
    board: _Board, top: tuple[str, int] | None, cure: TopCure | Absent | None
) -> TopClient | None:
    if top is None:
        return None
    return TopClient(client=board.laid.known.name(top[0]), stale_calls=top[1], cure=cure)


def _covered(board: _Board, watch: Watch, made: Sequence[zones.Bucket]) -> list[bool]:
    """Whether every hour that each bucket shares with the range, and that has come, was watched."""
    since, until = board.range
    until = min(until, board.scope.moment.now_us)
    return [watch.is_covered((max(at.start_us, since), min(at.end_us, until))) for at in made]


def _buckets(scope: Scope) -> tuple[Bucket, list[zones.Bucket]]:
    """The shortest buckets of which a small picture has room for all; at worst the last 100 months."""
    since, until = scope.start_us, scope.until_us
    if since >= until:
        return "day", []
    for bucket in get_args(Bucket):
        if zones.count_at_least(since, until, scope.zone, bucket) <= SPARK_MAX:
            made = list(zones.buckets(since, until, scope.zone, bucket))
            if len(made) <= SPARK_MAX:
                return bucket, made
    last = zones.local(until - 1, scope.zone).date()
    months = last.year * 12 + last.month - SPARK_MAX
    first = zones.start_of_day(last.replace(months // 12, months % 12 + 1, 1), scope.zone)
    return "month", list(zones.buckets(first, until, scope.zone, "month"))[-SPARK_MAX:]


def _totals(board: _Board, states: Sequence[State], verdicts: Verdicts | None) -> OverviewTotals:
    """All names together."""
    watch, before, after = board.together, board.before, board.after
    return OverviewTotals(
        names=len(board.laid.names),
        state={state: states.count(state) for state in get_args(State)},
        stale_calls=board.ranged.all.calls,
        clients=board.ranged.all.clients,
        callers=board.ranged.all.callers,
        unattributed_calls=int(board.laid.unattributed(board.range).sum()),
        windows=tuple(
            TotalWindow(**periods_.window(board.periods, watch, days, count.all), names=count.names)
            for days, count in board.windows.items()
        ),
        change=TotalChange(
            **periods_.change(board.periods, watch, before.all, after.all, board.matched.all),
            names=after.names,
            names_before=before.names,
        ),
        verdict=ABSENT if verdicts is None else dict(verdicts.counts),
    )
