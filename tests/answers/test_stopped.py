"""
Whether clients stopped, from lines to REST on both databases.

A server whose list of tools is read every five hours from 1 June 2026 on is heard throughout: a gap is longer
than six. It is asked at noon of 10 September. Daily callers call on 2 to 21 June, 20 days at noon: silent
for 81 days, and `stopped` by any measure of the rule.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

START = datetime(2026, 6, 1, tzinfo=UTC)
NOW = datetime(2026, 9, 10, 12, tzinfo=UTC)
DAILY = range(1, 21)

Api = TestClient
Line = dict[str, Any]


def api_of(database_url: str) -> TestClient:
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    return TestClient(create_app(settings, clock=lambda: round(NOW.timestamp() * 1e6)))


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """A service without a line, on both databases."""
    with api_of(database_url) as client:
        yield client


@pytest.fixture
def new_api(new_database: Callable[[], str]) -> Callable[[], TestClient]:
    """Makes services without a line."""
    return lambda: api_of(new_database())


def at(day: float, hour: float = 12) -> datetime:
    return START + timedelta(days=day, hours=hour)


def event(when: datetime, message: str, **data: Any) -> Line:
    return {"time": when.isoformat(), "msg": message, "data": data}


def call(
    day: float, client: str | None, tool: str = "route", hour: float = 12, **more: Any
) -> Line:
    return event(at(day, hour), "Retired tool called", tool=tool, client=client, **more)


def calls(days: Iterable[float], client: str | None, tool: str = "route") -> list[Line]:
    return [call(day, client, tool) for day in days]


def beats(silent: tuple[float, float] = (0, 0), shift: float = 0) -> list[Line]:
    """The list is read every five hours, but not on some days."""
    hours = [5 * i + shift for i in range(int((NOW - START).total_seconds() / 18_000) + 1)]
    return [
        event(at(0, hour), "Tools listed", client="watch", sessionId="w")
        for hour in hours
        if at(0, hour) <= NOW and not silent[0] <= hour / 24 < silent[1]
    ]


def log(api: TestClient, *parts: list[Line], source: str = "files") -> None:
    lines = [json.dumps(line) for part in parts for line in part]
    answer = api.post(f"/ingest/{source}?server=maps", content="\n".join(lines))
    assert answer.status_code == 200, answer.text
    assert answer.json()["rejected"] == 0


def ask(api: TestClient, **asked: Any) -> list[dict[str, Any]]:
    answer = api.get("/api/v1/stopped", params=asked)
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = json.loads(answer.text, parse_constant=pytest.fail)["items"]
    return items


def one(api: TestClient, **asked: Any) -> dict[str, Any]:
    (row,) = ask(api, **asked)
    return row


def tell(api: TestClient, path: str, **told: Any) -> None:
    api.post(f"/api/v1/{path}", json=told).raise_for_status()


def test_a_daily_caller_that_is_silent_for_81_days_has_stopped(api: TestClient) -> None:
    """(1 + 81/10)^-10 is nothing; 3 / 81 days; the client is not seen since, and never was otherwise."""
    log(api, beats(), calls(DAILY, "zed"))
    row = one(api)
    assert (row["verdict"], row["reason"], row["wait_days"]) == ("stopped", None, 0.0)
    assert (row["active_days"], row["silent_days"], row["stale_calls"]) == (20, 81, 20)
    assert row["upper_bound_per_day"] == pytest.approx(3 / 81, abs=1e-4)
    assert row["last_call"] == "2026-06-21T12:00:00.000Z"
    assert row["weakest"] == {"client": "zed", "verdict": "stopped", "probability": 0.9999}
    assert (row["seen_since"], row["silent_altogether"]) == (0, None)
    assert (row["covered"], row["gap_days"]) == (True, 0)
    assert row["heard_until"] == "2026-09-10T12:00:00.000Z"


def test_as_of_an_earlier_instant_only_what_came_before_is_known(api: TestClient) -> None:
    """At noon of 28 June, seven days after the last call: P = 0.9097, and 1.1 days to wait."""
    log(api, beats(), calls(DAILY, "zed"))
    row = one(api, as_of="2026-06-28T12:00:00Z")
    assert row["verdict"] == "cannot tell"
    assert row["probability"] == pytest.approx(0.9097, abs=2e-4)
    assert row["wait_days"] == pytest.approx(1.15, abs=0.06)
    assert row["silent_days"] == 7


def test_calls_in_any_spelling_are_of_one_client_and_one_name(api: TestClient) -> None:
    """An alias, a version in the name, another case, and a gateway's prefix of the tool."""
    log(
        api,
        beats(),
        calls(DAILY[:10], "Windsurf"),
        calls(DAILY[10:15], "windsurf-client/1.2"),
        calls(DAILY[15:], "WINDSURF", "mcp__maps__route"),
    )
    tell(api, "aliases", client="windsurf-client", target="Windsurf")
    row = one(api, by="client")
    assert (row["client"], row["active_days"], row["verdict"]) == ("Windsurf", 20, "stopped")


