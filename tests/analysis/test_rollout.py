"""A planned roll-out is read by comparing the waves with every other split that could have been drawn."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from service.analysis.effect.panel import Panel
from service.analysis.rollout import Reading, read
from service.analysis.splits import SPLITS_MAX
from service.analysis.waves import Wave

FIRST_DAY = 20_000
WAVE_1, WAVE_2 = FIRST_DAY + 10.0, FIRST_DAY + 20.0
DAYS = 25
BETWEEN = slice(11, 20)
"""Days after that of the first instant and before that of the second: nine."""
BEFORE = slice(0, 10)


def panel(
    before: list[int], between: list[int], first: list[bool], **more: Any
) -> tuple[Panel, list[Wave]]:
    """Clients with so many calls on the last day before and on the first between; a session a day."""
    calls = np.zeros((len(before), DAYS))
    calls[:, 9], calls[:, 11] = before, between
    waves: list[Wave] = [1 if each else 2 for each in first]
    given: dict[str, Any] = {
        "calls": calls,
        "sessions": np.ones(calls.shape),
        "covered": np.ones(calls.shape, dtype=bool),
        "notified": np.where(first, WAVE_1, WAVE_2),
        **more,
    }
    return Panel(
        units=tuple(range(len(before))),
        first_day=FIRST_DAY,
        own=np.zeros(len(before), dtype=bool),
        **given,
    ), waves


def said(*given: Any, until: float = WAVE_2, **more: Any) -> Reading:
    cells, waves = panel(*given, **more)
    return read(cells, waves, (WAVE_1, WAVE_2), until=until, seed=1)


EIGHT = [True] * 4 + [False] * 4
CALLS = [20, 30, 25, 40, 22, 31, 28, 37]


def test_the_ratio_is_what_it_is_by_hand() -> None:
    """
    Each client made 20 calls on ten days with a session; on nine days 18 are expected. The second wave
    makes 90 of 4 x 18 = 72, so the first would have made 90, and made 45.
    """
    found = said([20] * 8, [10, 11, 12, 12, 22, 23, 22, 23], EIGHT)
    assert (found.observed, found.expected, found.rate_ratio) == (45, 90.0, 0.5)
    assert (found.used, found.exposure) == ((4, 4), "sessions")


def test_the_p_value_is_that_of_an_independent_permutation_test() -> None:
    """scipy's, with what a split differs by written out."""
    before, between = CALLS, [9, 20, 11, 17, 25, 40, 18, 41]
    expected = np.array(before) / 10 * 9

    residual = np.array(between) - sum(between) / expected.sum() * expected

    def differs(one: NDArray[np.float64], two: NDArray[np.float64], axis: int) -> Any:
        return np.abs(one.sum(axis=axis))

    theirs = stats.permutation_test(
        (residual[:4], residual[4:]), differs, alternative="greater", n_resamples=np.inf
    )
    found = said(before, between, EIGHT)
    assert (found.splits, found.exact) == (70, True)
    assert found.p_value == pytest.approx(theirs.pvalue)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 40), min_size=8, max_size=8))
def test_without_an_effect_one_split_in_twenty_is_called_different_at_most(
    between: list[int],
) -> None:
    """Whatever clients do: of the 70 ways to draw the waves, three or fewer give p at 0.05 or below."""
    wrong = 0
    for chosen in combinations(range(8), 4):
        first = [client in chosen for client in range(8)]
        found = said(CALLS, between, first)
        wrong += found.p_value is not None and found.p_value <= 0.05
    assert wrong <= 3


@pytest.mark.parametrize("ratio", [0.25, 0.5, 1.0, 2.0])
def test_the_interval_holds_an_effect_that_is_the_same_for_all(ratio: float) -> None:
    """Clients differ from their baselines alike in both waves, but for the effect."""
    usual = [16, 40, 16, 44, 20, 36, 24, 40, 16, 44, 20, 36]
    first = [True, False] * 6
    between = [int(n * ratio) if told else n for n, told in zip(usual, first, strict=True)]
    found = said([20, 40] * 6, between, first)
    assert found.interval is not None
    low, high = found.interval
    assert high is not None
    assert low <= ratio <= high
    assert (found.verdict == "reduced") == (high < 1)


def test_silence_of_the_first_wave_has_a_lower_end_of_nothing() -> None:
    """No call at all is compatible with every small ratio, and not with a large one."""
    found = said(CALLS, [0, 0, 0, 0, 20, 30, 25, 40], EIGHT)
    assert found.rate_ratio == 0
    assert found.interval is not None
    assert found.interval[0] == 0
    assert found.interval[1] is not None
    assert (found.interval[1] < 1, found.verdict, found.because) == (True, "reduced", True)


