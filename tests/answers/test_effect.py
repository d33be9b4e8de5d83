"""Whose calls are compared with whose, and who was told: what the effect of notifications is asked of."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service import answers, demo, intake
from service.answers import Moment, Query
from service.answers.effect import study_of
from service.answers.effect_found import Findings
from service.answers.query import only
from service.answers.scope import scope_of
from service.app import create_app
from service.settings import Settings
from service.store.engine import make_engine, reading

START = datetime(2026, 7, 6, tzinfo=UTC)
DAYS = 56
AS_OF = "2026-08-31T00:00:00Z"


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """A client of a service with an empty database."""
    app = create_app(Settings(database_url=database_url))
    with TestClient(app, base_url="http://127.0.0.1:8420") as opened:
        yield opened


def line(at: datetime, message: str, **data: Any) -> str:
    """One log line."""
    members = ",".join(f'"{key}":"{value}"' for key, value in data.items())
    return f'{{"time":"{at:%Y-%m-%dT%H:%M:%S.%f}Z","data":{{{members}}},"msg":"{message}"}}'


def days_of(client: str, calls: Callable[[int], int]) -> list[str]:
    """A session a day from 08:00 on, with so many stale calls; every hour something, so that it is heard."""
    found = []
    for day in range(DAYS):
        at = START + timedelta(days=day, hours=8)
        said = {"client": client, "sessionId": f"{client}-{day}"}
        found.append(line(at, "Client initialized", **said))
        found += [
            line(at + timedelta(minutes=1 + n), "Retired tool called", tool="old", **said)
            for n in range(calls(day))
        ]
    found += [
        line(START + timedelta(hours=hour, minutes=59), "Tool called", tool="new", client=client)
        for hour in range(24 * DAYS)
    ]
    return found


def send(client: TestClient, server: str, lines: list[str]) -> None:
    """Deliver lines; all of them count."""
    for at in range(0, len(lines), 5_000):
        body = "\n".join(lines[at : at + 5_000])
        answer = client.post("/ingest", params={"server": server}, content=body.encode())
        assert answer.json()["accepted"] == len(lines[at : at + 5_000])


def effect(client: TestClient, **asked: str) -> dict[str, Any]:
    """What is said of the effect."""
    answer = client.get("/api/v1/effect", params={"as_of": AS_OF, **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def told(client: str, day: int) -> str:
    """A notification at noon of a day."""
    at = START + timedelta(days=day, hours=12)
    return line(at, "Tool list changed notification sent", client=client)


def test_clients_of_another_server_are_none_to_compare_with(client: TestClient) -> None:
    """
    Server `a` tells all its six clients on day 28, from which on they call a third as often, whatever the
    cause; the six of `b` were never told and go on. Nothing can be said of `a`, with or without naming it.
    """
    mine = [f"a{n}" for n in range(6)]
    lines = [each for name in mine for each in days_of(name, lambda day: 6 if day < 28 else 2)]
    send(client, "a", lines + [told(name, 28) for name in mine])
    send(client, "b", [each for n in range(6) for each in days_of(f"b{n}", lambda _: 3)])
    for asked in ({}, {"server": "a"}):
        found = effect(client, **asked)
        assert found["server"] == "a"
        assert found["verdict"] == "cannot separate from the trend"
        assert found["rate_ratio"] is None
    assert effect(client)["other_servers"] == 1


def test_the_first_day_of_a_given_range_is_whole_whoever_asked_before(client: TestClient) -> None:
    """A range that begins at the instant of the first event begins a day later than one that is not given."""
    send(client, "a", days_of("one", lambda _: 1))
    first = effect(client)["range"]["since"]
    assert first == "2026-07-06T00:59:00.000Z"
    for _ in range(2):
        assert effect(client)["first_day"] == "2026-07-06"
        assert effect(client, since=first)["first_day"] == "2026-07-07"


def test_no_more_than_the_last_four_hundred_days_are_looked_at(client: TestClient) -> None:
    """One line of 2010 does not make sixteen years of it."""
    old = line(datetime(2010, 1, 1, tzinfo=UTC), "Retired tool called", tool="old", client="one")
    send(client, "a", [*days_of("one", lambda _: 1), old])
    found = effect(client)
    assert (found["first_day"], found["last_day"]) == ("2025-07-27", "2026-08-30")


def test_a_notification_to_everybody_reaches_whoever_has_a_stream_open(client: TestClient) -> None:
    """
    Two of three clients open a stream at 08:00, which their session keeps to its last line; one of them has
    ended by noon, when everybody is told. Where nobody has one open, nobody knows whom a notification reached.
    """
    lines = [each for n in range(3) for each in days_of(f"c{n}", lambda _: 30)]
    day = START + timedelta(days=28, hours=8)
    for name in ("c0", "c1"):
        said = {"client": name, "sessionId": f"{name}-28"}
        lines.append(line(day, "Tool list subscription opened", **said))
    lines.append(
        line(day + timedelta(hours=5), "Tool called", tool="new", client="c0", sessionId="c0-28")
    )
    everybody = "Tool list changed notification sent"
    lines += [line(day + timedelta(hours=hours), everybody) for hours in (4, 7)]
    send(client, "a", lines)
    found = effect(client)
    assert found["clients_notified"] == 1
    assert found["unheard_notifications"] == 1
    (row,) = client.get("/api/v1/effect/clients", params={"as_of": AS_OF}).json()["items"]
    assert (row["client"], row["notified_at"]) == ("c0", "2026-08-03T12:00:00.000Z")


def test_gateways_probes_and_nobody_are_left_out_and_listed_with_their_calls(
    client: TestClient,
) -> None:
    """A gateway by the file of known clients, and calls without a name; both say why."""
    lines = days_of("docker-mcp-gateway", lambda _: 2) + days_of("zed", lambda _: 1)
    lines += [
        line(START + timedelta(days=day, hours=9), "Retired tool called", tool="old")
        for day in range(DAYS)
    ]
    send(client, "a", lines)
    left_out = {row["client"]: row for row in effect(client)["clients_left_out"]}
    assert left_out["docker-mcp-gateway"]["calls"] == 2 * DAYS
    assert "gateway" in left_out["docker-mcp-gateway"]["why"]
    assert (left_out[None]["calls"], left_out[None]["why"]) == (DAYS, "not named in the log")
    assert effect(client)["much_left_out"] is True


def test_what_claims_nothing_says_why(client: TestClient) -> None:
    """Of a part of the clients and of each name, as of the whole; the page shows it, in plain words."""
    lines = [each for n in range(4) for each in days_of(f"c{n}", lambda _: 3)]
    lines += [each.replace('"old"', '"older"') for each in lines if '"old"' in each]
    lines += [told(f"c{n}", 28) for n in range(4)]
    late = START + timedelta(days=40, hours=8)
    lines += [line(late, "Retired tool called", tool="old", client="late", sessionId="late-40")]
    lines += [
        line(late, "Client initialized", client="late", sessionId="late-40"),
        told("late", 41),
    ]
    send(client, "a", lines)
    found = effect(client)
    part = found["ignored"]
    assert part["verdict"] == found["verdict"] == "cannot separate from the trend"
    assert "hardly anybody was left to compare with in the same weeks" in part["why"]
    names = client.get("/api/v1/effect/names", params={"as_of": AS_OF}).json()["items"]
    assert [row["name"] for row in names] == ["old", "older"]
    assert all("hardly anybody was left" in row["why"] for row in names)
    page = client.get("/effect", params={"as_of": AS_OF, "days": "all"}).text
    assert page.count("hardly anybody was left") >= 4
    assert "no supported week" not in page
    assert "all others had been notified by then" in page
    assert "These do not add up to the whole." in page


def test_a_range_that_begins_too_late_is_told_so(client: TestClient) -> None:
    """No further clients are asked for where those there are called before it; the page leads to all of it."""
    paused = [each for n in range(4) for each in days_of(f"c{n}", _paused)]
    lines = paused + days_of("other", lambda _: 3) + [told(f"c{n}", 28) for n in range(4)]
    send(client, "a", lines)
    words = effect(client, since="2026-07-30")["words"]
    assert words["next"] == (
        "This range begins too late. Choose Everything: the log goes back to 2026-07-06."
    )
    assert "begins too late" not in effect(client)["words"]["next"]
    page = client.get("/effect", params={"as_of": AS_OF, "from_day": "2026-07-30"}).text
    assert ">Choose Everything</a>: the log goes back to 2026-07-06." in page
    assert "called no old name in this range before it was notified" in page


def _paused(day: int) -> int:
    """Calls of a client that calls nothing in the three weeks about its notification."""
    return 0 if 20 < day < 40 else 3


def test_the_page_of_the_effect_shows_everything_unless_a_range_is_asked_for(
    client: TestClient,
) -> None:
    """Also its figures; its link to 90 days says so, since that is not what it shows without."""
    send(client, "a", days_of("c", lambda _: 3))
    page = client.get("/effect", params={"as_of": AS_OF}).text
    assert re.search(r'days=all[^"]*" aria-current="true">Everything</a>', page)
    assert re.search(r'href="/effect\?[^"]*days=90[^"]*">90 days</a>', page)
    page = client.get("/effect", params={"as_of": AS_OF, "days": "90"}).text
    assert re.search(r'days=90" aria-current="true">90 days</a>', page)


@pytest.mark.parametrize("now", ["2026-10-06T12:00:00Z", "2026-11-20T12:00:00Z"])
def test_the_demo_shows_an_effect(database_url: str, now: str) -> None:
    """Whoever is told lists again and drops the old names, one client after the other; on any day, every
    check that was asked is passed, and one server of the two was told too late for an answer."""
    end = datetime.fromisoformat(now)
    intake.read_lines(demo.demo_logs(end), Settings(database_url=database_url))
    engine = make_engine(database_url)
    moment = Moment(round(end.timestamp()) * 1_000_000, 0)
    with reading(engine) as connection:
        maps, other = (
            answers.effect(connection, Query(server=only(server)), moment).as_json()
            for server in ("maps", "reference")
        )
    engine.dispose()
    assert maps["verdict"] == "reduced"
    assert maps["interval"][1] < 1
    assert {check["outcome"] for check in maps["guards"][:-1]} == {"passed"}
    assert maps["refreshed"]["verdict"] == "reduced"
    assert other["verdict"] == "cannot separate from the trend"


def test_a_line_of_today_changes_nothing_of_the_effect_and_a_late_one_does(
    client: TestClient,
) -> None:
    """What was worked out is kept by the days that it is about, which are over unless a line comes late."""
    send(client, "s", [*days_of("a", lambda _day: 2), *days_of("b", lambda _day: 1)])
    send(
        client,
        "s",
        [
            line(
                START + timedelta(days=28, hours=9),
                "Tool list changed notification sent",
                client="a",
            )
        ],
    )
    now = START + timedelta(days=DAYS, hours=12)
    engine = client.app.state.engine  # type: ignore[attr-defined]

    def studied() -> Findings:
        moment = Moment(int(now.timestamp()) * 1_000_000)
        with reading(engine) as connection:
            return study_of(scope_of(connection, Query(server=only("s")), moment, "effect")).found

    first = studied()
    send(
        client, "s", [line(now - timedelta(hours=1), "Retired tool called", tool="old", client="a")]
    )
    assert studied() is first, "it is not worked out again"
    late = START + timedelta(days=40, hours=13)
    send(client, "s", [line(late, "Retired tool called", tool="old", client="a")])
    before, after = first.effect.naive_ratio, studied().effect.naive_ratio
    assert before is not None
    assert after is not None
    assert after > before, "one call more after the notification"
