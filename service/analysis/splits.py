"""
Two groups that were drawn by lot, against every other split that could have been drawn instead:
randomisation inference (Fisher; Rosenbaum, Observational Studies, chapter 2). Arrays have one element a
client.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

SPLITS_MAX = 10_000
"""Splits that are compared: all there are, up to so many, else as many drawn ones."""
LEVEL = 0.05
OCTAVES = 10
"""Ratios are looked for from 2⁻¹⁰ to 2¹⁰; an interval that reaches so far is open at that end."""
STEPS = 4
"""Ratios tried in each octave, before the ends are closed in on."""
_TIE = 1e-9
"""Differences of this size, against all calls, are rounding."""
_CHUNK = 500
"""Splits drawn at once: of 2,000 clients that takes 8 MB."""


class Comparison:
    """
    The first wave's clients against the second's, and every split that could have been drawn instead.

    What a split differs by is the sum, over its first side, of each client's calls less those that its
    baseline and the change of all clients together would make: 0 where both sides changed alike, and
    0 on average over all splits (Rosenbaum 2002, "Covariance adjustment in randomized experiments").
    Under "told clients make ρ times the calls" the calls of the second wave are known as they would be
    if told, ρ times what they are; with them the real split is no different from any other, and ρ is
    ruled out where it is among the 5 % that differ most. The ratio of what was observed to what was
    expected differs by 0, and so is never ruled out.
    """

    def __init__(self, calls: Floats, expected: Floats, first: Flags, seed: int) -> None:
        self.calls, self.expected, self.first = calls, expected, first
        self._parts = np.stack([calls * first, calls * ~first, expected])
        self._seed = seed
        self.exact = math.comb(first.size, int(first.sum())) <= SPLITS_MAX

    @property
    def expected_calls(self) -> float | None:
        """Of the first wave, had it changed like the second; None where the second had no chance to."""
        second = float(self.expected[~self.first].sum())
        if second <= 0:
            return None
        change = float(self.calls[~self.first].sum()) / second
        return float(self.expected[self.first].sum()) * change

    @property
    def ratio(self) -> float | None:
        """The first wave's calls over the expected ones."""
        expected = self.expected_calls
        return float(self.calls[self.first].sum()) / expected if expected else None

    @cached_property
    def sums(self) -> Floats:
        """
        Of each split (R, 3): calls on its first side of clients that are really of the first wave, of
        the second, and the expected calls. Where not all are compared, the real one is not among them.
        """
        return np.concatenate([sides @ self._parts.T for sides in self._splits()])

    def _splits(self) -> Iterator[Floats]:
        """The first sides, in rows of ones and zeros."""
        size, many = self.first.size, int(self.first.sum())
        if self.exact:
            chosen = np.array(list(combinations(range(size), many)), dtype=np.int64)
            sides = np.zeros((len(chosen), size))
            np.put_along_axis(sides, chosen, 1.0, axis=1)
            yield sides
            return
        rng = np.random.default_rng(self._seed)
        real = np.broadcast_to(self.first.astype(np.float64), (_CHUNK, size))
        for _ in range(SPLITS_MAX // _CHUNK):
            yield rng.permuted(real, axis=1)

    def _differences(self, sums: Floats, ratio: float) -> Floats:
        own, others, expected = sums.T
        total = self._parts.sum(axis=1)
        change = (total[0] + ratio * total[1]) / total[2]
        result: Floats = own + ratio * others - change * expected
        return result

    def p_value(self, ratio: float) -> float:
        """The share of splits, the real one among them, that differ as much as the real one."""
        real = self._differences((self._parts @ self.first)[None, :], ratio)[0]
        # compared with itself, or with a split that differs as much, rounding must not decide
        least = abs(real) - _TIE * (1 + ratio) * (1 + self.calls.sum())
        as_much = np.abs(self._differences(self.sums, ratio)) >= least
        if self.exact:
            return float(as_much.mean())
        return float((1 + as_much.sum()) / (1 + as_much.size))

    def interval(self) -> tuple[float, float | None]:
        """
        The least and the greatest ratio that is not ruled out; there must be a `ratio`.

        Of a first wave without a call every split differs in proportion to ρ, so all but 0 are ruled out
        or none is. The high end is then that of one call, by the client of whom most were expected.
        """
        if not self.ratio:
            return 0.0, self._with_a_call().interval()[1]
        steps = range(-OCTAVES * STEPS, OCTAVES * STEPS + 1)
        tried = sorted([self.ratio, *(2.0 ** (step / STEPS) for step in steps)])
        stand = [place for place, ratio in enumerate(tried) if self.p_value(ratio) > LEVEL]
        low, high = stand[0], stand[-1]
        return (
            0.0 if low == 0 else self._end(tried[low], tried[low - 1]),
            None if high == len(tried) - 1 else self._end(tried[high], tried[high + 1]),
        )

    def _with_a_call(self) -> "Comparison":
        calls = self.calls.copy()
        calls[int(np.argmax(np.where(self.first, self.expected, -1)))] += 1
        return Comparison(calls, self.expected, self.first, self._seed)

    def _end(self, stands: float, ruled_out: float) -> float:
        """Where, between two ratios, ruling out begins: to a thousandth."""
        while abs(math.log(ruled_out / stands)) > 1e-3:
            middle = math.sqrt(stands * ruled_out)
            if self.p_value(middle) > LEVEL:
                stands = middle
            else:
                ruled_out = middle
        return stands
