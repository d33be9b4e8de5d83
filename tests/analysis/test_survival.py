"""Kaplan–Meier, Greenwood and the median against statsmodels, and a published table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from service.analysis.shares import Z
from service.analysis.survival import kaplan_meier

PAIRS = st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=60)


@given(PAIRS.filter(lambda pairs: any(happened for _, happened in pairs)))
def test_the_curve_is_that_of_statsmodels(pairs: list[tuple[int, bool]]) -> None:
    """Ties, and censorings at the time of an event: times, numbers at risk, what is left, the median."""
    times = np.array([time for time, _ in pairs], dtype=np.int64)
    happened = np.array([each for _, each in pairs])
    curve, other = kaplan_meier(times, happened), SurvfuncRight(times, happened.astype(int))

    steps = other.n_events > 0
    assert curve.times.tolist() == other.surv_times[steps].tolist()
    assert curve.at_risk.tolist() == other.n_risk[steps].tolist()
    assert curve.events.tolist() == other.n_events[steps].tolist()
    assert curve.left == pytest.approx(other.surv_prob[steps], abs=1e-12)
    if not np.isclose(curve.left, 0.5).any():  # there statsmodels waits until less is left
        median = other.quantile(0.5)
        assert curve.median == (int(median) if np.isfinite(median) else None)


@given(PAIRS.filter(lambda pairs: any(happened for _, happened in pairs)))
def test_the_band_is_greenwoods_on_the_log_log_scale(pairs: list[tuple[int, bool]]) -> None:
    """From the standard error of statsmodels by the formula of Kalbfleisch and Prentice."""
    times = np.array([time for time, _ in pairs], dtype=np.int64)
    happened = np.array([each for _, each in pairs])
    curve, other = kaplan_meier(times, happened), SurvfuncRight(times, happened.astype(int))
    inner = (other.n_events > 0) & (other.surv_prob > 0)
    left, error = other.surv_prob[inner], other.surv_prob_se[inner]
    middle, half = np.log(-np.log(left)), Z * error / np.abs(left * np.log(left))
    mine = curve.left > 0

    assert curve.low[mine] == pytest.approx(np.exp(-np.exp(middle + half)), abs=1e-9)
    assert curve.high[mine] == pytest.approx(np.exp(-np.exp(middle - half)), abs=1e-9)
    assert np.isnan(curve.low[~mine]).all()


def test_freireichs_remission_times() -> None:
    """6-MP group (Freireich 1963, in every text book): median 23 weeks, 0.857 left after 6, 0.448 after 23."""
    events = [6, 6, 6, 7, 10, 13, 16, 22, 23]
    censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    curve = kaplan_meier(
        np.array(events + censored), np.array([True] * len(events) + [False] * len(censored))
    )
    assert curve.n == 21
    assert curve.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert curve.left.round(3).tolist() == [0.857, 0.807, 0.753, 0.69, 0.627, 0.538, 0.448]
    assert curve.median == 23
    assert curve.median_interval == (13, None)


def test_a_median_that_is_not_reached_is_none() -> None:
    """One of three, the others watched on; and nobody at all."""
    assert kaplan_meier(np.array([1, 5, 5]), np.array([True, False, False])).median is None
    nobody = kaplan_meier(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_))
    assert (nobody.n, nobody.median, nobody.left.size) == (0, None, 0)


def test_half_of_them_is_the_median() -> None:
    """1 of 2: exactly half is left, however the product was rounded."""
    assert kaplan_meier(np.array([3, 8]), np.array([True, True])).median == 3
