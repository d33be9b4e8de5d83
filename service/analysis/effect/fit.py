"""
The model of stale calls without notification, fitted to many samples of the clients at once.

In the cells before notification, the calls of client c in week w on weekday j are Poisson with mean

    level_c * week_w * weekday_j * opportunity_cwj * exp(trend * lean_c * clock_wj)

Of the factors only the product is known, so their scales mean nothing. A sample keeps some of the
clients; leaving out one after another is the jackknife. Given the other factors, a level or a weekday
has a closed form (iterative proportional fitting); weeks and the trend, which hang together where
clients are notified one after another, are taken by Newton's step on the likelihood with the levels
profiled out.

Arrays are client (C) x sample (B) x bin: a panel of C clients, W weeks and 7 weekdays is read with two
products of matrices a step, and no array of C x B x days is ever made.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from service.analysis.effect.panel import Counts, Flags

TOLERANCE = 1e-8
"""Of the logarithms of all factors; the first step that moves none of them further is the last."""
COARSE = 1e-5
"""The same of samples that are fitted for their spread; what is left is a fortieth of it."""
STEPS = 200
MOST_AT_ONCE = 150_000
"""Numbers in an array: the dozen that are about at a time then stay near the processor."""
DAMPING = 1e-6
"""Of the greatest curvature: so little that steps stay Newton's, enough that there always is one."""
LONGEST_STEP = 1.0
"""In the logarithm of a factor: farther than this, Newton's step is not to be trusted."""


@dataclass(frozen=True, slots=True)
class Lean:
    """How a trend of their own enters: `lean` (C,) times `clock` by week (W,) and weekday (7,)."""

    lean: Counts
    by_week: Counts
    by_weekday: Counts
    stiffness: float
    """The penalty: half of this times the trend squared is taken from the log-likelihood."""

    def of(self, clients: Flags) -> "Lean":
        """The same for some of the clients (C,)."""
        return replace(self, lean=self.lean[clients])


@dataclass(frozen=True, slots=True)
class Fit:
    """The factors of each sample: levels (C, B), weeks (B, W), weekdays (B, 7), trend (B,)."""

    levels: Counts
    weeks: Counts
    weekdays: Counts
    trend: Counts
    lean: Lean | None

    def expected(self, opportunity: Counts) -> Counts:
        """What the first sample makes of these cells (C, W, 7), by client and week: (C, W)."""
        return self._of(slice(0, 1), opportunity)[:, 0]

    def by_week(self, opportunity: Counts) -> Counts:
        """What each sample makes of these cells (C, W, 7) in all, by week: (B, W)."""
        chunks = _chunks(self.trend.size, opportunity)
        return np.concatenate([self._of(chunk, opportunity).sum(axis=0) for chunk in chunks])

    def _of(self, chunk: slice, opportunity: Counts) -> Counts:
        by_week, by_weekday = _tilt(self.lean, self.trend[chunk])
        inner = (self.weekdays[chunk] * by_weekday) @ opportunity.transpose(0, 2, 1)
        expected: Counts = self.levels[:, chunk, None] * (self.weeks[chunk] * by_week) * inner
        return expected


def ratio(above: Counts, below: Counts) -> Counts:
    """Above / below, 0 where there is nothing to divide by."""
    shape = np.broadcast_shapes(above.shape, below.shape)
    return np.divide(above, below, out=np.zeros(shape), where=below > 0)


def fit(calls: Counts, opportunity: Counts, keep: Counts, lean: Lean | None = None) -> Fit:
    """
    Fit each sample. The first is fitted by itself, and the others begin with it.

    Args:
        calls: (C, W, 7), zero in cells that are not to be read.
        opportunity: (C, W, 7), alike.
        keep: (C, B): 1 where the client is in the sample, else 0.
        lean: Where a trend is to be fitted with it.

    A client, week or weekday without calls has the factor 0, which is its maximum likelihood; so
    clients without calls are not looked at again.
    """
    called: Flags = np.any(calls, axis=(1, 2))
    if not called.all():
        found = fit(calls[called], opportunity[called], keep[called], lean and lean.of(called))
        levels = np.zeros(keep.shape)
        levels[called] = found.levels
        return replace(found, levels=levels, lean=lean)
    first: Factors = (np.ones((1, calls.shape[1])), np.ones((1, 7)), np.zeros(1))
    alone = _fitted(calls, opportunity, keep[:, :1], lean, first, TOLERANCE)
    parts = [
        _fitted(calls, opportunity, keep[:, 1:][:, chunk], lean, alone[1], COARSE)
        for chunk in _chunks(keep.shape[1] - 1, opportunity)
    ]
    parts = [alone, *parts]
    return Fit(
        levels=np.concatenate([levels for levels, _ in parts], axis=1),
        weeks=np.concatenate([factors[0] for _, factors in parts]),
        weekdays=np.concatenate([factors[1] for _, factors in parts]),
        trend=np.concatenate([factors[2] for _, factors in parts]),
        lean=lean,
    )


Factors = tuple[Counts, Counts, Counts]
"""Weeks (B, W), weekdays (B, 7) and trend (B,)."""


