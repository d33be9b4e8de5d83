"""
The second opinion: clients that were notified earlier may have been on a trend of their own.

Whoever updates eagerly may also be notified early, and would have called less with or without it. So a
trend in time enters the model, by how early a client was notified: 0 for one that never was, 1 for the
first. It can be told from the effect only by what clients did before, which is little; so the estimate
is much less sure, and a change that survives it is robust.

The trend is held by a penalty, as if it were known to be about zero (normal, with a standard deviation
of 1/sqrt(STIFFNESS)) before any call is seen. Without it, few clients leave the trend at the mercy of
one of them. The number was chosen by simulation: docs/adr/0023-did-notifications-help.md.
"""

import numpy as np

from service.analysis.effect.cells import Cells
from service.analysis.effect.fit import Lean
from service.analysis.effect.jackknife import Estimate, Model, estimate, model, quantile, spread
from service.analysis.effect.panel import Counts, Flags, Instants
from service.analysis.effect.results import Trend

STIFFNESS = 0.35
NO_TREND = Trend(None, None, None, None, False)


def lean(cells: Cells, notified: Instants, days: int) -> Lean:
    """By earliness, over a clock from -1/2 to 1/2 over the panel's days."""
    return Lean(
        lean=earliness(notified, cells.with_calls),
        by_week=(cells.column[:, 0] - days / 2) / days,
        by_weekday=np.arange(7) / days,
        stiffness=STIFFNESS,
    )


def earliness(notified: Instants, counted: Flags) -> Counts:
    """
    (C,): the share of the other counted clients that were notified later or never; half of those that
    were at the same instant count. 0 for a client that never was.

    >>> earliness(np.array([3.0, 5.0, np.inf, 5.0, np.inf]), np.ones(5, dtype=bool)).tolist()
    [1.0, 0.625, 0.0, 0.625, 0.0]
    """
    instants = np.sort(notified[counted])
    later = instants.size - np.searchsorted(instants, notified, side="right")
    ties = instants.size - later - np.searchsorted(instants, notified, side="left") - 1
    share = (later + ties / 2) / max(instants.size - 1, 1)
    return np.where(counted & np.isfinite(notified), share, 0.0)


def adjusted(cells: Cells, notified: Instants, days: int, clients: Flags) -> tuple[Trend, bool]:
    """
    The rate ratio of these clients (C,) beside a trend, and whether the trend takes away the word: it
    differs from zero, and beside it "no change" is inside the interval.
    """
    tilted = model(cells, lean(cells, notified, days))
    found = estimate(tilted, clients)
    t = _t(tilted)
    withdrawn = (
        t is not None
        and abs(t) > quantile(found.df)
        and found.interval is not None
        and holds(found.interval, 1.0)
    )
    return _trend(tilted, found, t), withdrawn


def holds(interval: tuple[float, float | None], value: float) -> bool:
    """Whether the interval holds the value."""
    low, high = interval
    return low <= value and (high is None or value <= high)


def _t(model: Model) -> float | None:
    error = spread(model.fit.trend)
    return float(model.fit.trend[0] / error) if error is not None and error > 0 else None


def _trend(model: Model, found: Estimate, t: float | None) -> Trend:
    return Trend(
        delta=float(model.fit.trend[0]),
        t=t,
        rate_ratio=found.rate_ratio,
        interval=found.interval,
        grouped=model.grouped,
    )