def test_calls_of_a_session_are_those_of_the_client_that_opened_it(api: TestClient) -> None:
    """The lines name no client; a greeting of the same session does."""
    log(
        api,
        beats(),
        [call(day, None, sessionId=f"s{day}") for day in DAILY],
        [event(at(day, 11), "Client initialized", client="goose", sessionId=f"s{day}") for day in DAILY],
    )  # fmt: skip
    row = one(api, by="client")
    assert (row["client"], row["active_days"]) == ("goose", 20)
    assert row["silent_altogether"] is True


def test_calls_that_name_no_client_are_a_row_and_count_for_the_name(api: TestClient) -> None:
    """They go on, so that the name does; and nobody can say whether their clients are there."""
    log(api, beats(), calls(DAILY, "zed"), calls(range(1, 100, 7), None))
    rows = {row["client"]: row for row in ask(api, by="client")}
    assert rows.keys() == {None, "zed"}
    assert (rows[None]["verdict"], rows[None]["silent_altogether"]) == ("still calling", None)
    row = one(api)
    assert (row["verdict"], row["weakest"]["client"]) == ("still calling", None)
    # of the named clients none has a single day
    assert row["unseen_chance"] == 0.0


def test_one_call_of_one_client_leaves_everyone_open(api: TestClient) -> None:
    """One of 21 active days is of a client with no other: 0.0476."""
    log(api, beats(), calls(DAILY, "zed"), calls([5], "cursor"))
    row = one(api)
    assert (row["verdict"], row["reason"]) == ("too few calls to judge", "too_few")
    assert (row["probability"], row["interval"], row["wait_days"]) == (None, None, None)
    assert row["weakest"]["client"] == "cursor"
    assert row["clients"] == {"stopped": 1, "too few calls to judge": 1}
    assert row["unseen_chance"] == pytest.approx(1 / 21, abs=1e-4)
    assert one(api, client="zed")["verdict"] == "stopped"


def test_calls_that_are_not_to_be_counted_do_not_count(api: TestClient) -> None:
    """A probe that calls every day, left out by a rule, and counted where that is asked for."""
    log(api, beats(), calls(DAILY, "zed"), calls(range(1, 101), "probe-1"))
    assert one(api)["verdict"] == "still calling"
    tell(api, "exclusions", client="probe-*", note="ours")
    assert one(api)["verdict"] == "stopped"
    assert one(api, excluded="count")["verdict"] == "still calling"
    assert api.get("/api/v1/stopped").json()["excluded_calls"] == 100


def test_what_was_said_to_be_fixed_counts_from_then_on_and_reopens(api: TestClient) -> None:
    """A weekly caller is fixed on day 60; a call after that is one day, too few to judge by."""
    log(api, beats(), calls(DAILY, "zed"), calls(range(1, 60, 7), "cron"))
    told = {"kind": "resolved", "server": "maps", "client": "cron", "name": "route"}
    tell(api, "marks", **told, at=at(60).isoformat())
    fixed = one(api, by="client", client="cron")
    assert (fixed["verdict"], fixed["reason"]) == ("stopped", "said_fixed")
    assert (fixed["probability"], fixed["active_days"], fixed["stale_calls"]) == (None, 0, 9)
    name = one(api)
    assert (name["verdict"], name["weakest"]["client"]) == ("stopped", "zed")
    assert (name["active_days"], name["silent_days"]) == (20, 81)

    log(
        api, [call(60, "cron", hour=11), call(80, "cron")]
    )  # the first before noon, when it was fixed
    again = one(api, by="client", client="cron")
    assert (again["verdict"], again["active_days"]) == ("too few calls to judge", 1)
    assert one(api)["verdict"] == "too few calls to judge"


