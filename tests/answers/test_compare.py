"""A range against the one before it."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from service.events import Kind
from service.store.engine import Engine
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
