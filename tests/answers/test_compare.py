"""A range against the one before it."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.events import Kind
from service.store.engine import Engine, reading
from tests.answers import world
from tests.answers.test_against_definitions import ask
from tests.answers.test_cuts import row


def at(zone: str, day: int, hour: int, month: int = 11) -> int:
    moment = datetime(2026, month, day, hour, tzinfo=ZoneInfo(zone))
    return round(moment.astimezone(UTC).timestamp() * 1e6)


def test_seven_local_days_are_compared_with_the_seven_before_also_where_the_clock_changed(
    engine: Engine,
) -> None:
    """In Los Angeles, 2026-11-01 has 25 hours: the week before Monday the 2nd has 169."""
    zone = "America/Los_Angeles"
    times = [at(zone, 25, 23, month=10), at(zone, 26, 0, month=10), at(zone, 1, 23), at(zone, 2, 0)]
    rows = [row(time_us, key, Kind.STALE_CALL) for key, time_us in enumerate(times)]
    heard = hourly(zone, range(25, 32), month=10) + hourly(zone, range(1, 9))
    rows += [row(time_us, 10 + key, Kind.LISTING) for key, time_us in enumerate(heard)]
    world.store(engine, rows)

    found = ask(engine, "compare", tz=zone, since="2026-11-02", until="2026-11-09")

    [line] = found["items"]
    assert (line["stale_calls"], line["stale_calls_before"], line["change_pct"]) == (1, 2, -50.0)
    assert (line["hours_before"], found["before"]["since"]) == (169, "2026-10-26T07:00:00.000Z")
    assert found["before"]["until"] == found["range"]["since"] == "2026-11-02T08:00:00.000Z"


def test_nothing_before_is_no_per_cent_of_anything(engine: Engine) -> None:
    """As many stands as 0.0; out of none there is no change in per cent."""
    zone = "UTC"
    world.store(engine, [row(at(zone, 2, 1), 1, Kind.STALE_CALL)])
    asked = {"since": "2026-11-02", "until": "2026-11-03"}
    [line] = ask(engine, "compare", **asked)["items"]
    assert (line["stale_calls"], line["stale_calls_before"], line["change_pct"]) == (1, 0, None)
    assert line["covered_hours_before"] == 0
    assert ask(engine, "compare", client="nobody-known", **asked)["items"] == []


def hourly(zone: str, days: range, hours: range = range(24), month: int = 11) -> list[int]:
    """An instant in each of these local hours."""
    return [at(zone, day, hour, month) for day in days for hour in hours]


def compare(engine: Engine, now_us: int, **asked: Any) -> dict[str, Any]:
    """The answer at an instant, whose clock lets lines of the next day in."""
    with reading(engine) as connection:
        return answers.compare(connection, Query.of(**asked), Moment(now_us)).as_json()


def stale(engine: Engine, times: list[int]) -> None:
    world.store(engine, [row(time_us, key, Kind.STALE_CALL) for key, time_us in enumerate(times)])


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "America/Los_Angeles"])
def test_what_has_not_come_yet_is_no_decline(engine: Engine, zone: str) -> None:
    """A call an hour from the 1st on, asked at noon of the 12th: compared are the sixty hours that have come since
    the 10th, whatever end is asked for."""
    stale(engine, hourly(zone, range(1, 12)) + hourly(zone, range(12, 13), range(12)))
    now = at(zone, 12, 12)
    for until in (None, "2026-11-13", "2026-11-17"):
        found = compare(engine, now, tz=zone, since="2026-11-10", until=until)
        [line] = found["items"]
        assert (line["matched_hours"], line["matched_calls"]) == (60, 60), until
        assert (line["matched_calls_before"], line["change_pct"]) == (60, 0.0), until
        assert found["before"]["since"] == iso(at(zone, 7, 12))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_gap_in_either_range_is_dropped_from_both(engine: Engine, zone: str, lost: str) -> None:
    """A call an hour throughout, of which the log lost three days in one range of seven; the clocks of New York
    were set back within the earlier one."""
    every = hourly(zone, range(15, 32), month=10) + hourly(zone, range(1, 15))
    day = 4 if lost == "before" else 10
    gap = range(at(zone, day, 0), at(zone, day + 3, 0))
    stale(engine, [time_us for time_us in every if time_us not in gap])
    now = at(zone, 15, 0)
    week = {"since": "2026-11-08", "until": "2026-11-15"}
    [line] = compare(engine, now, tz=zone, **week)["items"]
    assert line["stale_calls"] != line["stale_calls_before"]
    assert line["matched_hours"] in range(92, 97)  # four days, less the hours that a gap shares
    assert line["matched_calls"] == line["matched_calls_before"] == line["matched_hours"]
    assert line["change_pct"] == 0.0


def test_less_than_half_of_the_hours_is_no_comparison(engine: Engine) -> None:
    """Two of three days are lost in the range before."""
    times = hourly("UTC", range(15, 32), month=10) + hourly("UTC", range(1, 7))
    gap = range(at("UTC", 1, 0), at("UTC", 3, 1))
    stale(engine, [time_us for time_us in times if time_us not in gap])
    asked = {"since": "2026-11-04", "until": "2026-11-07"}
    [line] = compare(engine, at("UTC", 7, 0), **asked)["items"]
    assert (line["matched_hours"], line["change_pct"]) == (23, None)


RANGES = [
    # days on which the clocks change lie in the range, or in the one before it
    ("UTC", date(2026, 9, 1), 90),
    ("Asia/Kathmandu", date(2026, 10, 9), 10),
    ("America/Los_Angeles", date(2026, 10, 30), 7),
    ("America/Los_Angeles", date(2026, 3, 12), 28),
    ("Australia/Lord_Howe", date(2026, 4, 3), 3),
    ("Australia/Lord_Howe", date(2026, 10, 8), 8),
    ("Asia/Beirut", date(2026, 3, 29), 1),  # this day has no midnight
    ("Asia/Beirut", date(2026, 4, 5), 7),
    ("Europe/Berlin", date(2026, 1, 1), 12),
]


@pytest.mark.parametrize(("zone", "first", "days"), RANGES)
def test_weeks_before_hold_the_same_weekdays_to_the_last_call(
    engine: Engine, zone: str, first: date, days: int
) -> None:
    """Calls every 97 minutes, counted by their local dates; matched are equal hours of equal days."""
    weeks = -(-days // 7)
    last = first + timedelta(days=days)
    start = datetime.combine(first - timedelta(weeks=weeks, days=2), time(), ZoneInfo("UTC"))
    end = datetime.combine(last + timedelta(days=2), time(), ZoneInfo("UTC"))
    step = timedelta(minutes=97)
    moments = [start + n * step for n in range((end - start) // step)]
    stale(engine, [round(each.timestamp() * 1e6) for each in moments])
    asked = {"tz": zone, "since": str(first), "until": str(last), "shift": "weeks"}
    found = compare(engine, round(end.timestamp() * 1e6), **asked)

    here = [each.astimezone(ZoneInfo(zone)) for each in moments]
    back = timedelta(weeks=weeks)
    now = [each for each in here if first <= each.date() < last]
    was = [each for each in here if first - back <= each.date() < last - back]
    cells = [_cells(zone, day, days) for day in (first, first - back)]
    both = cells[0] & cells[1]
    expected = {
        "stale_calls": len(now),
        "stale_calls_before": len(was),
        "matched_hours": len(both),
        "matched_calls": sum(_cell(each, first) in both for each in now),
        "matched_calls_before": sum(_cell(each, first - back) in both for each in was),
    }
    [line], totals = found["items"], found["totals"]
    assert {key: line[key] for key in expected} == expected
    assert {key: totals[key] for key in expected} == expected
    assert found["weeks"] == weeks


def _cell(moment: datetime, first: date) -> tuple[int, int]:
    """(day of the range, hour since that day began); what is beyond the 24th is in the 24th."""
    began = _began(str(moment.tzinfo), moment.date())
    return (moment.date() - first).days, min((moment - began) // timedelta(hours=1), 23)


@cache
def _began(zone: str, day: date) -> datetime:
    """The first quarter of an hour that bears this date in that zone; its offset is one of UTC."""
    start = datetime.combine(day, time(), UTC) - timedelta(days=1)
    every = (start + timedelta(minutes=15 * n) for n in range(4 * 72))
    return next(each for each in every if each.astimezone(ZoneInfo(zone)).date() == day)


def _cells(zone: str, first: date, days: int) -> set[tuple[int, int]]:
    """Every such hour of the range."""
    start = datetime.combine(first, time(), UTC) - timedelta(days=1)
    every = (start + timedelta(minutes=30 * n) for n in range(48 * (days + 2)))
    local = [each.astimezone(ZoneInfo(zone)) for each in every]
    return {_cell(each, first) for each in local if 0 <= (each.date() - first).days < days}


def test_too_little_heard_in_both_is_no_comparison_and_says_why(engine: Engine) -> None:
    """The log begins four days before the end of a week: three of its seven days match at most."""
    stale(engine, hourly("UTC", range(11, 15)))
    now = at("UTC", 15, 0)
    week = {"since": "2026-11-08", "until": "2026-11-15", "shift": "weeks"}
    totals = compare(engine, now, **week)["totals"]
    assert (totals["word"], totals["why"], totals["pct"]) == (
        "cannot_compare",
        "short_history",
        None,
    )
    assert (totals["stale_calls"], totals["stale_calls_before"]) == (96, 0)


@pytest.mark.parametrize(("calls", "pct"), [(29, None), (30, 0.0)])
def test_a_percentage_needs_thirty_calls_in_both_weeks(
    engine: Engine, calls: int, pct: float | None
) -> None:
    """Below, the numbers stand for themselves."""
    heard = hourly("UTC", range(1, 15))
    rows = [row(time_us, key, Kind.LISTING) for key, time_us in enumerate(heard)]
    for day in (1, 8):
        times = hourly("UTC", range(day, day + 2))[:calls]
        rows += [
            row(time_us, 1000 * day + key, Kind.STALE_CALL) for key, time_us in enumerate(times)
        ]
    world.store(engine, rows)
    week = {"since": "2026-11-08", "until": "2026-11-15", "shift": "weeks"}
    totals = compare(engine, at("UTC", 15, 0), **week)["totals"]
    assert (totals["word"], totals["matched_calls"], totals["pct"]) == ("equal", calls, pct)