def test_a_call_on_the_very_day_after_it_was_fixed_reopens(api: TestClient) -> None:
    """Two calls of one day, before and after the instant."""
    log(api, beats(), [call(30, "cron", hour=9), call(30, "cron", hour=15)])
    told = {"kind": "resolved", "server": "maps", "client": "cron"}
    tell(api, "marks", **told, at=at(30, 12).isoformat())
    assert one(api, by="client")["active_days"] == 1
    tell(api, "marks", **told, at=at(30, 16).isoformat())
    assert one(api, by="client")["active_days"] == 0


def test_sessions_since_the_last_call_are_counted_and_may_take_away(api: TestClient) -> None:
    """
    One session a day of calls, two since: p by sessions is (1 + 2/10)^-10, so that P is 0.2364. An event
    other than a greeting shows that the client is there, too.
    """
    greetings = [
        event(at(day, 11), "Client initialized", client="zed", sessionId=f"z{day}")
        for day in [*DAILY, 40, 50]
    ]
    log(api, beats(), calls(DAILY, "zed"), greetings)
    row = one(api, by="client")
    assert (row["verdict"], row["reason"]) == ("probably stopped", "sessions")
    assert row["session_probability"] == pytest.approx(0.2364, abs=1e-4)
    assert (row["seen_since"], row["silent_altogether"]) == (2, False)
    earlier = one(
        api, by="client", as_of="2026-07-11T11:00:00Z"
    )  # the instant of the greeting of day 40
    assert (earlier["seen_since"], earlier["silent_altogether"]) == (0, True)
    assert one(api, by="client", as_of="2026-07-11T11:00:01Z")["seen_since"] == 1


def test_two_weeks_that_were_not_heard_leave_everyone_open(api: TestClient) -> None:
    """
    Days 50 to 63 are silent: sixteen days with the edges at most. The client itself has been silent for
    long enough after them, and everyone is open, for somebody may have called only then.
    """
    log(api, beats(silent=(50, 64)), calls(DAILY, "zed"))
    name, client = one(api), one(api, by="client")
    assert (name["verdict"], name["reason"], name["wait_days"]) == ("cannot tell", "gap", None)
    assert name["covered"] is False
    assert 14 <= name["gap_days"] == client["gap_days"] <= 16
    assert client["silent_days"] == 81 - client["gap_days"]
    assert client["verdict"] not in ("stopped", "still calling")
    # asked after the gap, of what came after it
    assert one(api, since="2026-08-10", by="none", name="route")["reason"] == "no_calls"


def test_a_short_gap_is_named_and_passed_over(api: TestClient) -> None:
    """Twelve hours of day 50: no day is lost."""
    log(api, beats(silent=(50.1, 50.6)), calls(DAILY, "zed"))
    row = one(api)
    assert (row["verdict"], row["covered"], row["gap_days"]) == ("stopped", False, 0)


def test_where_hearing_ended_a_silence_ends(api: TestClient) -> None:
    """Nothing after day 90, ten days before now: the word says that it is not known, and until when."""
    log(api, beats(silent=(90, 200)), calls(DAILY, "zed"))
    row = one(api)
    assert (row["verdict"], row["reason"]) == ("cannot tell", "not_heard")
    assert "2026-08-29" <= row["heard_until"] < "2026-08-31"
    assert row["silent_days"] in (68, 69)


def test_a_word_is_that_of_where_hearing_ended(api: TestClient) -> None:
    """A client that called until the last heard day went on then; the row says that it is not of now."""
    log(api, beats(silent=(90, 200)), calls(range(60, 90), "zed"))
    for by in ("none", "client"):
        row = one(api, by=by)
        assert (row["verdict"], row["reason"]) == ("still calling", "not_heard")


def test_a_server_is_judged_from_where_it_was_heard_first(api: TestClient) -> None:
    """Another server was heard two months before; those days are no gap of this one."""
    api.post("/ingest?server=old", content=json.dumps(call(-60, "zed")))
    log(api, beats(), calls(DAILY, "zed"))
    row = one(api, server="maps")
    assert {row["gap_days"] for row in ask(api) if row["server"] == "maps"} == {0}
    assert row["verdict"] == "stopped"