def _chunks(samples: int, opportunity: Counts) -> list[slice]:
    """So many samples at once that no array is too large for memory."""
    clients, weeks = opportunity.shape[:2]
    size = max(1, MOST_AT_ONCE // max(clients * max(weeks, 7), 1))
    return [slice(start, start + size) for start in range(0, samples, size)]


def _fitted(
    calls: Counts,
    opportunity: Counts,
    keep: Counts,
    lean: Lean | None,
    start: Factors,
    tolerance: float,
) -> tuple[Counts, Factors]:
    """Levels (C, B) and the other factors, from those of one sample on."""
    totals = _Totals(calls, keep, lean)
    turned = np.ascontiguousarray(opportunity.transpose(0, 2, 1))
    week, weekday, trend = (np.repeat(factor, keep.shape[1], axis=0) for factor in start)
    factors = (week * (totals.week > 0), weekday, trend)
    for _ in range(STEPS):
        factors, moved = _step(totals, opportunity, turned, factors, lean)
        if moved < tolerance:
            break
    week, weekday, trend = factors
    by_week, by_weekday = _tilt(lean, trend)
    mass = (week * by_week * ((weekday * by_weekday) @ turned)).sum(axis=2)
    return ratio(totals.client, mass), factors


class _Totals:
    """The sums of calls that the model reproduces: by client, week and weekday, and with the trend."""

    def __init__(self, calls: Counts, keep: Counts, lean: Lean | None) -> None:
        weeks, weekdays = calls.sum(axis=2), calls.sum(axis=1)
        self.client = calls.sum(axis=(1, 2))[:, None] * keep
        self.week = keep.T @ weeks
        self.weekday = keep.T @ weekdays
        self.trend = np.zeros(keep.shape[1])
        if lean is not None:
            clock = weeks @ lean.by_week + weekdays @ lean.by_weekday
            self.trend = keep.T @ (lean.lean * clock)


def _tilt(lean: Lean | None, trend: Counts) -> tuple[Counts, Counts]:
    """exp(trend * lean * clock) in its two parts: (C, B, W) and (C, B, 7)."""
    if lean is None:
        one = np.ones((1, 1, 1))
        return one, one
    slope = lean.lean[:, None, None] * trend[:, None]
    return np.exp(slope * lean.by_week), np.exp(slope * lean.by_weekday)


def _step(
    totals: _Totals, opportunity: Counts, turned: Counts, factors: Factors, lean: Lean | None
) -> tuple[Factors, float]:
    """One round over all factors, and how far it moved the farthest of them."""
    week, weekday, trend = factors
    by_week, by_weekday = _tilt(lean, trend)
    # levels, then weekdays, each given all others
    inner = by_week * ((weekday * by_weekday) @ turned)
    level = ratio(totals.client, (week * inner).sum(axis=2))
    daily = by_weekday * ((week * by_week) @ opportunity)
    new_weekday = ratio(totals.weekday, (level[:, :, None] * daily).sum(axis=0))
    # weeks and trend together, levels following them
    inner = by_week * ((new_weekday * by_weekday) @ turned)
    level = ratio(totals.client, (week * inner).sum(axis=2))
    mean = level[:, :, None] * week * inner
    pull: Counts | None = None
    if lean is not None:
        within = by_week * ((new_weekday * by_weekday * lean.by_weekday) @ turned)
        pull = lean.lean[:, None, None] * (lean.by_week * mean + level[:, :, None] * week * within)
    move = _newton(totals, mean, pull, trend, lean)
    new_week = week * np.exp(move[:, :-1])
    moved = max(
        float(np.abs(move).max(initial=0.0)),
        float(np.abs(ratio(new_weekday, weekday) - (weekday > 0)).max(initial=0.0)),
    )
    return (new_week, new_weekday, trend + move[:, -1]), moved


def _newton(
    totals: _Totals, mean: Counts, pull: Counts | None, trend: Counts, lean: Lean | None
) -> NDArray[np.float64]:
    """
    Newton's step of (log week, trend), (B, W + 1), levels profiled out.

    mean (C, B, W) is what is expected by client and week, pull (C, B, W) the same weighted with what
    multiplies the trend.
    """
    samples, weeks = totals.week.shape
    held = mean.sum(axis=2)
    share = ratio(mean, held[:, :, None])
    slope = np.zeros((samples, weeks + 1))
    bend = np.zeros((samples, weeks + 1, weeks + 1))
    slope[:, :-1] = totals.week - mean.sum(axis=0)
    bend[:, :-1, :-1] = -(mean.transpose(1, 2, 0) @ share.transpose(1, 0, 2))
    diagonal = np.arange(weeks)
    bend[:, diagonal, diagonal] += mean.sum(axis=0)
    if pull is not None and lean is not None:
        pulled = pull.sum(axis=2)
        slope[:, -1] = totals.trend - pulled.sum(axis=0) - lean.stiffness * trend
        across = (pull - share * pulled[:, :, None]).sum(axis=0)
        bend[:, :-1, -1] = bend[:, -1, :-1] = across
        spread = ratio(pull * pull, mean).sum(axis=2) - ratio(pulled * pulled, held)
        bend[:, -1, -1] = spread.sum(axis=0) + lean.stiffness
    # The common scale of weeks is that of levels, too: it is held, as are weeks without calls.
    live = (totals.week > 0).astype(np.float64)
    size = bend[:, diagonal, diagonal].max(axis=1, initial=1.0)[:, None]
    bend[:, :-1, :-1] += size[:, :, None] * live[:, :, None] * live[:, None, :]
    bend[:, diagonal, diagonal] += size * (1 - live)
    if lean is None:
        bend[:, -1, -1] = 1.0
    # Weeks that no client joins to the others have a scale of their own.
    whole = np.arange(weeks + 1)
    bend[:, whole, whole] += DAMPING * size
    step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
    limited: NDArray[np.float64] = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    return limited
