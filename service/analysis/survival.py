"""How long it takes until something happens, where not all are watched until it does (Kaplan–Meier)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column
from service.analysis.shares import Z

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """
    What is left after each time at which it happened, ascending. `n` is how many were watched at all.
    `low` and `high` are NaN where there is no band: where nothing is left.
    """

    n: int
    times: Column
    at_risk: Column
    events: Column
    left: Floats
    low: Floats
    high: Floats

    @property
    def median(self) -> int | None:
        """The first time after which at most half is left; None: it is not reached."""
        return first_at_most(self.times, self.left, 0.5)

    @property
    def median_interval(self) -> tuple[int | None, int | None]:
        """
        The times after which the lower and the upper end of the band is at most half (Brookmeyer and
        Crowley 1982, Biometrics 38:29, on the log-log scale); None: it is not reached.
        """
        low = np.where(np.isnan(self.low), self.left, self.low)
        high = np.where(np.isnan(self.high), self.left, self.high)
        return first_at_most(self.times, low, 0.5), first_at_most(self.times, high, 0.5)


def first_at_most(times: Column, values: Floats, most: float) -> int | None:
    """The first time with a value of at most so much; None where there is none."""
    # a product of fractions that is a half may come out a little above it
    places = np.flatnonzero(values <= most + 1e-12)
    return int(times[places[0]]) if places.size else None


def kaplan_meier(times: Column, happened: NDArray[np.bool_]) -> Curve:
    """
    The share of whom it has not happened to, over time (Kaplan and Meier 1958, J. Am. Stat. Assoc. 53:457).

    The 95 % band is Greenwood's on the log-log scale: left ^ exp(± z s / ln left), s² = Σ d / (r (r - d)),
    which stays between 0 and 1.

    Args:
        times: When it happened, or until when one was watched; one entry each, of any unit, not negative.
        happened: Which of the two; of those watched until the very time at which it happened to another
            is still known that it had not happened before.
    """
    order = np.argsort(times, kind="stable")
    sorted_times, hits = times[order], happened[order]
    at = np.unique(sorted_times[hits])
    risk = (times.size - np.searchsorted(sorted_times, at, side="left")).astype(np.int64)
    own = sorted_times[hits]
    events = np.searchsorted(own, at, side="right") - np.searchsorted(own, at, side="left")
    left: Floats = np.cumprod(1 - events / risk, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.cumsum(events / (risk * (risk - events))))
        shift = np.exp(Z * error / np.log(left))
        low, high = left ** (1 / shift), left**shift
    gone = left <= 0
    low[gone], high[gone] = np.nan, np.nan
    return Curve(int(times.size), at, risk, events.astype(np.int64), left, low, high)
