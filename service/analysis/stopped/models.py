"""
The chance of a silence so long while the client goes on calling, by four models of its pauses.

Days are whole UTC days with a call, ascending, each once; a silence is in days from the last of them. A
day counts at its noon, so that "now" a day and a half after the start of the last active day is a silence
of one day.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from service.analysis.stopped.extinction import declining_rate

Gaps = NDArray[np.float64]
"""The pauses between active days, oldest first, in days (or in sessions)."""

LEAST_DAYS = 4
"""Below so many active days no number is given."""
RECENT = 10
"""The last pauses that say how often it calls of late."""
SPARE = 1.5
"""A pause so many times the longest is thought possible."""
DECLINING = 21
"""The last active days that the test of a falling rate reads, the first of them as its origin."""


def exponential(gaps: Gaps, silence: float) -> float:
    """Pauses by chance at a rate unknown: p = (1 + s / S)^-k, S the sum of the last k = 10 pauses."""
    recent = gaps[-RECENT:]
    total = float(recent.sum())
    return 0.0 if total <= 0 else float((1 + silence / total) ** -recent.size)


def empirical(gaps: Gaps, silence: float) -> float:
    """
    Pauses as they were, and one longer than all: p = sum of max(gap - s, 0) / sum of gaps.

    A long pause counts by its length, as one that "now" falls into is more likely a long one.
    """
    every = _with_spare(gaps)
    total = float(every.sum())
    return 0.0 if total <= 0 else float(np.maximum(every - silence, 0).sum() / total)


def power_law(ages: Sequence[float], silence: float) -> float:
    """
    A rate that falls (or grows) as a power of the age: p = (1 + n ln(T/t_n) / sum of ln(t_n/t_i))^-(n - 1).

    Args:
        ages: The active days, counted from the start of the record: more than one, all above 0.
        silence: T = t_n + silence.
    """
    last = ages[-1]
    spread = float(np.log(last / np.asarray(ages[:-1])).sum())
    return float((1 + len(ages) * np.log1p(silence / last) / spread) ** (1 - len(ages)))


def declining(days: Sequence[int], silence: float) -> float:
    """A rate that falls, by the test of Solow on the last 20 active days after the one before them."""
    origin, *recent = days[-DECLINING:]
    times = [int(day - origin) for day in recent]
    return declining_rate(times, times[-1] + Fraction(silence))


def longest_doubted(gaps: Gaps, chance: float) -> float:
    """
    The silence from which on neither `exponential` nor `empirical` exceeds a chance.

    The sum of max(gap - s, 0) is the greatest of (the j longest gaps) - j s, so that it falls below a
    target where all of these do.
    """
    recent = gaps[-RECENT:]
    by_rate = float(recent.sum() * (chance ** (-1 / recent.size) - 1))
    longest = np.sort(_with_spare(gaps))[::-1]
    sums = np.cumsum(longest)
    by_pauses = (sums - chance * sums[-1]) / np.arange(1, longest.size + 1)
    return max(by_rate, float(by_pauses.max()), 0.0)


def _with_spare(gaps: Gaps) -> Gaps:
    every = np.empty(gaps.size + 1)
    every[:-1] = gaps
    every[-1] = SPARE * gaps.max()
    return every
