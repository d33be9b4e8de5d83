"""
Shares of small numbers, with intervals that hold for them, and what of a share would not have been seen
anyway.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

Interval = tuple[float, float]

Z: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals here are 95 % ones."""


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`; neither is negative, and hits are at most n."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share, from 0 to 1; None of nothing."""
        return self.hits / self.n if self.n else None


def wilson(share: Share) -> Interval | None:
    """
    The 95 % interval of a share (Wilson 1927, J. Am. Stat. Assoc. 22:209), without correction for
    continuity; None of nothing.

    >>> low, high = wilson(Share(1, 10))
    >>> f"{low:.4f} {high:.4f}"
    '0.0179 0.4042'
    """
    if not share.n:
        return None
    n, p = share.n, share.hits / share.n
    middle = p + Z * Z / (2 * n)
    half = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    # at both ends rounding would leave what is exactly 0 or 1 a little beside it
    low = 0.0 if share.hits == 0 else (middle - half) / scale
    high = 1.0 if share.hits == n else (middle + half) / scale
    return low, high


@dataclass(frozen=True, slots=True)
class Excess:
    """A share beyond its background, with its 95 % interval; the interval may reach beyond 1."""

    value: float
    interval: Interval


def excess(share: Share, background: Share) -> Excess | None:
    """
    The part of those who would not have done it anyway that did: (p - p0) / (1 - p0) (Abbott 1925, J.
    Econ. Entomol. 18:265). None where either share is of nothing, or the background is all of it.

    The interval is that of the difference p - p0, put together from the two Wilson intervals (MOVER:
    Newcombe 1998, Stat. Med. 17:873, method 10), over 1 - p0. That takes p0 for known in the divisor,
    which is right as long as it was seen far more often than p.
    """
    p, p0 = share.value, background.value
    mine, other = wilson(share), wilson(background)
    if p is None or p0 is None or mine is None or other is None or p0 == 1:
        return None
    low = p - p0 - sqrt((p - mine[0]) ** 2 + (other[1] - p0) ** 2)
    high = p - p0 + sqrt((mine[1] - p) ** 2 + (p0 - other[0]) ** 2)
    return Excess((p - p0) / (1 - p0), (low / (1 - p0), high / (1 - p0)))
