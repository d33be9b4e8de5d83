"""Shares against statsmodels and worked examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from service.analysis.shares import Share, excess, wilson


@given(n=st.integers(1, 5_000), part=st.floats(0, 1))
def test_the_interval_of_a_share_is_wilsons(n: int, part: float) -> None:
    """As statsmodels has it; at both ends exactly 0 or 1."""
    hits = round(part * n)
    assert wilson(Share(hits, n)) == pytest.approx(
        proportion_confint(hits, n, method="wilson"), abs=1e-9
    )


def test_a_share_of_nothing_has_neither_value_nor_interval() -> None:
    """No data is no zero."""
    assert Share(0, 0).value is None
    assert wilson(Share(0, 0)) is None
    assert excess(Share(0, 0), Share(1, 2)) is None
    assert excess(Share(1, 2), Share(0, 0)) is None


def test_newcombes_example_of_a_difference() -> None:
    """
    Newcombe (1998), example (a): 56 of 70 against 48 of 80, method 10: 0.0524 to 0.3339. The excess is
    that over 1 - 48/80.
    """
    found = excess(Share(56, 70), Share(48, 80))
    assert found is not None
    assert found.value == pytest.approx(0.2 / 0.4)
    assert [round(end * 0.4, 4) for end in found.interval] == [0.0524, 0.3339]


@given(hits=st.integers(0, 60), n=st.integers(1, 60), anyway=st.integers(0, 80))
def test_the_interval_of_the_excess_is_that_of_the_difference_over_the_rest(
    hits: int, n: int, anyway: int
) -> None:
    """MOVER from two Wilson intervals, as statsmodels' newcomb, but for its divisor."""
    hits = min(hits, n)
    found = excess(Share(hits, n), Share(anyway, 81))
    low, high = confint_proportions_2indep(hits, n, anyway, 81, compare="diff", method="newcomb")
    assert found is not None
    rest = 1 - anyway / 81
    assert found.interval == pytest.approx((low / rest, high / rest), abs=1e-9)


@pytest.mark.parametrize(("share", "background", "value", "interval"), [
    # the two logs of tests/acceptance/effect, as their truth is published
    (Share(48, 48), Share(168, 571), "1.00", ["0.88", "1.05"]),
    (Share(19, 31), Share(0, 142), "0.61", ["0.44", "0.76"]),
])  # fmt: skip
def test_the_excess_of_two_published_results(
    share: Share, background: Share, value: str, interval: list[str]
) -> None:
    """To two decimals."""
    found = excess(share, background)
    assert found is not None
    assert f"{found.value:.2f}" == value
    assert [f"{end:.2f}" for end in found.interval] == interval


def test_nothing_exceeds_a_background_of_all() -> None:
    """Where everybody would have done it anyway, nothing can be said."""
    assert excess(Share(3, 3), Share(5, 5)) is None
