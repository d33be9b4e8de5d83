"""`lastcall check`, a gate for a pipeline: 0 quiet, 1 still called, 3 unknown."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.cli import app, main
from service.settings import settings_from_environment

NOW = datetime(2026, 10, 31, tzinfo=UTC)
FIRST = NOW - timedelta(days=60)


def line(at: datetime, message: str = "Retired tool called", **data: str) -> str:
    said = {"time": at.isoformat(), "msg": message}
    return json.dumps({**said, "data": data} if data else said)


def heard(until: datetime = NOW) -> list[str]:
    """An ordinary line an hour."""
    hours = int((until - FIRST) / timedelta(hours=1))
    return [line(FIRST + timedelta(hours=n), "request done") for n in range(hours)]


def called(days_ago: float, tool: str = "route", client: str = "zed") -> str:
    return line(NOW - timedelta(days=days_ago), tool=tool, client=client)


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    settings = settings_from_environment(database_url=database_url, allowed_hosts="testserver")
    with TestClient(create_app(settings, clock=lambda: int(NOW.timestamp() * 1e6))) as client:
        yield client


def send(api: TestClient, lines: list[str]) -> None:
    assert api.post("/ingest?server=maps", content="\n".join(lines)).json()["rejected"] == 0


def check(api: TestClient, query: str = "") -> tuple[str, str]:
    answer = api.get(f"/api/v1/check?{query}")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return found["verdict"], found["reason"]


def test_a_name_is_quiet_only_where_every_hour_was_watched(api: TestClient) -> None:
    send(api, [*heard(), called(40)])
    verdict, reason = check(api)
    assert verdict == "quiet"
    assert reason == "1 name: no call in 30 days, all of them watched"


def test_silence_in_a_gap_is_unknown_and_never_passes(api: TestClient) -> None:
    """The last two days were not heard."""
    send(api, [*heard(NOW - timedelta(days=2)), called(40)])
    verdict, reason = check(api)
    assert verdict == "unknown"
    assert "only 672 of 720 hours were watched" in reason


def test_a_call_is_told_with_how_many_and_the_last(api: TestClient) -> None:
    send(api, [*heard(), called(3), called(4), called(40, tool="map")])
    assert check(api) == (
        "called",
        "1 of 2 names: route: 2 calls in 30 days (1 client), the last 2026-10-28T00:00:00.000Z",
    )
    assert check(api, "days=2")[0] == "quiet"
    assert check(api, "name=map")[0] == "quiet"
    assert check(api, "as_of=2026-10-27T01:00:00Z")[0] == "called"


def test_what_is_not_known_is_unknown(api: TestClient) -> None:
    assert check(api) == ("unknown", "no retired name is known")
    send(api, [*heard(), called(40)])
    assert check(api, "name=nowhere&server=maps") == ("unknown", "nowhere was never seen at maps")
    assert check(api, "server=other")[0] == "unknown"


def test_what_was_resolved_and_what_is_left_out_does_not_fail_it(api: TestClient) -> None:
    send(api, [*heard(), called(3), called(4, client="probe-1")])
    assert check(api)[0] == "called"
    api.post("/api/v1/exclusions", json={"client": "probe-*"})
    resolved = {"kind": "resolved", "server": "maps", "client": "zed", "name": "route"}
    at = (NOW - timedelta(days=3)).isoformat()
    assert api.post("/api/v1/marks", json={**resolved, "at": at}).status_code == 200
    assert check(api)[0] == "quiet"
    assert api.get("/api/v1/check").json()["excluded_calls"] == 1
    send(api, [called(1)])
    assert check(api)[0] == "called"


@pytest.mark.parametrize("days", ["0", "-1", "x", "1e9"])
def test_days_that_cannot_be_used_are_refused(api: TestClient, days: str) -> None:
    refused = api.get(f"/api/v1/check?days={days}")
    assert refused.status_code == 422
    assert "days" in refused.json()["detail"]


def test_the_command_ends_with_the_status_of_its_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And prints one line, or the same as JSON."""
    database, log = str(tmp_path / "x.db"), tmp_path / "log"
    log.write_text("\n".join([*heard(), called(3)]))
    app(["ingest", str(log), "--db", database, "--server", "maps"], standalone_mode=False)
    capsys.readouterr()

    def status(*arguments: str) -> int:
        monkeypatch.setattr("sys.argv", ["lastcall", "check", "--db", database, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    at = ("--as-of", "2026-10-31T00:00:00Z")
    assert status(*at) == 1
    assert capsys.readouterr().out.count("\n") == 1
    assert status(*at, "--days", "2") == 0
    assert status(*at, "--name", "nowhere") == 3
    capsys.readouterr()
    assert status(*at, "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "called"
    assert status("--days", "0") == 2
