"""The overview's periods, states and pictures, in worlds counted by hand."""

import pytest

from service.answers.query import iso
from service.store.engine import Engine
from tests.answers.overview_world import DAY, END, HOUR, ask, call, days, store, windows


def test_a_window_holds_its_first_instant_and_not_its_last(engine: Engine) -> None:
    """Calls exactly at the seven edges and one microsecond before each, counted by hand."""
    edges = [-90, -56, -30, -28, -7, 0]
    store(
        engine,
        [call(day * DAY - before, f"c{day}-{before}") for day in edges for before in (0, 1)],
        days(91, 0),
    )

    (row,) = ask(engine, as_of=iso(END))["items"]

    # at -90: 1; -56: 2; -30: 2; -28: 2; -7: 2; and the microsecond before 0
    assert windows(row, "days") == [7, 30, 90]
    assert windows(row, "stale_calls") == [2, 6, 10]
    assert windows(row, "clients") == [2, 6, 10]
    assert windows(row, "callers") == [2, 6, 10]
    assert windows(row, "since") == [iso(END - day * DAY) for day in (7, 30, 90)]
    assert set(windows(row, "until")) == {iso(END)}
    assert (row["change"]["stale_calls"], row["change"]["stale_calls_before"]) == (4, 4)
    assert (row["change"]["clients"], row["change"]["clients_before"]) == (4, 4)
    change = {key: row["change"][key] for key in ("before_since", "since", "until")}
    assert change == {
        "before_since": iso(END - 56 * DAY),
        "since": iso(END - 28 * DAY),
        "until": iso(END),
    }


def test_periods_look_back_from_now_where_as_of_is_later(engine: Engine) -> None:
    """`as_of` is a day ahead by default; a call by a clock that is ahead is in the range alone."""
    store(engine, [call(-DAY), call(HOUR)], days(60, 0))

    (row,) = ask(engine)["items"]

    assert row["stale_calls"] == 2
    assert windows(row, "stale_calls") == [1, 1, 1]
    assert row["windows"][0]["until"] == iso(END)
    assert row["last_call_ever"] == iso(END + HOUR)
    assert (row["state"], row["quiet_hours"], row["quiet_covered_hours"]) == ("called", 0, 0)


def test_a_window_that_begins_within_an_hour_shares_that_hour(engine: Engine) -> None:
    """At 10:30 seven days are in 169 hours of the clock, as they are for the coverage of a range."""
    store(engine, [call(-DAY)], range(-24 * 90, 11))
    now = END + 10 * HOUR + HOUR // 2

    answer = ask(engine, now, since=iso(now - 7 * DAY), as_of=iso(now))

    (row,) = answer["items"]
    assert windows(row, "hours") == [7 * 24 + 1, 30 * 24 + 1, 90 * 24 + 1]
    assert row["windows"][0]["covered_hours"] == answer["coverage"]["covered_hours"] == 169
    assert row["windows"][0]["hours"] == answer["coverage"]["hours"]
    assert (row["quiet_hours"], row["quiet_covered_hours"]) == (34, 34)


@pytest.mark.parametrize(("before", "after", "word", "pct"), [
    (0, 0, "none", None),
    (3, 3, "equal", None),
    (3, 2, "fewer", None),
    (0, 40, "more", None),
    (29, 40, "more", None),
    (40, 29, "fewer", None),
    (30, 30, "equal", 0.0),
    (30, 40, "more", 33.3),
    (40, 30, "fewer", -25.0),
])  # fmt: skip
def test_a_change_is_a_word_and_a_percentage_only_of_thirty_calls_or_more(
    engine: Engine, before: int, after: int, word: str, pct: float | None
) -> None:
    """Both periods heard throughout; the name was also called before them."""
    rows = [call(-70 * DAY)]
    rows += [call(-40 * DAY + i, "early") for i in range(before)]
    rows += [call(-10 * DAY + i, f"late{i % 2}") for i in range(after)]
    store(engine, rows, days(80, 0))

    answer = ask(engine)

    (row,) = answer["items"]
    change = row["change"]
    assert (change["word"], change["why"], change["pct"]) == (word, None, pct)
    assert (change["stale_calls"], change["stale_calls_before"]) == (after, before)
    assert (change["clients"], change["clients_before"]) == (min(after, 2), min(before, 1))
    assert change["days"] == 28
    hours = ("covered_hours", "hours", "covered_hours_before", "hours_before")
    assert [change[each] for each in hours] == [28 * 24] * 4
    matched = ("matched_hours", "matched_calls", "matched_calls_before")
    assert [change[each] for each in matched] == [672, after, before]
    named = {"names": int(after > 0), "names_before": int(before > 0)}
    assert answer["totals"]["change"] == {**change, **named}


