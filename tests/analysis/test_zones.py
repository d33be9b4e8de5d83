"""Local buckets, checked with pandas."""

import itertools
from datetime import date

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.analysis.catalogue import resolve
from service.analysis.zones import buckets, count_at_least, start_of_day, zone_of

ZONES = "UTC Asia/Kolkata Asia/Kathmandu America/Los_Angeles Australia/Lord_Howe America/Sao_Paulo "
ZONES += "Asia/Beirut America/Havana Pacific/Apia Africa/Casablanca Europe/Dublin Asia/Tehran"
LOW, HIGH = 1_000_000_000_000_000, 1_900_000_000_000_000


@settings(max_examples=150, deadline=None)
@given(
    tz=st.sampled_from(ZONES.split()),
    since=st.integers(LOW, HIGH),
    length=st.integers(1, 40 * 86_400_000_000),
    bucket=st.sampled_from(["day", "week", "month"]),
)
def test_every_instant_lies_in_the_bucket_that_bears_its_date(
    tz: str, since: int, length: int, bucket: str
) -> None:
    """Buckets leave no hole, and both ends of each bear its label by pandas' reckoning."""
    zone = zone_of(tz)
    assert zone is not None
    made = list(buckets(since, since + length, zone, bucket))

    assert made[0].start_us <= since < made[0].end_us
    assert made[-1].start_us < since + length <= made[-1].end_us
    assert all(a.end_us == b.start_us for a, b in itertools.pairwise(made))
    assert count_at_least(since, since + length, zone, bucket) <= len(made)
    for one in made:
        for instant in (one.start_us, one.end_us - 1):
            local = pd.Timestamp(instant, unit="us", tz="UTC").tz_convert(tz).tz_localize(None)
            period = {"day": "D", "week": "W-SUN", "month": "M"}[bucket]
            assert str(local.to_period(period).start_time.date()) == one.label


@pytest.mark.parametrize(("tz", "day", "hours"), [
    ("Europe/Berlin", "2026-10-25", 25),
    ("Europe/Berlin", "2026-03-29", 23),
    ("Australia/Lord_Howe", "2026-04-05", 25),
    ("Australia/Lord_Howe", "2026-10-04", 24),
    ("Asia/Kathmandu", "2026-10-25", 24),
])  # fmt: skip
def test_a_day_has_as_many_hours_as_its_clock_shows(tz: str, day: str, hours: int) -> None:
    """An hour that the clock shows twice is two; one cut short is still one."""
    zone = zone_of(tz)
    assert zone is not None
    start = start_of_day(date.fromisoformat(day), zone)
    end = start_of_day(date.fromordinal(date.fromisoformat(day).toordinal() + 1), zone)
    made = list(buckets(start, end, zone, "hour"))

    assert len(made) == hours
    assert (made[0].start_us, made[-1].end_us) == (start, end)


@pytest.mark.parametrize("name", ["Mars/Phobos", "../../etc/passwd", "", "localtime", "posixrules"])
def test_what_is_no_zone_is_none(name: str) -> None:
    """A name is looked up, never opened."""
    assert zone_of(name) is None


def test_a_gateways_prefix_is_taken_off_where_the_rest_is_known() -> None:
    """The longest rest first, and then again; what is not known stays unknown."""
    learned = {"route", "eu.route", "MAP"}

    assert resolve(["mcp__a__route", "mcp_a_route", "x/route", "gw:eu.route", "map", "a.MAP"], learned) == {
        "mcp__a__route": "route",
        "mcp_a_route": "route",
        "x/route": "route",
        "gw:eu.route": "route",
        "a.MAP": "MAP",
    }  # fmt: skip
