"""Notifications over time: by hand, against a plain count of the events, and as of any instant."""

import random
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from service.answers.query import iso
from service.errors import BadParameter
from service.events import Kind
from service.store.engine import Engine, writing
from service.store.schema import activity
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.world import DAY
from tests.told import Told

HOUR = 3_600_000_000
MINUTE = HOUR // 60
EASTERN = "America/New_York"


def at(text: str) -> int:
    """Microseconds of an instant in UTC."""
    return round(datetime.fromisoformat(f"{text}+00:00").timestamp() * 1e6)


def sent(time: str | int, client: str | None = None, session: str | None = None) -> Told:
    """A notification of server `maps`, at an instant in UTC."""
    time_us = time if isinstance(time, int) else at(time)
    key = random.Random(f"{time_us} {client} {session}").randrange(2**62)
    return Told(
        time_us=time_us,
        key=key,
        kind=Kind.NOTIFICATION,
        server="maps",
        client=client,
        session=session,
    )


def hello(time: str, client: str, session: str) -> Told:
    return Told(
        time_us=at(time), key=1, kind=Kind.HELLO, server="maps", client=client, session=session
    )


def series(engine: Engine, **asked: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = ask(engine, "series", metric="notifications", **asked)["items"]
    return items


def values(engine: Engine, **asked: Any) -> list[tuple[str, int]]:
    return [(row["label"], row["value"]) for row in series(engine, **asked)]


def notifications(seed: int, start: int, days: int = 9) -> list[Told]:
    """Random notifications of two servers, and hellos that name the clients of some sessions."""
    rows = world.random_rows(seed, start, start + days * DAY, 2_500)
    return [row for row in rows if row.kind in (Kind.NOTIFICATION, Kind.HELLO)]


# ----------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(("zone", "expected"), [
    ("UTC", {"2026-10-30": 2, "2026-10-31": 1, "2026-11-01": 4, "2026-11-02": 2}),
    ("Asia/Kolkata", {"2026-10-30": 1, "2026-10-31": 1, "2026-11-01": 3, "2026-11-02": 4}),
    (EASTERN, {"2026-10-30": 2, "2026-10-31": 2, "2026-11-01": 4, "2026-11-02": 1}),
])  # fmt: skip
def test_a_day_is_a_local_day(engine: Engine, zone: str, expected: dict[str, int]) -> None:
    """Midnight in Kolkata is 18:30 UTC; the first of November has 25 hours in New York."""
    times = [
        "2026-10-30T18:29:59.999999", "2026-10-30T18:30:00", "2026-10-31T20:00:00",
        "2026-11-01T03:59:59.999999", "2026-11-01T04:00:00", "2026-11-01T18:30:00",
        "2026-11-01T23:59:59.999999", "2026-11-02T04:59:59.999999", "2026-11-02T05:00:00",
    ]  # fmt: skip
    world.store(engine, [sent(time) for time in times])

    assert dict(values(engine, tz=zone, until="2026-11-03")) == expected


def test_the_hour_that_comes_twice_is_two_hours(engine: Engine) -> None:
    """01:30 before and after the clock is set back; every hour of the day is there."""
    world.store(engine, [sent("2026-11-01T05:30:00"), sent("2026-11-01T06:30:00")])

    found = values(engine, tz=EASTERN, bucket="hour", since="2026-11-01", until="2026-11-02")

    assert len(found) == 25
    assert [pair for pair in found if pair[1]] == [
        ("2026-11-01T01:00:00-04:00", 1),
        ("2026-11-01T01:00:00-05:00", 1),
    ]


def test_a_zone_off_the_quarter_hours_is_exact(engine: Engine) -> None:
    """Until 1972 Monrovia was 44 minutes and 30 seconds behind, so its day began within a quarter-hour."""
    times = ["1971-05-02T00:44:29.999999", "1971-05-02T00:44:30", "1971-05-02T00:59:00"]
    world.store(engine, [sent(time) for time in [*times, "1971-05-02T01:00:00"]])

    found = values(engine, tz="Africa/Monrovia", since="1971-05-01", until="1971-05-03")

    assert found == [("1971-05-01", 1), ("1971-05-02", 3)]