def test_a_told_name_that_nobody_called_is_not_judged(api: TestClient) -> None:
    """Retired on 1 August and heard since, 40 whole days: at most 3 / 40 calling days a day."""
    log(api, beats(), calls([1], "zed"))
    tell(api, "catalogue", server="maps", name="never", retired_at="2026-08-01T00:00:00Z")
    row = one(api, name="never")
    assert (row["verdict"], row["reason"]) == ("too few calls to judge", "no_calls")
    assert (row["weakest"], row["clients"], row["last_call"]) == (None, {}, None)
    assert row["silent_days"] == 40
    assert row["upper_bound_per_day"] == pytest.approx(3 / 40, abs=1e-4)
    assert ask(api, name="never", by="client") == []


def test_order_and_repetition_of_lines_change_nothing(new_api: Callable[[], TestClient]) -> None:
    """As they were logged; backwards, and all of them a second time."""
    lines = [*beats(), *calls(DAILY, "zed"), *calls(range(1, 100, 7), None)]
    one_way, other = new_api(), new_api()
    with one_way, other:
        log(one_way, lines)
        log(other, lines[::-1][:50])
        log(other, lines[::-1])
        for by in ("none", "client"):
            assert ask(one_way, by=by) == ask(other, by=by)


def test_two_sources_that_are_both_heard_say_what_one_does(
    new_api: Callable[[], TestClient],
) -> None:
    """Every other call comes by another source, which is heard as long."""
    one_source, two = new_api(), new_api()
    with one_source, two:
        log(one_source, beats(), beats(shift=2.5), calls(DAILY, "zed"))
        log(two, beats(), calls(DAILY[::2], "zed"), source="a")
        log(two, beats(shift=2.5), calls(DAILY[1::2], "zed"), source="b")
        for by in ("none", "client"):
            assert ask(one_source, by=by) == ask(two, by=by)


def test_another_name_for_a_client_changes_nothing_else(
    new_api: Callable[[], TestClient],
) -> None:
    """Hostile ones, too."""
    plain, renamed = new_api(), new_api()
    with plain, renamed:
        for api, client in ((plain, "zed"), (renamed, '=HYPERLINK("x")<script>')):
            log(api, beats(), calls(DAILY, client))
        (row,), (other,) = ask(plain, by="client"), ask(renamed, by="client")
        assert {**row, "client": None} == {**other, "client": None}


def test_pages_hold_every_row_once_and_tables_the_same(api: TestClient) -> None:
    """
    Three clients of two names, one a page; the table flattens what is nested. Three times a doubt that is
    small are one that is not: `probably`.
    """
    log(api, beats(), *(calls(DAILY, c, t) for c in ("a", "b", "c") for t in ("route", "map")))
    seen, cursor = [], None
    while True:
        params: dict[str, str | int] = {"by": "client", "limit": 1, "cursor": cursor or ""}
        answer = api.get("/api/v1/stopped", params=params).json()
        seen += [(row["name"], row["client"]) for row in answer["items"]]
        if (cursor := answer["next_cursor"]) is None:
            break
    assert seen == [(t, c) for t in ("map", "route") for c in ("a", "b", "c")]
    text = api.get("/api/v1/stopped", params={"format": "csv"}).text
    (first, _) = csv.DictReader(io.StringIO(text))
    assert (first["name"], first["weakest_client"], first["verdict"]) == (
        "map",
        "a",
        "probably stopped",
    )
    assert "client" not in first


def test_second_opinions_stand_beside_where_they_are_asked_for(api: TestClient) -> None:
    """
    Twenty days, the first as the origin, asked 81 days after: (19/100)^19, and the bound of Strauss &
    Sadler is 19 (0.05^(-1/19) - 1) = 3.245 days after the noon of 21 June.
    """
    log(api, beats(), calls(DAILY, "zed"))
    opinions = one(api, by="client", methods="all")["second_opinions"]
    assert opinions["solow"] == pytest.approx(0.19**19)
    assert opinions["strauss_sadler"].startswith("2026-06-24T17:5")
    assert "second_opinions" not in one(api, by="client")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"by": "day"}, "none, client"),
        ({"methods": "some"}, "rule, all"),
        ({"methods": "all"}, "by=client"),
        ({"sort": "weakest"}, "verdict"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused_with_what_can(
    api: TestClient, asked: dict[str, str], says: str
) -> None:
    """A problem that names what would succeed."""
    answer = api.get("/api/v1/stopped", params=asked)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert says in answer.json()["detail"]
