"""Observed against expected, week by week."""

from dataclasses import replace

import numpy as np
import pytest

from service.analysis.effect import effect, event_study, weeks
from tests.analysis.effect.worlds import FIRST_DAY, even, read


@pytest.mark.parametrize("name", ["p1", "p5"])
def test_weeks_add_up_to_what_the_verdict_rests_on(name: str) -> None:
    """By the calendar and since notification alike, and before it to all calls before."""
    world = read(name)
    whole = effect(world)
    by_calendar = [each for each in weeks(world) if each.notified is not None]
    since = event_study(world, reach=12)
    after = [each for each in since if each.week >= 0]

    assert sum(each.notified or 0 for each in by_calendar) == whole.observed
    assert sum(each.expected or 0 for each in by_calendar) == pytest.approx(whole.expected)
    assert sum(each.observed for each in after) == whole.observed
    assert sum(each.expected for each in after) == pytest.approx(whole.expected)


def test_weeks_begin_on_monday_and_cover_the_panel() -> None:
    """84 days from a Monday are twelve weeks; 84 from the day after touch thirteen."""
    world = read("p1")

    assert [each.start for each in weeks(world)] == [FIRST_DAY + 7 * week for week in range(12)]
    later = weeks(replace(world, first_day=FIRST_DAY + 1, notified=world.notified + 1))
    assert [each.start for each in later] == [FIRST_DAY + 7 * week for week in range(13)]


def test_a_week_without_anyone_to_compare_with_has_no_number() -> None:
    """After everybody was notified nothing is expected of anyone; it is not zero."""
    found = weeks(read("p4"))

    assert [each.expected for each in found] == [None] * 12
    assert [each.notified for each in found] == [None] * 12
    assert found[0].others is not None
    assert found[-1].others is None


def test_an_even_world_halves_in_every_week_after_and_is_level_before() -> None:
    """14 days, the day of the notification, 13 days."""
    found = {each.week: each for each in event_study(even(6, 4))}

    assert sorted(found) == [-2, -1, 0, 1]
    assert [found[week].rate_ratio for week in sorted(found)] == pytest.approx([1, 1, 0.5, 0.5])
    assert [found[week].clients for week in sorted(found)] == [6] * 4
    assert [found[week].observed for week in sorted(found)] == [84, 84, 42, 36]


def test_what_fell_is_outside_the_band_of_its_weeks() -> None:
    """Where the band is, a week of its own would say that calls fell."""
    found = [each for each in weeks(even(6, 4)) if each.band is not None]

    assert [each.notified for each in found] == [36, 42]
    assert [each.expected for each in found] == pytest.approx([72, 84])
    for each in found:
        assert each.band is not None
        low, high = each.band
        assert each.notified is not None
        assert each.notified < low < 72 < (high or 0)


def test_a_decline_before_the_notification_shows_as_a_slope() -> None:
    """Clients that were to be notified called less each day, others as ever; nothing happened then."""
    world = even(6, 6, weeks=8, before=20, after=20)
    calls = world.calls.copy()
    calls[:6] = np.round(60 * 0.95 ** np.arange(56))

    before = [each.rate_ratio for each in event_study(replace(world, calls=calls)) if each.week < 0]

    assert len(before) == 4
    assert before == sorted(before, reverse=True)
    assert before[0] > 1.1
    assert before[-1] < 0.9


def test_a_week_of_few_clients_has_no_interval() -> None:
    """Three clients say how they did, and not how others would have."""
    found = event_study(even(3, 6))

    assert [each.interval for each in found] == [None] * 4


def test_a_gap_shows_in_its_week() -> None:
    """Seven of fourteen cells of the two weeks that it touches."""
    world = even(6, 4)
    covered = world.covered.copy()
    covered[:5, 3:11] = False

    shares = [each.covered for each in weeks(replace(world, covered=covered))]

    assert shares == pytest.approx([1 - 4 / 14, 1 - 4 / 14, 1, 1])