@pytest.mark.parametrize(("since", "until", "expected"), [
    ("10:00:00", "10:00:01", 1),
    ("10:00:00.000001", "10:07:00", 1),
    ("10:01:00", "10:06:00", 1),
    ("10:01:00", "10:04:00", 0),
    ("10:05:00.000001", "10:15:00", 0),
    ("09:59:59", "10:15:00", 2),
    ("10:05:00", "10:15:00.000001", 2),
    ("10:15:00", "11:00:00", 1),
    ("09:00:00", "11:00:00", 3),
])  # fmt: skip
def test_a_range_may_cut_a_quarter_hour(
    engine: Engine, since: str, until: str, expected: int
) -> None:
    """Its start is in it, its end is not, to the microsecond; sent at 10:00, 10:05 and 10:15."""
    day = "2026-10-05T"
    world.store(engine, [sent(f"{day}{time}") for time in ("10:00:00", "10:05:00", "10:15:00")])

    found = series(engine, since=f"{day}{since}Z", until=f"{day}{until}Z")

    assert [row["value"] for row in found] == [expected]


def test_clients_are_those_of_the_line_or_of_its_session(engine: Engine) -> None:
    """A hello that comes later names them too; who is named by nothing is a row of its own."""
    world.store(
        engine,
        [
            sent("2026-10-05T10:00:00", session="a"),
            sent("2026-10-05T11:00:00", session="a"),
            sent("2026-10-06T10:00:00", client="Claude-Code"),
            sent("2026-10-05T12:00:00", client="zed"),
            sent("2026-10-05T13:00:00", session="b"),
            sent("2026-10-06T13:00:00"),
            hello("2026-10-06T09:00:00", "claude-code/1.2", "a"),
        ],
    )  # fmt: skip

    def rows(**more: Any) -> list[tuple[str, str | None, int]]:
        found = series(engine, by="client", until="2026-10-07", **more)
        return [(row["label"][-2:], row["client"], row["value"]) for row in found]

    assert rows() == [
        ("05", "Claude-Code", 2), ("05", None, 1), ("05", "zed", 1),
        ("06", "Claude-Code", 1), ("06", None, 1), ("06", "zed", 0),
    ]  # fmt: skip
    assert rows(client="") == [("05", None, 1), ("06", None, 1)]
    assert rows(client="ZED") == [("05", "zed", 1), ("06", "zed", 0)]
    before = {"as_of": "2026-10-06T00:00:00Z"}
    assert [row for row in rows(**before) if row[2]] == [("05", None, 3), ("05", "zed", 1)]


def test_the_first_n_and_the_others_are_all(engine: Engine) -> None:
    """`other` says how many clients it holds; what names no client stays beside it."""
    world.store(
        engine,
        [
            sent(f"2026-10-05T{hour:02}:{minute:02}:00", client=f"c{hour}" if hour else None)
            for hour in range(6)
            for minute in range(6 - hour)
        ],
    )

    found = series(engine, by="client", top=2, until="2026-10-06")

    rows = [(row["client"], row["value"], row.get("members")) for row in found]
    assert rows == [(None, 6, None), ("c1", 5, None), ("c2", 4, None), ("other", 6, 3)]


def test_other_servers_and_other_kinds_are_left_out(engine: Engine) -> None:
    """Listings of the same quarter-hour are none; without a notification every value is 0."""
    listing = Told(time_us=at("2026-10-05T10:00:00"), key=5, kind=Kind.LISTING, server="shop")
    world.store(engine, [sent("2026-10-05T10:00:00"), listing])

    assert values(engine, until="2026-10-06") == [("2026-10-05", 1)]
    assert values(engine, until="2026-10-06", server="maps") == [("2026-10-05", 1)]
    assert values(engine, until="2026-10-06", server="shop") == [("2026-10-05", 0)]
    assert values(engine, until="2026-10-06", server="nobody") == []


def test_hours_without_a_line_are_no_zeros(engine: Engine) -> None:
    """`covered` is that of every series."""
    world.store(engine, [sent(FALL + n * HOUR) for n in (*range(14 * 24), 20 * 24)])
    asked = {"since": iso(FALL), "until": iso(FALL + 21 * DAY)}

    found = series(engine, **asked)

    calls = ask(engine, "series", metric="stale_calls", **asked)["items"]
    assert [row["covered"] for row in found] == [row["covered"] for row in calls]
    assert [row["value"] for row in found] == [24] * 14 + [0] * 6 + [1]
    assert [row["covered"] for row in found[13:20]] == [True, *[False] * 6]


@pytest.mark.parametrize(("asked", "says"), [
    ({"name": "route"}, "name: a notification is about the whole list of tools and no name of it; leave"),
    ({"by": "name"}, "by: notifications have no name; use one of none, client"),
    ({"by": "version"}, "by: notifications have no version; use one of none, client"),
])  # fmt: skip
def test_what_notifications_do_not_have_is_refused(
    engine: Engine, asked: dict[str, str], says: str
) -> None:
    """With what would do instead."""
    with pytest.raises(BadParameter, match=says):
        series(engine, **asked)


# ----------------------------------------------------------------------------- against the events


