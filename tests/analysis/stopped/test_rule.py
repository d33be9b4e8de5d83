"""What is said of one client's silence."""

import math

import pytest

from service.analysis.stopped import History, judge, opinions, rate_bound

DAILY = list(range(1, 21))
WEEKLY = list(range(2, 80, 7))


@pytest.mark.parametrize(
    ("days", "now", "probability", "interval", "wait"),
    [
        (DAILY, 27.5, 0.910, (0.774, 1.000), 1.1),
        (DAILY, 32.5, 0.992, (0.907, 1.000), 0.0),
        (WEEKLY, 94.5, 0.367, None, None),
        (WEEKLY, 110.5, 0.765, (0.561, 1.0), 19.5),
        (WEEKLY, 140.5, 0.978, (0.726, 1.0), 0.0),
        ([5, 35, 65, 95], 140.5, 0.458, None, 246),
        ([3, 4, 11, 12, 20], 60.5, 0.962, (0.305, 1.0), 0.0),
    ],
    ids=["daily", "daily-later", "weekly", "weekly-later", "weekly-last", "monthly", "burst"],
)
def test_the_worked_examples_of_the_rule_hold(
    days: list[int],
    now: float,
    probability: float,
    interval: tuple[float, float] | None,
    wait: float | None,
) -> None:
    """Worked out apart from this code: daily, weekly and monthly callers, and a burst."""
    found = judge(History(days, 0, now))
    assert found.probability == pytest.approx(probability, abs=1e-3)
    if interval is not None:
        assert found.interval == pytest.approx(interval, abs=1e-3)
    if wait is not None:
        assert found.wait_days == pytest.approx(wait, abs=0.5 if wait > 100 else 0.05)


@pytest.mark.parametrize(
    ("days", "now", "word"),
    [
        (DAILY, 27.5, "cannot tell"),
        (DAILY, 32.5, "probably stopped"),
        (DAILY, 62.5, "stopped"),
        (WEEKLY, 94.5, "still calling"),
        ([5, 35, 65], 900.5, "too few calls to judge"),
    ],
)
def test_each_word_has_its_place(days: list[int], now: float, word: str) -> None:
    """Below 0.5, in between, from 0.95, from 0.95 by all four models, and fewer than four days."""
    assert judge(History(days, 0, now)).word == word


def test_too_few_days_give_no_number() -> None:
    """Only the silence is said: 900.5 less the noon of day 65."""
    found = judge(History([5, 35, 65], 0, 900.5))
    assert found.reason == "too_few"
    assert (found.probability, found.interval, found.wait_days) == (None, None, None)
    assert found.silent_days == 835.0


def test_after_the_wait_it_has_probably_stopped_and_before_it_not() -> None:
    """The wait of a weekly caller, asked a minute too early and a minute late."""
    wait = judge(History(WEEKLY, 0, 110.5)).wait_days
    assert wait is not None
    assert judge(History(WEEKLY, 0, 110.5 + wait - 1 / 1440)).word == "cannot tell"
    assert judge(History(WEEKLY, 0, 110.5 + wait + 1 / 1440)).word == "probably stopped"


def test_on_the_day_of_a_call_there_is_no_silence() -> None:
    """A day counts at its noon; at six in the morning the silence is none, not less than none."""
    found = judge(History(DAILY, 0, 20.25))
    assert found.silent_days == 0.0
    assert found.probability == pytest.approx(1 / 21)
    assert found.word == "still calling"


def test_sessions_without_a_call_can_only_take_away_from_the_word() -> None:
    """
    A daily caller, one session a day. Silent for 42 days it has stopped; with two sessions since, p by
    sessions is (1 + 2/10)^-10 = 0.1615, and 1 / (1 + 20 x 0.1615) = 0.2364.
    """
    sessions = ([*DAILY, 40, 50], [1] * 22)
    found = judge(History(DAILY, 0, 62.5, sessions=sessions, last_seen=50))
    assert found.by_sessions == pytest.approx(0.2364, abs=5e-5)
    assert (found.word, found.reason, found.seen_since) == ("probably stopped", "sessions", 2)
    assert found.silent_altogether is False


def test_many_sessions_without_a_call_leave_the_word_as_it_is() -> None:
    """A hundred sessions since, where one came with each day of calls before."""
    sessions = ([*DAILY, 40], [1] * 20 + [100])
    found = judge(History(DAILY, 0, 62.5, sessions=sessions, last_seen=40))
    assert (found.word, found.reason, found.seen_since) == ("stopped", None, 100)


def test_many_sessions_do_not_make_a_word_stronger() -> None:
    """By sessions a week of silence is certain, by days it is not."""
    sessions = ([*DAILY, 22], [1] * 20 + [1000])
    found = judge(History(DAILY, 0, 27.5, sessions=sessions, last_seen=22))
    assert found.by_sessions is not None
    assert found.by_sessions > 0.999
    assert found.word == "cannot tell"


def test_a_client_that_is_not_seen_at_all_may_be_offline() -> None:
    """Seen on the day of its last call and not since; where no other event ever came, nobody can say."""
    assert judge(History(DAILY, 0, 40.5, last_seen=20)).silent_altogether is True
    assert judge(History(DAILY, 0, 40.5, last_seen=21)).silent_altogether is False
    assert judge(History(DAILY, 0, 40.5)).silent_altogether is None


def test_what_was_said_to_be_fixed_has_stopped_until_it_is_called_again() -> None:
    """No statistics: no number. A single call is too little to judge by."""
    fixed = judge(History([], 21, 40.5, resolved=True))
    assert (fixed.word, fixed.reason, fixed.probability) == ("stopped", "said_fixed", None)
    assert fixed.silent_days == 19.5
    assert judge(History([30], 21, 40.5, resolved=True)).word == "too few calls to judge"
    assert judge(History([], 21, 40.5, unheard=[30], resolved=True)).word == "cannot tell"


def test_thirty_quiet_days_bound_the_rate_at_one_in_ten_days() -> None:
    """exp(-0.1 x 30) = 0.0498: the chance of no call in 30 days is below 5 %."""
    assert rate_bound(30) == pytest.approx(0.1)
    assert math.exp(-0.1 * 30) < 0.05
    assert rate_bound(0) is None


def test_second_opinions_count_from_the_first_active_day() -> None:
    """The monk seal's years as days: 0.0533 and 0.374, seen 1915 to 1952 and asked in 1992."""
    found = opinions(History([0, 7, 17, 33, 37], 0, 77.5))
    assert found is not None
    assert found.solow == pytest.approx(0.0533, abs=5e-5)
    assert found.bayes_factor == pytest.approx(0.374, abs=5e-4)
    assert opinions(History([0, 7, 17], 0, 77.5)) is None
