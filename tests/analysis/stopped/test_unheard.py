"""Silence counts only where the log was heard."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis.stopped import STOP_WORDS, WORDS, History, everyone, judge

ORDER = {"stopped": 2, "probably stopped": 1}


@st.composite
def histories(draw: st.DrawFn, least: int = 1) -> History:
    """A client that calls every few days, with pauses, for at most 120 days, and is silent for a while."""
    gaps = draw(
        st.lists(st.sampled_from([1, 1, 1, 2, 3, 7, 8, 20]), min_size=least - 1, max_size=30)
    )
    start = draw(st.integers(0, 3))
    days = [start + 1]
    for gap in gaps:
        days.append(days[-1] + gap)
    now = days[-1] + draw(st.sampled_from([0.3, 1.0, 3.5, 8.0, 15.5, 30.0, 80.25, 200.0]))
    unheard = draw(st.sets(st.integers(start, int(now)), max_size=6)) - set(days)
    return History(days, start, now, sorted(unheard))


def silenced(history: History, first: int, length: int) -> History:
    """The same with a stretch of days not heard."""
    gone = range(max(first, history.start), min(first + length, int(-(-history.now // 1))))
    days = [day for day in history.days if day not in gone]
    return replace(history, days=days, unheard=sorted({*history.unheard, *gone}))


@settings(max_examples=200)
@given(histories(), st.integers(0, 400), st.integers(1, 21))
def test_silencing_a_source_never_makes_a_word_stronger(
    history: History, back: int, length: int
) -> None:
    """Its calls vanish and the days are not heard, wherever that is: no word that it stopped comes of it."""
    less = silenced(history, int(history.now) - back, length)
    if less.days:
        before, after = judge(history).word, judge(less).word
        assert ORDER.get(after, 0) <= ORDER.get(before, 0)


@settings(max_examples=100)
@given(st.lists(histories(), min_size=1, max_size=3), st.integers(0, 300))
def test_silencing_a_source_never_makes_the_word_for_everyone_stronger(
    histories: list[History], back: int
) -> None:
    """Two weeks without hearing, also where a client was there only then."""
    now = max(history.now for history in histories)
    every = [replace(each, now=now, unheard=[], start=0) for each in histories]
    less = [silenced(each, int(now) - back, 14) for each in every]
    before = everyone([judge(each) for each in every])
    left = [each for each in less if each.days]
    if left:
        after = everyone([judge(each) for each in left], len(left[0].unheard))
        assert ORDER.get(after.word, 0) <= ORDER.get(before.word, 0)


@given(histories(4), st.floats(0, 300))
def test_more_heard_silence_never_lowers_the_probability(history: History, days: float) -> None:
    """Neither as it is shown nor as it decides; and what is foretold of it comes true."""
    now, later = judge(history), judge(replace(history, now=history.now + days))
    assert now.probability is not None
    assert now.least is not None
    assert later.probability is not None
    assert later.least is not None
    assert later.probability >= now.probability - 1e-12
    assert later.least >= now.least - 1e-12


@given(histories(4), st.integers(-50, 50))
def test_whole_weeks_later_it_is_the_same(history: History, weeks: int) -> None:
    """Days are counted from any one day."""
    by = 7 * weeks
    moved = History(
        [day + by for day in history.days],
        history.start + by,
        history.now + by,
        [day + by for day in history.unheard],
    )
    one, other = judge(history), judge(moved)
    assert (one.word, one.reason) == (other.word, other.reason)
    assert one.interval == pytest.approx(other.interval)
    assert one.probability == pytest.approx(other.probability)
    assert one.wait_days == pytest.approx(other.wait_days)


@pytest.mark.parametrize(
    ("days", "unheard", "now"),
    [
        ([2, 4, 6, 8, 13], [9, 10, 11], 22.5),
        ([5, 6, 7, 8, 9], [0, 1, 2], 30.5),
        ([1, 3, 5, 12, 13], [6, 7, 8, 15, 16], 31.0),
        ([1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13], [0, 5, 20], 40.5),
    ],
)
def test_the_least_probability_is_below_that_of_any_calls_on_the_unheard_days(
    days: list[int], unheard: list[int], now: float
) -> None:
    """Every set of calls on them is tried, as if the days had been heard."""
    least = judge(History(days, 0, now, unheard)).least
    assert least is not None
    tried = [
        judge(History(sorted([*days, *called]), 0, now)).probability
        for number in range(len(unheard) + 1)
        for called in combinations(unheard, number)
    ]
    assert all(probability is not None and least <= probability for probability in tried)


def test_a_silence_leaves_out_the_days_that_were_not_heard() -> None:
    """40 days from noon to noon, ten of them not heard; P is that of thirty days: (1 + 30/10)^-10."""
    found = judge(History(list(range(20)), 0, 59.5, list(range(30, 40))))
    assert found.silent_days == 30.0
    assert found.probability == pytest.approx(1 / (1 + 20 * 4.0**-10))


def test_a_silence_ends_where_hearing_did() -> None:
    """Four days to the start of the first of three unheard days; nothing is said of those up to now."""
    found = judge(History(list(range(1, 21)), 0, 27.75, [25, 26, 27]))
    assert found.silent_days == 4.5
    assert judge(History(list(range(1, 21)), 0, 67.75, [65, 66, 67])).word == "cannot tell"
    assert judge(History(list(range(1, 21)), 0, 67.75, [65, 66, 67])).reason == "not_heard"


def test_words_are_those_that_the_product_promises() -> None:
    """Five, and two of them say that it stopped."""
    assert set(WORDS) == {
        "still calling",
        "cannot tell",
        "probably stopped",
        "stopped",
        "too few calls to judge",
    }
    assert set(STOP_WORDS) == {"probably stopped", "stopped"}
