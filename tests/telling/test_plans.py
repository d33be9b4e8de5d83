"""A roll-out is planned before anybody is told, and read from the logs afterwards."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

START = datetime(2026, 9, 7, tzinfo=UTC)  # a Monday
WAVE_1, WAVE_2 = START + timedelta(days=21), START + timedelta(days=35)
MADE = WAVE_1 - timedelta(hours=20)
DAY = timedelta(days=1)
CLIENTS = [f"client-{letter}" for letter in "abcdefghij"]


class Now:
    """A clock that a test sets."""

    at = MADE

    def __call__(self) -> int:
        return int(self.at.timestamp()) * 1_000_000


@pytest.fixture
def now() -> Now:
    return Now()


@pytest.fixture
def api(database_url: str, now: Now) -> Iterator[TestClient]:
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    with TestClient(create_app(settings, clock=now)) as client:
        yield client


def line(at: datetime, msg: str, client: str, **data: Any) -> str:
    said = {"time": at.isoformat(), "msg": msg, "data": {"client": client, **data}}
    return json.dumps(said)


def day_lines(day: datetime, client: str, calls: int) -> list[str]:
    """A session at nine with some stale calls."""
    at = day + timedelta(hours=9, minutes=CLIENTS.index(client) if client in CLIENTS else 0)
    session = f"{client}-{day.date()}"
    lines = [line(at, "Client initialized", client, sessionId=session)]
    return lines + [
        line(at + timedelta(seconds=n + 1), "Retired tool called", client, tool="route")
        for n in range(calls)
    ]


def send(api: TestClient, lines: list[str]) -> None:
    answer = api.post("/ingest?server=maps", content="\n".join(lines))
    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] == len(lines), answer.text


def usual(api: TestClient) -> None:
    """Three weeks in which each client makes three or four stale calls a day."""
    lines = []
    for number in range(21):
        day = START + timedelta(days=number)
        for place, client in enumerate(CLIENTS):
            lines += day_lines(day, client, 3 + (place + number) % 2)
    send(api, lines)


def few(api: TestClient) -> None:
    """Three clients with a stale call each, shortly before the plan."""
    send(api, [each for client in CLIENTS[:3] for each in day_lines(WAVE_1 - 2 * DAY, client, 1)])


def made(api: TestClient, **told: Any) -> dict[str, Any]:
    answer = api.post("/api/v1/plans", json={"server": "maps", **told})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def rolled_out(api: TestClient, plan: dict[str, Any], effect: int) -> None:
    """Two weeks and a day in which the first wave makes so many calls less a day; then the second."""
    wave = {each["client"]: each["wave"] for each in plan["clients"]}
    lines = []
    for number in range(21, 37):
        day = START + timedelta(days=number)
        for place, client in enumerate(CLIENTS):
            told = number >= 21 if wave[client] == 1 else number >= 35
            lines += day_lines(day, client, 3 + (place + number) % 2 - (effect if told else 0))
            if number == (21 if wave[client] == 1 else 35):
                sent = "Tool list changed notification sent"
                lines.append(line(day + timedelta(hours=8), sent, client))
    send(api, lines)


def reading(api: TestClient, number: int, **asked: str) -> dict[str, Any]:
    answer = api.get(f"/api/v1/plans/{number}", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_roll_out_that_kept_to_its_plan_may_say_because(api: TestClient, now: Now) -> None:
    """
    Ten clients, five a wave, 13 days from the day after the first instant. The first wave makes two
    calls less of three and a half a day.
    """
    usual(api)
    plan = made(api)
    assert (plan["wave_1_at"], plan["wave_2_at"]) == (
        "2026-09-28T00:00:00.000Z",
        "2026-10-12T00:00:00.000Z",
    )
    assert sorted(each["client"] for each in plan["clients"]) == CLIENTS
    assert sorted(each["wave"] for each in plan["clients"]) == [1] * 5 + [2] * 5

    now.at = WAVE_2 + 2 * DAY
    rolled_out(api, plan, effect=2)
    found = reading(api, plan["id"])
    assert found["plan"]["status"] == "over"
    said = found["reading"]
    assert (said["verdict"], said["because"]) == ("reduced", True)
    assert said["sentence"].startswith("Because they were told")
    assert (said["exposure"], said["splits"], said["exact"]) == ("sessions", 252, True)
    assert said["p_value"] == pytest.approx(2 / 252)  # the real split and its opposite
    assert said["interval"][0] < said["rate_ratio"] < said["interval"][1] < 1
    assert said["rate_ratio"] == pytest.approx(1.5 / 3.5, rel=0.05)
    kept = {"clients": 5, "told": 5, "early": 0, "untold": 0, "share": 1.0}
    assert said["wave_1"] == kept
    assert said["wave_2"] == {**kept, "told": 0, "untold": 5}


def test_before_the_second_wave_nothing_is_said(api: TestClient, now: Now) -> None:
    """Also when it is asked as of then, later."""
    usual(api)
    plan = made(api)
    assert reading(api, plan["id"])["plan"]["status"] == "planned"
    now.at = WAVE_2 + 2 * DAY
    rolled_out(api, plan, effect=2)
    found = reading(api, plan["id"], as_of="2026-10-11T23:59:59Z")
    assert found["plan"]["status"] == "running"
    assert (found["reading"]["verdict"], found["reading"]["reason"]) == (
        "not enough data",
        "not over",
    )
    assert found["reading"]["p_value"] is None


def test_a_plan_that_nobody_kept_to_says_after_and_not_because(api: TestClient, now: Now) -> None:
    """The first wave changed, but no notification was logged."""
    usual(api)
    plan = made(api)
    wave = {each["client"]: each["wave"] for each in plan["clients"]}
    lines = []
    for number in range(21, 35):
        for client in CLIENTS:
            day = START + timedelta(days=number)
            lines += day_lines(day, client, 1 if wave[client] == 1 else 3 + number % 2)
    now.at = WAVE_2 + DAY
    send(api, lines)
    said = reading(api, plan["id"])["reading"]
    assert (said["verdict"], said["because"], said["wave_1"]["told"]) == ("reduced", False, 0)
    assert said["sentence"].startswith("After the first wave was due")


def test_clients_that_become_one_of_both_waves_are_left_out(api: TestClient, now: Now) -> None:
    """Somebody says so after the plan was made."""
    usual(api)
    plan = made(api)
    one, other = (next(c["client"] for c in plan["clients"] if c["wave"] == w) for w in (1, 2))
    now.at = WAVE_2 + 2 * DAY
    rolled_out(api, plan, effect=2)
    api.post("/api/v1/aliases", json={"client": one, "target": other})
    said = reading(api, plan["id"])["reading"]
    assert (said["left_out"], said["clients_used"]) == ([other], [4, 4])


@pytest.mark.parametrize(
    ("told", "parameter"),
    [
        ({"server": ""}, "server"),
        ({"server": "nobody"}, "server"),
        ({"wave_1_at": "2026-09-27T03:00:00Z"}, "wave_1_at"),
        ({"wave_1_at": "2026-09-28", "wave_2_at": "2026-09-30"}, "wave_2_at"),
        ({"wave_1_at": "soon"}, "wave_1_at"),
        ({"note": "x" * 1_001}, "note"),
        ({"waves": "3"}, "waves"),
    ],
    ids=["blank", "unknown", "over", "close", "no time", "long", "unknown member"],
)
def test_a_plan_that_proves_nothing_is_refused(
    api: TestClient, told: dict[str, str], parameter: str
) -> None:
    """Nothing is kept of it."""
    few(api)
    answer = api.post("/api/v1/plans", json={"server": "maps", **told})
    assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, parameter)
    assert api.get("/api/v1/plans").json()["items"] == []


@pytest.mark.parametrize(("called", "found"), [(27, "one of its"), (29, "none of its")])
def test_too_few_to_split_says_which_days_were_looked_at(
    api: TestClient, now: Now, called: int, found: str
) -> None:
    """The 28 days before now: whoever called before them is not among those that a plan is of."""
    send(api, day_lines(now.at - called * DAY, "client-a", 3))
    answer = api.post("/api/v1/plans", json={"server": "maps"})
    assert answer.status_code == 422
    assert answer.json()["detail"] == (
        f"server: {found} clients made a stale call in the 28 days before now "
        "(2026-08-30T04:00:00Z to 2026-09-27T04:00:00Z); two are needed to split. A plan is of clients "
        "that call now: check that its log arrives"
    )


def test_one_plan_runs_at_a_time_and_can_be_withdrawn(api: TestClient) -> None:
    """It stays listed, is read no more, and the audit tells both."""
    few(api)
    first = made(api)
    again = api.post("/api/v1/plans", json={"server": "maps"})
    assert (again.status_code, "withdraw it first" in again.json()["detail"]) == (422, True)
    assert api.delete(f"/api/v1/plans/{first['id']}").status_code == 204
    assert api.delete(f"/api/v1/plans/{first['id']}").status_code == 404
    second = made(api, note="once more")
    rows = api.get("/api/v1/plans").json()["items"]
    assert [(row["id"], row["status"]) for row in rows] == [
        (first["id"], "withdrawn"),
        (second["id"], "planned"),
    ]
    assert reading(api, first["id"])["reading"] is None
    actions = [row["action"] for row in api.get("/api/v1/audit?server=maps").json()["items"]]
    assert actions == ["plan", "withdraw", "plan"]
    assert api.get("/api/v1/plans/99").status_code == 404


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_the_snippet_holds_the_plan_and_whom_it_is_said_to_be(
    api: TestClient, language: str
) -> None:
    """A client of the plan keeps its own wave."""
    few(api)
    plan = made(api)
    api.post("/api/v1/aliases", json={"client": "Client-X", "target": "client-a"})
    api.post("/api/v1/aliases", json={"client": "client-b", "target": "client-a"})
    code = api.get(f"/api/v1/plans/{plan['id']}/snippet", params={"language": language}).text
    assert plan["key"] in code
    assert '\\"same\\": {\\"client-x\\": \\"client-a\\"}' in code


def test_whoever_is_forgotten_is_in_no_plan(api: TestClient, database_url: str) -> None:
    """A client, and a server with its plans."""
    from click.testing import CliRunner

    from service.cli import app

    few(api)
    number = made(api)["id"]
    forget = ["db", "forget", "--db", database_url, "--yes"]
    done = CliRunner().invoke(app, [*forget, "--client", "client-a"])
    assert done.exit_code == 0, done.output
    clients = [each["client"] for each in reading(api, number)["clients"]]
    assert clients == ["client-b", "client-c"]
    done = CliRunner().invoke(app, [*forget, "--server", "maps"])
    assert done.exit_code == 0, done.output
    assert api.get("/api/v1/plans").json()["items"] == []


def test_the_command_makes_lists_shows_reads_and_withdraws(
    api: TestClient, now: Now, database_url: str
) -> None:
    """By the real clock, so the first wave is ahead of it."""
    from click.testing import CliRunner

    from service.cli import app

    now.at = at = datetime.now(UTC)
    lines = [
        line(
            at - 3 * DAY - timedelta(seconds=n),
            "Retired tool called",
            f"{name}\x1b[31m",
            tool="route",
        )
        for n, name in enumerate(["zed", "cursor", "n8n"])
    ]
    send(api, lines)

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, ["plan", *words, "--db", database_url])
        assert done.exit_code == 0, done.output
        return done.output

    shown = run("new", "maps", "--note", "try it")
    assert "plan 1 of maps: planned" in shown
    assert "\x1b" not in shown
    assert run("list") == shown.splitlines()[0] + "\n"
    assert json.loads(run("show", "1", "--json"))["plan"]["note"] == "try it"
    assert "export function mayTell" in run("show", "1", "--snippet", "typescript")
    assert "not enough data: Not over" in run("read", "1")
    assert run("withdraw", "1") == "plan 1 is withdrawn\n"
    assert "was withdrawn" in run("read", "1")
