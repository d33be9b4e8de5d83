"""Published series give published results."""

from fractions import Fraction

import pytest

from service.analysis.stopped.extinction import (
    bayes_factor,
    constant_rate,
    declining_rate,
    endpoint_bound,
    optimal_linear,
)

SEAL = [7, 17, 33, 37]
"""Caribbean monk seal, Solow 1993: sightings of 1922, 1932, 1948 and 1952, in years since 1915."""
DODO = [1598, 1601, 1602, 1607, 1611, 1628, 1628, 1631, 1638, 1662]
"""Roberts & Solow 2003: the last ten sightings."""
EDE = [1900, 1902, 1903, 1905, 1907, 1908, 1910, 1912, 1915, 1918, 1920, 1923, 1925, 1928, 1930]
EDE += [1933, 1936]
"""The example of the R package EDE (rodrigosqrt3/EDE at 1be1303), of which these are the years."""
SIGHTINGS = [4, 3, 5, 2, 3, 4, 2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1]
FERRET = [6, 7, 8, 10, 17, 18, 19, 20, 21, 22, 30, 31, 41, 44, 46, 53, 57, 58, 66, 90, 117, 118]
FERRET += [122, 123, 127, 139, 151, 153]
"""Black-footed ferret, Solow 1993, J. Math. Biol.: months, asked at 229."""


def test_the_monk_seal_has_the_chance_and_the_bayes_factor_of_solow() -> None:
    """Solow 1993, Ecology 74:962: (37/77)^4 = 0.0533, and 3 / ((77/37)^3 - 1) = 0.374, in 1992."""
    assert constant_rate(SEAL, 77) == pytest.approx(0.0533, abs=5e-5)
    assert bayes_factor(SEAL, 77) == pytest.approx(0.374, abs=5e-4)


def test_the_monk_seal_passes_95_per_cent_in_the_year_1993() -> None:
    """37 / 0.05^(1/4) = 78.25 years after 1915 is 1993.2."""
    assert constant_rate(SEAL, 1993.2 - 1915) > 0.05 > constant_rate(SEAL, 1993.3 - 1915)


def test_the_dodo_ended_in_1690() -> None:
    """Roberts & Solow 2003 print 1690; the upper bound at 95 % is 1798.9."""
    found = optimal_linear(DODO)
    assert found is not None
    assert found.at == pytest.approx(1690.4, abs=0.05)
    assert found.high == pytest.approx(1798.9, abs=0.05)


def test_the_series_of_ede_gives_what_ede_prints() -> None:
    """Its README: 1940.63 [1936.33, 1953.96] by the optimal linear estimate, 1943.41 by Strauss & Sadler."""
    found = optimal_linear(EDE)
    assert found is not None
    assert found.at == pytest.approx(1940.63, abs=0.005)
    assert (found.low, found.high) == pytest.approx((1936.33, 1953.96), abs=0.005)
    assert 1900 + endpoint_bound([year - 1900 for year in EDE[1:]]) == pytest.approx(
        1943.41, abs=0.005
    )


@pytest.mark.parametrize(
    ("times", "year"),
    [
        (
            [year - 1900 for year, seen in zip(EDE, SIGHTINGS, strict=True) for _ in range(seen)],
            1940,
        ),
        ([year - 1900 for year in EDE[1:]], 1944),
    ],
    ids=["sightings", "years"],
)
def test_calls_of_one_day_make_a_silence_look_longer_than_it_is(
    times: list[int], year: int
) -> None:
    """EDE prints 1940 as the first year at 0.05 or less by 35 raw sightings; by active years it is 1944."""
    chances = {now: constant_rate(times, now - 1900) for now in range(1937, 1950)}
    assert min(now for now, chance in chances.items() if chance <= 0.05) == year


def test_a_falling_rate_explains_the_silence_of_the_ferret() -> None:
    """Solow 1993, J. Math. Biol.: 1.25e-5 at an unchanged rate, 0.0501 at one that falls."""
    assert constant_rate(FERRET, 229) == pytest.approx(1.25e-5, abs=5e-8)
    assert declining_rate(FERRET, 229) == pytest.approx(0.0501, abs=5e-5)


def test_a_falling_rate_of_two_times_is_worked_out_by_hand() -> None:
    """
    Of 1 and 2 the sum is 3: F(2) = 1 - 2 (1 - 2/3) = 1/3. F(2.5) = 1 - 2 (1 - 2.5/3) = 2/3. Their ratio
    is 1/2.
    """
    assert declining_rate([1, 2], Fraction(5, 2)) == 0.5


@pytest.mark.parametrize("times", [[1, 2, 3], [1, 2, 3, 3]])
def test_too_few_times_or_two_last_ones_alike_have_no_optimal_linear_estimate(
    times: list[int],
) -> None:
    """The bound of three is infinite, and of two equal last times the shape is."""
    assert optimal_linear(times) is None