@pytest.mark.parametrize(("silent", "state", "matched"), [
    ((80, 79), "quiet", [672, 10, 13]),
    ((50, 48), "quiet", [624, 9, 12]),  # without the calls 50 and 22 days ago
    ((20, 18), "quiet", [624, 9, 12]),  # 20 and 48
    ((7, 5), "not_heard", [624, 10, 12]),  # 34
    ((2, 0), "not_heard", [624, 10, 12]),  # 30
])  # fmt: skip
def test_silence_while_the_log_was_not_heard_proves_nothing(
    engine: Engine, silent: tuple[int, int], state: str, matched: list[int]
) -> None:
    """Two days without a line are compared in neither period, and where recent there is no `quiet`."""
    heard = [hour for hour in days(100, 0) if hour not in days(*silent)]
    rows = [call(-90 * DAY), *(call(-day * DAY) for day in range(10, 55, 2))]
    store(engine, rows, heard)

    answer = ask(engine)

    (row,) = answer["items"]
    assert row["state"] == state
    change = row["change"]
    assert (change["word"], change["why"], change["pct"]) == ("fewer", None, None)
    found = [change[each] for each in ("matched_hours", "matched_calls", "matched_calls_before")]
    assert found == matched
    assert (change["stale_calls"], change["stale_calls_before"]) == (10, 13)
    lost = len(days(*silent))
    missing = {day: lost if silent[0] <= day else 0 for day in (7, 30, 90)}
    assert windows(row, "covered_hours") == [24 * day - missing[day] for day in (7, 30, 90)]
    assert row["quiet_hours"] == 240
    assert row["quiet_covered_hours"] == 240 - (lost if silent[0] <= 10 else 0)
    assert answer["totals"]["state"] == {"called": 0, "quiet": 0, "not_heard": 0, state: 1}
    assert answer["totals"]["change"] == {**change, "names": 1, "names_before": 1}


@pytest.mark.parametrize(("first_heard", "first_event", "why"), [
    (57 * 24, 57 * 24, None),
    (56 * 24, 56 * 24, None),
    (56 * 24 - 1, 56 * 24 - 1, "short_history"),
    (57 * 24, 56 * 24 - 1, "short_history"),
    (56 * 24 - 1, 57 * 24, "short_history"),
    (20 * 24, 20 * 24, "short_history"),
])  # fmt: skip
def test_a_history_that_begins_within_the_periods_is_too_short(
    engine: Engine, first_heard: int, first_event: int, why: str | None
) -> None:
    """The log, and the events in it, must reach back to the earlier period's first hour."""
    store(engine, [call(-first_event * HOUR), call(-DAY)], range(-first_heard, 0))

    answer = ask(engine)

    for change in (answer["items"][0]["change"], answer["totals"]["change"]):
        assert change["why"] == why
        assert (change["word"] == "cannot_compare") is (why is not None)


def test_a_call_exactly_seven_days_ago_is_a_recent_one(engine: Engine) -> None:
    """One microsecond earlier it is not."""
    store(engine, [call(-7 * DAY), call(-7 * DAY - 1, tool="map")], days(30, 0))

    found = {row["name"]: row["state"] for row in ask(engine)["items"]}

    assert found == {"route": "called", "map": "quiet"}


def test_each_server_is_judged_by_its_own_log_and_the_totals_by_all(engine: Engine) -> None:
    """Maps was silent for two days, shop began four days ago."""
    maps = [hour for hour in days(80, 0) if hour not in days(3, 1)]
    store(engine, [call(-80 * DAY), call(-40 * DAY), call(-20 * DAY)], maps)
    store(engine, [call(-4 * DAY, server="shop")], days(4, 0), server="shop")

    answer = ask(engine)

    maps_row, shop_row = answer["items"]
    assert (maps_row["state"], maps_row["change"]["word"]) == ("not_heard", "equal")
    assert maps_row["change"]["matched_hours"] == 26 * 24
    assert (shop_row["state"], shop_row["change"]["why"]) == ("called", "short_history")
    assert windows(maps_row, "covered_hours") == [5 * 24, 28 * 24, 78 * 24]
    assert windows(shop_row, "covered_hours") == [4 * 24, 4 * 24, 4 * 24]
    # before shop was heard, maps alone decides; since then both do
    totals = answer["totals"]
    assert windows(totals, "covered_hours") == [5 * 24, 28 * 24, 78 * 24]
    assert totals["change"]["why"] == "short_history"
    assert totals["state"] == {"called": 1, "quiet": 0, "not_heard": 1}
    assert windows(totals, "stale_calls") == [1, 2, 4]
    assert windows(totals, "names") == [1, 2, 2]
    only = ask(engine, server="maps")["totals"]["change"]
    assert (only["why"], only["names"], only["names_before"]) == (None, 1, 1)
    assert only["matched_hours"] == 26 * 24


@pytest.mark.parametrize(("length", "bucket", "points", "first"), [
    (1, "day", 1, "2026-10-05"),
    (100, "day", 100, "2026-06-28"),
    (101, "week", 16, "2026-06-22"),
    (690, "week", 100, "2024-11-11"),
    (720, "month", 25, "2024-10-01"),
    (30 * 365, "month", 100, "2018-07-01"),
])  # fmt: skip
def test_a_picture_has_days_weeks_or_months_and_at_most_a_hundred(
    engine: Engine, length: int, bucket: str, points: int, first: str
) -> None:
    """The finest that fits; of more months than a hundred the last."""
    store(engine, [call(-HOUR), call(-length * DAY)], days(3, 0))

    answer = ask(engine, since=iso(END - length * DAY), until=iso(END), as_of=iso(END))

    (row,) = answer["items"]
    assert (answer["bucket"], len(row["spark"]), row["spark"][0]["label"]) == (
        bucket,
        points,
        first,
    )
    assert row["spark"][-1]["value"] == (2 if length == 1 else 1)


def test_a_bucket_is_covered_by_the_log_of_its_own_server(engine: Engine) -> None:
    """Shop was silent for two days and maps was not; each row says so of its server."""
    store(engine, [call(-19 * DAY)], days(20, 0))
    quiet = days(5, 3)
    heard = [hour for hour in days(20, 0) if hour not in quiet]
    store(engine, [call(-19 * DAY, server="shop")], heard, server="shop")

    maps, shop = ask(engine, since=iso(END - 7 * DAY), until=iso(END))["items"]

    assert [point["covered"] for point in maps["spark"]] == [True] * 7
    assert [point["covered"] for point in shop["spark"]] == [True] * 2 + [False] * 2 + [True] * 3
