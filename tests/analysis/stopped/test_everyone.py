"""What is said of all clients of a name together."""

import pytest

from service.analysis.stopped import History, Judged, everyone, judge, unseen_chance

DAILY = list(range(1, 21))


def caller(days: list[int], now: float = 140.5) -> Judged:
    """A client, every day heard."""
    return judge(History(days, 0, now))


ALIVE = caller(list(range(6, 140, 7)))
QUIET = caller(DAILY)
ONCE = caller([8])
MIDDLE = caller([*range(2, 80, 7), 109])


def test_everyone_is_the_product_with_bounds_for_any_dependence() -> None:
    """0.910 and 0.765 as in the worked examples: 0.696, at least 0.910 + 0.765 - 1, at most the less of them."""
    daily = caller(DAILY, 27.5)
    weekly = caller(list(range(2, 80, 7)), 110.5)
    found = everyone([daily, weekly])
    assert found.probability == pytest.approx(0.9097 * 0.7652, abs=1e-3)
    assert found.bounds == pytest.approx((0.9097 + 0.7652 - 1, 0.7652), abs=1e-3)
    assert found.weakest == 1
    assert found.word == "cannot tell"


def test_one_client_that_goes_on_is_everyone_still_calling() -> None:
    """Whatever the others do, also where one has too few calls; and it is named."""
    found = everyone([QUIET, ONCE, ALIVE])
    assert (found.word, found.weakest) == ("still calling", 2)
    assert everyone([QUIET, ALIVE]).word == "still calling"


def test_one_client_with_too_few_calls_leaves_no_word_and_no_number() -> None:
    """It may call once a year."""
    found = everyone([QUIET, ONCE])
    assert (found.word, found.reason) == ("too few calls to judge", "too_few")
    assert (found.probability, found.interval, found.bounds, found.wait_days) == (None,) * 4
    assert found.weakest == 1


def test_when_all_have_stopped_everyone_has() -> None:
    """With one client the word is its own; with two the product is the square, and their doubts add up."""
    long_quiet = caller(DAILY, 500.5)
    assert long_quiet.probability is not None
    assert everyone([long_quiet]).word == long_quiet.word == "stopped"
    found = everyone([long_quiet, long_quiet])
    assert found.word == "probably stopped"
    assert found.probability == pytest.approx(long_quiet.probability**2)
    assert found.wait_days == 0.0


def test_many_that_have_probably_stopped_leave_doubt_together() -> None:
    """Ten at 0.977 each are all stopped at 0.79 only; they are sure after a further wait."""
    weekly = caller(list(range(2, 80, 7)))
    found = everyone([weekly] * 10)
    assert weekly.word == "probably stopped"
    assert found.probability == pytest.approx(0.9777**10, abs=1e-3)
    assert found.word == "cannot tell"
    assert found.wait_days is not None
    later = caller(list(range(2, 80, 7)), 140.5 + found.wait_days + 0.02).probability
    assert later is not None
    assert later**10 >= 0.95
    sooner = caller(list(range(2, 80, 7)), 140.5 + found.wait_days - 0.02).probability
    assert sooner is not None
    assert sooner**10 < 0.95


def test_the_word_for_everyone_is_never_stronger_than_that_of_the_weakest() -> None:
    """One that has only probably stopped."""
    weekly = caller(list(range(2, 80, 7)), 500.5)
    assert everyone([QUIET, weekly]).word in ("probably stopped", weekly.word)


def test_days_that_were_not_heard_leave_everyone_open() -> None:
    """Somebody may have called only then; no wait mends that."""
    found = everyone([QUIET], unheard_days=14)
    assert (found.word, found.reason, found.wait_days) == ("cannot tell", "gap", None)


def test_whoever_was_said_to_be_fixed_is_left_out_until_it_calls() -> None:
    """With nobody else, that is the whole answer, without a number."""
    fixed = judge(History([], 21, 140.5, resolved=True))
    assert everyone([fixed, ALIVE]).word == "still calling"
    assert everyone([fixed, QUIET]).probability == QUIET.probability
    alone = everyone([fixed])
    assert (alone.word, alone.reason, alone.probability) == ("stopped", "said_fixed", None)


def test_the_next_call_is_of_a_client_never_seen_as_often_as_days_stand_alone() -> None:
    """Good & Turing: of 1 + 1 + 8 active days two are of clients with no other."""
    assert unseen_chance([1, 1, 8]) == pytest.approx(0.2)
    assert unseen_chance([4, 8]) == 0
    assert unseen_chance([]) is None


def test_a_name_that_nobody_ever_called_is_not_judged() -> None:
    """No data is not zero: silence since it was retired says no more than how rare calls may be."""
    found = everyone([])
    assert (found.word, found.reason, found.weakest) == ("too few calls to judge", "no_calls", None)
