"""
What notified clients would have called, and how sure that is.

The model is fitted to the cells before notification, of all clients, and read in the cells after. It is
read in supported weeks only: those with two clients or more that are not yet notified and have called,
and with a call of theirs. Observed over expected is the rate ratio. Uncertainty comes from leaving out
one client after another and doing all of it again, so that calls of one client may hang together as
they like.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from service.analysis.effect.cells import Cells
from service.analysis.effect.fit import Fit, Lean, fit
from service.analysis.effect.panel import Counts, Flags
from service.analysis.effect.results import Interval

MOST_SAMPLES = 200
"""Clients are left out one by one up to so many, and in as many groups beyond."""
LEAST_OTHERS = 2
HALF = 0.5
"""Added to observed and expected, so that no call at all has a logarithm."""


@dataclass(frozen=True, slots=True)
class Model:
    """The cells, and the model of each sample; sample 0 keeps every client."""

    cells: Cells
    keep: Counts
    """(C, B): 1 where the sample keeps the client."""
    fit: Fit
    supported: Flags
    """(B, W)."""
    grouped: bool

    def by_week(self, clients: Flags) -> tuple[Counts, Counts]:
        """Observed and expected calls after notification of these clients (C,), in each sample: (B, W)."""
        counted = (clients & self.cells.baseline)[:, None, None]
        observed = self.keep.T @ (self.cells.calls_after * counted).sum(axis=2)
        expected = self.fit.by_week(self.cells.after * counted)
        return observed * self.supported, expected * self.supported

    def used(self, clients: Flags) -> Flags:
        """(C,): of these clients, those with a supported cell."""
        return clients & self.cells.baseline & self.supported_after.any(axis=1)

    @property
    def supported_after(self) -> Counts:
        """Opportunity after notification in supported weeks: (C, W)."""
        found: Counts = self.cells.after.sum(axis=2) * self.supported[0]
        return found


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate ratio with its error in logarithms. `interval` and `p_value` are None without a spread."""

    observed: float
    expected: float
    log_ratio: float
    error: float | None
    df: int
    calls_before: float
    used: int

    @property
    def rate_ratio(self) -> float | None:
        return self.observed / self.expected if self.expected > 0 else None

    @property
    def interval(self) -> Interval | None:
        """95 %, by Student's t; it holds the rate ratio itself, which has no half calls added."""
        if self.error is None or self.rate_ratio is None:
            return None
        return interval(self.log_ratio, self.error, self.df, self.rate_ratio)

    @property
    def p_value(self) -> float | None:
        if not self.error:
            return None
        return float(2 * stdtr(self.df, -abs(self.log_ratio) / self.error))


def model(cells: Cells, lean: Lean | None = None) -> Model:
    """Fit all clients, and all without each of those that have calls (or each group of them)."""
    keep, grouped = samples(cells)
    others = keep.T @ (cells.before.any(axis=2) & cells.baseline[:, None])
    calls = keep.T @ cells.calls_before.sum(axis=2)
    return Model(
        cells,
        keep,
        fit(cells.calls_before, cells.before, keep, lean),
        (others >= LEAST_OTHERS) & (calls >= 1),
        grouped,
    )


def samples(cells: Cells) -> tuple[Counts, bool]:
    """
    Who is kept (C, B): everyone, then everyone but one. True where groups are left out.

    Groups are dealt by calls, so that they weigh alike and do not depend on the order of clients.
    """
    with_calls = np.flatnonzero(cells.with_calls)
    grouped = with_calls.size > MOST_SAMPLES
    weight = (cells.calls_before + cells.calls_after).sum(axis=(1, 2))[with_calls]
    opportunity = (cells.before + cells.after).sum(axis=(1, 2))[with_calls]
    dealt = with_calls[np.lexsort((opportunity, -weight))] if grouped else with_calls
    keep = np.ones((cells.before.shape[0], min(with_calls.size, MOST_SAMPLES) + 1))
    keep[dealt, 1 + np.arange(dealt.size) % MOST_SAMPLES] = 0
    return keep, grouped


def estimate(model: Model, clients: Flags) -> Estimate:
    """The rate ratio of these clients (C,) over all supported weeks."""
    observed, expected = (each.sum(axis=1) for each in model.by_week(clients))
    used = model.used(clients)
    before = float(model.cells.calls_before[used].sum())
    logs = np.log((observed + HALF) / (expected + HALF))
    floor = 1 / (observed[0] + HALF) + 1 / before if before else np.inf
    return Estimate(
        observed=float(observed[0]),
        expected=float(expected[0]),
        log_ratio=float(logs[0]),
        error=_at_least(spread(logs), floor),
        df=degrees(int(used.sum()), logs.size),
        calls_before=before,
        used=int(used.sum()),
    )


def spread(values: Counts) -> Counts | None:
    """
    The jackknife's standard error of sample 0, over the first axis: SE^2 = (G - 1)/G sum (v - mean)^2.

    None where fewer than two could be left out.
    """
    left_out = values[1:]
    if len(left_out) < 2:
        return None
    squares = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0)
    error: Counts = np.sqrt((len(left_out) - 1) / len(left_out) * squares)
    return error


def _at_least(error: Counts | None, floor: float) -> float | None:
    """Not below what the calls would vary by if they came one by one."""
    if error is None or not np.isfinite(floor):
        return None
    return float(max(error, np.sqrt(floor)))


def degrees(used: int, samples: int) -> int:
    """The degrees of freedom of the interval, at least one."""
    return max(1, min(used, samples - 2))


def quantile(df: int) -> float:
    """The 97.5 % point of Student's t."""
    return float(stdtrit(df, 0.975))


def interval(log_ratio: float, error: float, df: int, inside: float) -> Interval:
    """exp(log_ratio +- t * error), widened to hold `inside`; None for an end beyond all numbers."""
    with np.errstate(over="ignore"):
        low, high = np.exp(log_ratio + np.array([-1, 1]) * quantile(df) * error)
    return (min(float(low), inside), max(float(high), inside) if np.isfinite(high) else None)