def labels(times: "pd.Series[Any]", tz: str, bucket: str) -> "pd.Series[Any]":
    """The bucket of each instant (µs), by pandas."""
    local = pd.to_datetime(times, unit="us", utc=True).dt.tz_convert(tz)
    if bucket == "hour":
        return local.map(lambda t: t.replace(minute=0, second=0, microsecond=0).isoformat())
    naive = local.dt.tz_localize(None)
    if bucket == "week":
        naive -= pd.to_timedelta(naive.dt.day_of_week, unit="D")
    return naive.dt.strftime("%Y-%m-01" if bucket == "month" else "%Y-%m-%d")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cut", [None, 4 * DAY + 11 * HOUR + 7 * MINUTE + 3])
@pytest.mark.parametrize("tz", ["UTC", "Asia/Kolkata", EASTERN, "Asia/Kathmandu"])
def test_series_are_what_a_plain_count_of_the_events_is(
    engine: Engine, tz: str, cut: int | None
) -> None:
    """Over ten days in which New York sets its clock back, cut within quarter-hours on both sides."""
    world.store(engine, notifications(5, FALL - 2 * DAY, 10))
    since, until = FALL - DAY - 17 * MINUTE - 1, FALL + 7 * DAY + 23 * MINUTE
    asked: dict[str, Any] = {"since": iso(since), "until": iso(until), "tz": tz}
    if cut is not None:
        until = FALL + cut
        asked["as_of"] = iso(until)
    page = ask(engine, "events", kind="notification", sort="time", limit=1000, **asked)
    assert page["next_cursor"] is None
    events = pd.DataFrame(page["items"])
    assert len(events) > 50
    # a client is shown as its latest line of any kind spells it, so clients are compared by key
    events["key"] = events["client"].str.lower().fillna("")
    past = pd.to_datetime(events["time"], format="ISO8601") - pd.Timestamp(0, tz="UTC")
    quarters = pd.Series([*range(since, until, 15 * MINUTE), until - 1])

    for bucket in ("hour", "day", "week", "month"):
        events["label"] = labels(past // pd.Timedelta("1us"), tz, bucket)

        found = series(engine, bucket=bucket, **asked)
        assert [row["label"] for row in found] == list(labels(quarters, tz, bucket).unique())
        by_label = events.groupby("label").size().to_dict()
        assert {row["label"]: row["value"] for row in found if row["value"]} == by_label

        found = series(engine, bucket=bucket, by="client", **asked)
        by_client = events.groupby(["label", "key"]).size().to_dict()
        assert {
            (row["label"], (row["client"] or "").lower()): row["value"]
            for row in found
            if row["value"]
        } == by_client
        assert len(found) == len(labels(quarters, tz, bucket).unique()) * events["key"].nunique()


@pytest.mark.parametrize("by", ["none", "client"])
@pytest.mark.parametrize("seed", [1, 2])
def test_as_of_an_instant_nothing_later_shows(
    new_engine: Callable[[], Engine], seed: int, by: str
) -> None:
    """Hellos that come after the instant name nobody yet; cuts lie anywhere within quarter-hours."""
    rows = notifications(seed, FALL)
    full = new_engine()
    world.store(full, rows)
    for number in range(3):
        as_of = FALL + random.Random(seed * 10 + number).randrange(DAY, 9 * DAY)
        cut = new_engine()
        world.store(cut, [row for row in rows if row.time_us < as_of])
        for more in ({}, {"client": "claude-code"}, {"server": "shop", "tz": "Asia/Kolkata"}):
            answer, expected = (
                series(engine, as_of=iso(as_of), by=by, **more) for engine in (full, cut)
            )
            assert answer == expected
            assert answer


# ----------------------------------------------------------------------------- what is read


@pytest.mark.parametrize(("zone", "shown"), [("UTC", 1_000), ("Africa/Monrovia", 0)])
def test_whole_quarter_hours_are_read_from_the_roll_up(
    engine: Engine, zone: str, shown: int
) -> None:
    """1,000 that are added by hand to a quarter-hour show; not where a day begins within it."""
    world.store(engine, [sent("1971-05-02T00:44:00"), sent("1971-05-02T12:00:00")])
    asked = {"tz": zone, "since": "1971-05-01", "until": "1971-05-04"}
    before = sum(value for _, value in values(engine, **asked))

    with writing(engine) as connection:
        cell = activity.c.quarter == at("1971-05-02T00:30:00") // (15 * MINUTE)
        changed = connection.execute(sa.update(activity).where(cell).values(events=1_001))
        assert changed.rowcount == 1

    assert before == 2
    assert sum(value for _, value in values(engine, **asked)) == before + shown
