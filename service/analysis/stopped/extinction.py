"""
Tests for the end of a series of sightings, as ecology has published them.

Times are in any one unit, ascending, and counted from an origin that is no sighting of its own.

- Solow (1993a), Ecology 74:962-964: `constant_rate` and `bayes_factor`.
- Solow (1993b), J. Math. Biol. 32:79-82: `declining_rate`.
- Strauss & Sadler (1989), Math. Geol. 21:411-427: `endpoint_bound`.
- Roberts & Solow (2003), Nature 426:245; Solow (2005), Math. Biosci. 195:47-55: `optimal_linear`.

>>> round(constant_rate([7, 17, 33, 37], 77), 4)  # Caribbean monk seal, in years since 1915
0.0533
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, lgamma, log

import numpy as np

CONFIDENCE = 0.95


def constant_rate(times: Sequence[float], now: float) -> float:
    """The chance of so long a silence at an unchanged rate: (t_n / T)^n."""
    return float((times[-1] / now) ** len(times))


def bayes_factor(times: Sequence[float], now: float) -> float:
    """The evidence for going on against having ended, where n > 1: (n - 1) / ((T / t_n)^(n - 1) - 1)."""
    power = len(times) - 1
    return float(power / ((now / times[-1]) ** power - 1))


def declining_rate(times: Sequence[int | Fraction], now: int | Fraction) -> float:
    """
    The chance of so long a silence at a rate that falls: F(t_n) / F(T), where F(x) is the chance that no
    share of the sum of the times exceeds x.

    Its terms alternate and cancel, so that it is worked out in fractions.
    """
    total = sum(times)
    before, whole = _no_share_above(times[-1], total, len(times))
    until, of_all = _no_share_above(now, total, len(times))
    # whole numbers divide to the nearest float, without a common divisor of a thousand digits
    return (before * of_all) / (whole * until)


def _no_share_above(limit: int | Fraction, total: int | Fraction, number: int) -> tuple[int, int]:
    """
    F(x) = 1 - sum over i from 1 to floor(total / x) of (-1)^(i - 1) C(n, i) (1 - i x / total)^(n - 1), as
    what is divided and by what.
    """
    part, whole = (Fraction(limit) / total).as_integer_ratio()
    terms = min(number, whole // part)
    # over one denominator: whole numbers are ten times as fast as a sum of fractions
    above = sum(
        (-1) ** i * comb(number, i) * (whole - i * part) ** (number - 1) for i in range(terms + 1)
    )
    return above, whole ** (number - 1)


def endpoint_bound(times: Sequence[float], confidence: float = CONFIDENCE) -> float:
    """The upper bound of the end, one-sided: R ((1 - confidence)^(-1 / n) - 1) after the last, R = t_n."""
    return float(times[-1] * (1 - confidence) ** (-1 / len(times)))


@dataclass(frozen=True, slots=True)
class End:
    """An estimate of the end of a series, and its bounds."""

    at: float
    low: float
    high: float


def optimal_linear(times: Sequence[float], confidence: float = CONFIDENCE) -> End | None:
    """
    The optimal linear estimate, with a two-sided interval.

    None for fewer than four times, of which the bound is infinite, and where the last two are equal.
    """
    number = len(times)
    if number < 4 or times[-1] == times[-2]:
        return None
    latest = np.array(times, dtype=float)[::-1]
    back = latest[0] - latest[1:]
    shape = float(np.log(back[-1] / back[:-1]).sum() / (number - 1))
    covariance = np.empty((number, number))
    for i in range(1, number + 1):
        for j in range(1, i + 1):
            entry = exp(lgamma(2 * shape + i) + lgamma(shape + j) - lgamma(shape + i) - lgamma(j))
            covariance[i - 1, j - 1] = covariance[j - 1, i - 1] = entry
    weights = np.linalg.solve(covariance, np.ones(number))
    at = float(weights @ latest / weights.sum())
    tail = (1 - confidence) / 2
    low, high = (
        float(latest[0] + back[-1] / ((-log(chance) / number) ** -shape - 1))
        for chance in (1 - tail, tail)
    )
    return End(at, low, high)
