"""
Two periods of four weeks, one after the other: which of them had more, and whether that can be said.

A description, before and after: not adjusted for anything, and no cause.

A log is seldom heard in every hour of eight weeks. What is missing is not zero, so that the counts of
whole periods would compare hours with more hours. Each period is therefore cut into 672 cells of one
hour, of which the k-th of the one is the same hour of the week as the k-th of the other. A cell that was
not heard in one period is dropped from the other as well, so that weekdays and hours still match, and
only the calls in the cells that are left are compared.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.analysis.coverage import Coverage
from service.analysis.reactions import change_pct
from service.clock import HOUR_US

Word = Literal["fewer", "more", "equal", "none", "cannot_compare"]
Why = Literal["gap", "short_history"]

DAYS = 28
"""Of either period: whole weeks, so that hours of the week match."""
CELLS = DAYS * 24
LEAST_CELLS = CELLS // 2
"""So many must have been heard in both periods, or nothing is compared."""
LEAST_FOR_PCT = 30
"""Both counts must be as many for a percentage: one of small numbers misleads."""


@dataclass(frozen=True, slots=True)
class Described:
    """A word for the later period against the earlier one. `why` says why there is no comparison."""

    word: Word
    why: Why | None
    pct: float | None


def matching(coverage: Coverage, start_us: int) -> NDArray[np.bool_]:
    """
    Of each cell, in order, whether it was heard in both periods: `CELLS` truth values.

    A cell was heard in a period where every hour of the clock that it shares was covered. There are two
    of these where periods do not begin on the hour.

    Args:
        coverage: Which hours were covered.
        start_us: When the earlier period began, in microseconds since 1970. The later one follows it.

    >>> watched = Coverage(0, np.arange(2 * CELLS + 1), ())  # each hour of 56 days
    >>> int(matching(watched, 0).sum())
    672
    >>> int(matching(watched, HOUR_US // 2).sum())  # the last cell shares an hour after them
    671
    """
    start = start_us // HOUR_US
    hours = coverage.each(start, start + 2 * CELLS + 1)
    cells = hours[:-1] & hours[1:] if start_us % HOUR_US else hours[:-1]
    both: NDArray[np.bool_] = cells[:CELLS] & cells[CELLS:]
    return both


def describe(
    before: int,
    after: int,
    *,
    long_enough: bool,
    matched_hours: int,
    least_hours: int = LEAST_CELLS,
) -> Described:
    """
    Compare two counts.

    Args:
        before: The count of the earlier period, in the hours that were heard in both.
        after: That of the later period, in the same hours.
        long_enough: Whether watching had begun when the earlier period did; if not, that is why there
            is no comparison, whatever else is missing.
        matched_hours: In how many of the hours (of four weeks: `CELLS`) both were heard.
        least_hours: Fewer say too little of either period. At least one is needed in any case.

    >>> describe(40, 30, long_enough=True, matched_hours=672)
    Described(word='fewer', why=None, pct=-25.0)
    >>> describe(4, 3, long_enough=True, matched_hours=336)
    Described(word='fewer', why=None, pct=None)
    >>> describe(40, 30, long_enough=True, matched_hours=335)
    Described(word='cannot_compare', why='gap', pct=None)
    >>> describe(40, 30, long_enough=False, matched_hours=0)
    Described(word='cannot_compare', why='short_history', pct=None)
    """
    if not long_enough:
        return Described("cannot_compare", "short_history", None)
    if matched_hours < max(least_hours, 1):
        return Described("cannot_compare", "gap", None)
    if before == after:
        word: Word = "equal" if after else "none"
    else:
        word = "more" if after > before else "fewer"
    enough = min(before, after) >= LEAST_FOR_PCT
    return Described(word, None, change_pct(before, after) if enough else None)
