"""Week by week: observed against expected by the calendar, and by the time since notification."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.analysis.effect.cells import Cells, cells, notified
from service.analysis.effect.jackknife import (
    HALF,
    Model,
    degrees,
    interval,
    model,
    spread,
)
from service.analysis.effect.panel import Counts, Flags, Panel
from service.analysis.effect.results import Interval, Week, WeekSince

REACH = 12
LEAST_CLIENTS = 4
"""Fewer clients in a week have no interval of their own."""


def weeks(panel: Panel) -> tuple[Week, ...]:
    """
    Each week from Monday that the panel touches, in order.

    What stands in weeks without clients to compare with is not expected of anyone: no number, not zero.
    """
    parted = cells(panel)
    fitted = model(parted)
    told = np.isfinite(notified(panel))
    observed, expected = fitted.by_week(told)
    counted = told & parted.baseline
    present = ((parted.after.sum(axis=2) > 0) & counted[:, None]).sum(axis=0)
    shown = fitted.supported[0] & (present > 0)
    bands = _bands(observed, expected, present, float(parted.calls_before[counted].sum()))
    others = parted.before.sum(axis=2) > 0
    fitted_others = fitted.fit.expected(parted.before).sum(axis=0)
    covered = _covered(panel, parted)
    return tuple(
        Week(
            start=parted.monday + 7 * week,
            notified=round(observed[0, week]) if shown[week] else None,
            expected=float(expected[0, week]) if shown[week] else None,
            band=bands[week] if shown[week] else None,
            others=round(parted.calls_before[:, week].sum()) if others[:, week].any() else None,
            fitted=float(fitted_others[week]) if others[:, week].any() else None,
            notified_clients=int(present[week]),
            other_clients=int(others[:, week].sum()),
            covered=float(covered[week]),
        )
        for week in range(parted.before.shape[1])
    )


def _bands(
    observed: Counts, expected: Counts, clients: NDArray[np.int64], before: float
) -> list[Interval | None]:
    """Where the week's observed calls would have to lie for its own interval to hold "no change"."""
    error = spread(np.log((observed + HALF) / (expected + HALF)))
    if error is None or before <= 0:
        return [None] * expected.shape[1]
    middle = expected[0] + HALF
    error = np.maximum(error, np.sqrt(1 / middle + 1 / before))
    found: list[Interval | None] = []
    for center, each, used in zip(middle, error, clients, strict=True):
        if used < LEAST_CLIENTS:
            found.append(None)
            continue
        low, high = interval(np.log(center), float(each), degrees(int(used), len(observed)), center)
        found.append((max(low - HALF, 0.0), None if high is None else high - HALF))
    return found


def _covered(panel: Panel, parted: Cells) -> NDArray[np.float64]:
    """The share of each week's cells, of those that the panel has, that was covered."""
    week = (panel.first_day + np.arange(panel.days) - parted.monday) // 7
    size = parted.before.shape[1]
    heard = np.bincount(week, weights=panel.covered.sum(axis=0), minlength=size)
    return heard / np.maximum(np.bincount(week, minlength=size) * len(panel.units), 1)


@dataclass(frozen=True, slots=True)
class _Side:
    """The cells of one week since notification, of clients with a baseline."""

    calls: Counts
    opportunity: Counts


def event_study(panel: Panel, reach: int = REACH) -> tuple[WeekSince, ...]:
    """
    Rate ratios by weeks since notification, from `-reach` to `reach - 1`, those that have cells.

    Weeks after are predicted from cells before; only supported ones count. Weeks before are fitted, so
    that their ratios lie about 1 whatever happened; a slope in them says that groups had diverged.
    """
    parted = cells(panel)
    fitted = model(parted)
    told = notified(panel)
    counted = np.isfinite(told) & parted.baseline
    since = _weeks_since(panel, parted)
    found = (
        _week_since(fitted, week, _side(parted, (since == week) & counted[:, None, None], week))
        for week in range(-reach, reach)
    )
    return tuple(each for each in found if each is not None)


def _weeks_since(panel: Panel, parted: Cells) -> NDArray[np.float64]:
    """(C, W, 7): 0 in the seven days after the notification's day, -1 in the seven before it."""
    told = np.floor(notified(panel) - panel.first_day)
    days = parted.column - np.where(np.isfinite(told), told, 0.0)[:, None, None]
    return np.where(days > 0, np.floor((days - 1) / 7), np.floor(days / 7))


def _side(parted: Cells, chosen: Flags, week: int) -> _Side:
    if week < 0:
        return _Side(parted.calls_before * chosen, parted.before * chosen)
    return _Side(parted.calls_after * chosen, parted.after * chosen)


def _week_since(fitted: Model, week: int, side: _Side) -> WeekSince | None:
    """None without supported opportunity, of which nothing is expected."""
    supported = fitted.supported
    observed = ((fitted.keep.T @ side.calls.sum(axis=2)) * supported).sum(axis=1)
    expected = (fitted.fit.by_week(side.opportunity) * supported).sum(axis=1)
    if expected[0] <= 0:
        return None
    clients = int((side.opportunity.sum(axis=2) * supported[0]).any(axis=1).sum())
    logs = np.log((observed + HALF) / (expected + HALF))
    found = float(observed[0] / expected[0])
    error = spread(logs)
    bounds = None
    if error is not None and clients >= LEAST_CLIENTS:
        least = np.sqrt(1 / (observed[0] + HALF))
        df = degrees(clients, logs.size)
        bounds = interval(float(logs[0]), float(max(error, least)), df, found)
    return WeekSince(week, clients, round(observed[0]), float(expected[0]), found, bounds)