def test_a_ratio_is_the_same_whatever_order_clients_come_in() -> None:
    order = [5, 0, 7, 2, 4, 1, 6, 3]
    between = [9, 20, 11, 17, 25, 40, 18, 41]
    one = said(CALLS, between, EIGHT)
    other = said([CALLS[i] for i in order], [between[i] for i in order], [EIGHT[i] for i in order])
    assert (one.rate_ratio, one.p_value) == pytest.approx((other.rate_ratio, other.p_value))
    assert one.interval == pytest.approx(other.interval)


def test_many_clients_are_compared_with_drawn_splits() -> None:
    """2.7 million splits of 24 clients are too many; the seed makes the answer repeatable."""
    rng = np.random.default_rng(5)
    before, usual = rng.poisson(30, 24), rng.poisson(28, 24)
    first = [True, False] * 12
    between = np.where(first, usual // 2, usual)
    found = said(before.tolist(), between.tolist(), first)
    assert (found.splits, found.exact, found.verdict) == (SPLITS_MAX, False, "reduced")
    assert found.p_value == 1 / (1 + SPLITS_MAX)
    assert found == said(before.tolist(), between.tolist(), first)


def test_nothing_is_said_before_the_second_wave() -> None:
    """However clear it looks."""
    found = said(CALLS, [0, 0, 0, 0, 20, 30, 25, 40], EIGHT, until=WAVE_2 - 0.01)
    assert (found.verdict, found.reason, found.interval) == ("not enough data", "not over", None)


@pytest.mark.parametrize(
    ("before", "between", "first", "reason"),
    [
        (CALLS, [5] * 8, [True] * 3 + [False] * 5, "clients"),
        ([20, 0, 25, 40, 22, 31, 28, 37], [5] * 8, EIGHT, "clients"),
        ([1] * 8, [1] * 8, EIGHT, "calls"),
        (CALLS, [5, 5, 5, 5, 0, 0, 0, 0], EIGHT, "calls"),
        ([], [], [], "clients"),
    ],
    ids=["three", "no baseline", "few calls", "nothing expected", "nobody"],
)
def test_too_little_is_no_answer(
    before: list[int], between: list[int], first: list[bool], reason: str
) -> None:
    """And what it lacks is said."""
    found = said(before, between, first)
    assert (found.verdict, found.reason, found.p_value) == ("not enough data", reason, None)


CLEAR = [2, 3, 2, 4, 20, 30, 25, 40]


@pytest.mark.parametrize(
    ("notified", "because"),
    [
        ([WAVE_1 + 1] * 4 + [np.inf] * 4, True),
        ([WAVE_1] * 3 + [np.inf] + [WAVE_2] * 4, False),
        ([WAVE_1] * 4 + [WAVE_1 + 5] + [WAVE_2] * 3, False),
        ([WAVE_1 - 1] * 4 + [WAVE_2] * 4, False),
        ([np.inf] * 8, False),
    ],
    ids=["as planned", "one was not told", "one was told early", "told before", "nobody was told"],
)
def test_because_is_said_only_where_the_waves_kept_to_the_plan(
    notified: list[float], because: bool
) -> None:
    """The change is one either way: who was to be told when was decided by lot."""
    found = said(CALLS, CLEAR, EIGHT, notified=np.array(notified))
    assert (found.verdict, found.because) == ("reduced", because)


def test_the_day_of_the_notification_and_days_that_were_not_covered_do_not_count() -> None:
    """Whatever stands in them."""
    cells, waves = panel(CALLS, CLEAR, EIGHT)
    plain = read(cells, waves, (WAVE_1, WAVE_2), until=WAVE_2, seed=1)
    covered = cells.covered.copy()
    covered[:, 15] = False
    noisy = cells.calls.copy()
    noisy[:, 10] = 900  # the day of the first wave
    noisy[:, 20:] = 900  # from the day of the second on
    noisy[:4, 15] = 900
    found = said(CALLS, CLEAR, EIGHT, calls=noisy, covered=covered)
    assert found.observed == plain.observed
    assert found.rate_ratio == pytest.approx(plain.rate_ratio)


def test_without_sessions_days_are_what_is_compared() -> None:
    """A client that has no session logged is not one without opportunity."""
    found = said(CALLS, CLEAR, EIGHT, sessions=None)
    assert (found.exposure, found.verdict) == ("calendar", "reduced")
