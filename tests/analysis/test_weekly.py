"""Which word stands out of one look a week: by hand, week by week."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.weekly import CAUGHT_UP, WEEK_US, Standing, due, monday, standing
from service.clock import DAY_US


def us(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1e6)


M = [us("2026-10-05") + n * WEEK_US for n in range(12)]
"""Mondays, the first of them 2026-10-05."""


def told(words: str) -> list[Standing]:
    """What stands after each week's letter; `.` is a Monday without a look."""
    return standing([(M[n], word) for n, word in enumerate(words) if word != "."])


@pytest.mark.parametrize(("words", "stands", "changes"), [
    ("", [], []),
    ("A", [None], []),
    ("AA", [None, "A"], []),
    ("AAB", [None, "A", "A"], []),
    ("AABB", [None, "A", "A", "B"], [3]),
    ("AABBB", [None, "A", "A", "B", "B"], [3]),
    ("ABAB", [None] * 4, []),
    ("AABABAB", [None, *"AAAAAA"], []),
    ("AABABB", [None, *"AAAAB"], [5]),
    ("AABAA", [None, *"AAAA"], []),
    ("AABBAA", [None, *"AABBA"], [3, 5]),
    ("ABB", [None, None, "B"], []),
    ("ABCC", [None, None, None, "C"], []),
    ("AABC", [None, *"AAA"], []),
], ids=str)  # fmt: skip
def test_a_word_stands_once_two_weeks_agreed_and_falls_once_two_agree_on_another(
    words: str, stands: list[str | None], changes: list[int]
) -> None:
    """The first that stands takes nobody's place, so it is no change."""
    found = told(words)
    assert [each.word for each in found] == stands
    assert [n for n, each in enumerate(found) if each.changed] == changes


def test_since_when_a_word_stands_is_the_monday_that_confirmed_it() -> None:
    """And what stood before it is told for as long as it stands."""
    found = told("AABBA")
    assert [each.since_us for each in found] == [None, M[1], M[1], M[3], M[3]]
    assert [each.before for each in found] == [None, None, None, "A", "A"]


@pytest.mark.parametrize(
    ("words", "stands"),
    [("A.A", [None, None]), ("AA.B.B", [None, *"AAA"]), ("AA.BB", [None, *"AAB"])],
)
def test_a_monday_without_a_look_confirms_nothing_and_unseats_nothing(
    words: str, stands: list[str | None]
) -> None:
    """Two equal looks with a hole between them are not two in a row."""
    assert [each.word for each in told(words)] == stands


def test_no_answer_is_a_word_like_any_other() -> None:
    """A claim falls when two looks in a row could not tell, and not when one could not."""
    reduced, nothing = "reduced", "not enough data"
    looks = [reduced, reduced, nothing, reduced, nothing, nothing]
    found = standing(zip(M, looks, strict=False))
    assert [each.word for each in found] == [None, *[reduced] * 4, nothing]
    assert found[-1] == Standing(nothing, M[5], reduced, changed=True)


@given(st.lists(st.sampled_from("AB."), max_size=12))
def test_a_change_has_two_equal_weeks_behind_it_and_never_the_same_word(words: list[str]) -> None:
    """Whatever the weeks say; and what stands after a week is not told by later ones."""
    found = told("".join(words))
    looks = [(n, word) for n, word in enumerate(words) if word != "."]
    for place, each in enumerate(found):
        if each.changed:
            (week, word), (week_before, word_before) = looks[place], looks[place - 1]
            assert word == word_before == each.word != each.before
            assert week == week_before + 1
    for cut in range(len(words)):
        part = told("".join(words[:cut]))
        assert part == found[: len(part)]


@pytest.mark.parametrize(("at", "expected"), [
    ("2026-11-09T00:00:00", "2026-11-09"),
    ("2026-11-15T23:59:59.999999", "2026-11-09"),
    ("1970-01-01T00:00:00", "1969-12-29"),
    ("2024-02-29T12:00:00", "2024-02-26"),
])  # fmt: skip
def test_a_week_begins_on_monday_at_midnight_utc(at: str, expected: str) -> None:
    """By the calendar."""
    assert monday(us(at)) == us(expected)
    assert datetime.fromisoformat(expected).isoweekday() == 1


def test_mondays_that_were_missed_are_due_up_to_eight_and_none_before_the_first_event() -> None:
    """A Monday at the very instant of the first event has nothing before it."""
    wednesday = M[11] + 2 * DAY_US
    assert due(wednesday, 0, ()) == tuple(M[4:])
    assert len(due(wednesday, 0, ())) == CAUGHT_UP == 8
    assert due(wednesday, M[9], {M[11]}) == (M[10],)
    assert due(wednesday, M[9] - 1, {M[11]}) == (M[9], M[10])
    assert due(M[11] - 1, 0, M[:10]) == (M[10],)
    assert due(wednesday, wednesday - 1, ()) == ()
