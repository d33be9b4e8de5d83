"""
Calls at a fixed time of the day, as a schedule makes them, told from chance.

What counts is days, not calls: the calls of one day may be one run and its retries. A day lies inside a
window where all of its calls do. Chance is bounded from above, for somebody who calls at any minute of
`AWAKE_MIN` minutes a day, not of 24 hours: whoever works in the morning is no schedule. That k given
days lie within one window of `WINDOW_MIN` minutes has then a chance of at most k (w/W)^(k-1), and there
are n over k ways to choose them of n days. Worked out by hand, with w/W = 30/480 = 1/16:

    5 of 5 days   5 / 16^4 = 5 / 65,536 = 1 in 13,107       evidence
    4 of 4        4 / 16^3 = 4 / 4,096 = 1 in 1,024         none
    5 of 6        6 × 5 / 16^4 = 30 / 65,536 = 1 in 2,185   none
    6 of 7        7 × 6 / 16^5 = 42 / 1,048,576 = 1 in 24,966   evidence

>>> [round(1 / chance(n, k)) for n, k in ((5, 5), (4, 4), (6, 5), (7, 6))]
[13107, 1024, 2185, 24966]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np

WINDOW_MIN: Final = 30
AWAKE_MIN: Final = 480
CHANCE: Final = 1 / 10_000
"""Above it a pattern is no evidence: a table of a hundred rows would hold one by chance every so often."""
SHARE: Final = 0.8
"""The least share of days inside the window; a client with as many others does more than a schedule."""
LEAST_DAYS: Final = 5
"""Below it no pattern is evidence: four of four days have a chance of 1 in 1,024."""

Day = tuple[int, int]
"""The minutes of a local day (0 to 1,439) at which its first and its last call came."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """On `inside` of `days` days all calls lie in the window from minute `start` on."""

    days: int
    inside: int
    start: int

    @property
    def is_evidence(self) -> bool:
        """Whether chance is no explanation."""
        enough = self.inside >= SHARE * self.days
        return enough and chance(self.days, self.inside) <= CHANCE


def chance(days: int, inside: int) -> float:
    """An upper bound for the chance that so many of the days lie in one window."""
    if inside < 1:
        return 1.0
    windows = AWAKE_MIN // WINDOW_MIN
    return min(1.0, comb(days, inside) * inside / float(windows) ** (inside - 1))


def pattern(days: Sequence[Day]) -> Pattern:
    """
    The window that holds the most days; of several the earliest.

    >>> pattern([(180, 181), (182, 182), (900, 901), (185, 190)])
    Pattern(days=4, inside=3, start=180)
    """
    if not days:
        return Pattern(0, 0, 0)
    first, last = np.array(days, dtype=np.int64).T
    starts = np.unique(first)
    # a window may as well begin with a day's first call
    held = (first >= starts[:, None]) & (last < starts[:, None] + WINDOW_MIN)
    counts = held.sum(axis=1)
    best = int(counts.argmax())
    return Pattern(len(days), int(counts[best]), int(starts[best]))


def clock(minute: int) -> str:
    """
    A minute of the day as a clock shows it.

    >>> clock(185)
    '03:05'
    """
    return f"{minute // 60:02d}:{minute % 60:02d}"
