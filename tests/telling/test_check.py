"""`lastcall check`, a gate for a pipeline: 0 quiet, 1 still called, 3 unknown."""

import json
import subprocess
import sys
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
    assert reason == "route: no call in 30 days, all of them watched"


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
    assert check(api, "days=1") == ("quiet", "2 names: no call in 1 day, all of them watched")
    assert check(api, "name=map")[0] == "quiet"
    assert check(api, "as_of=2026-10-27T01:00:00Z")[0] == "called"
    assert check(api, "name=route&days=4") == (
        "called",
        "route: 2 calls in 4 days (1 client), the last 2026-10-28T00:00:00.000Z",
    )


def worked(days_ago: float, tool: str = "route", client: str = "zed") -> str:
    return line(NOW - timedelta(days=days_ago), "Tool called", tool=tool, client=client)


def test_a_name_that_was_called_until_it_was_retired_does_not_pass_yet(api: TestClient) -> None:
    """Silence since yesterday says little of those who called it the day before; resolved or left out they
    do not keep it, nor does a call from before these days."""
    send(api, [*heard(), worked(40), worked(2), worked(2, client="probe-1")])
    entry = {"server": "maps", "name": "route", "retired_at": "2026-10-30T00:00:00Z"}
    assert api.post("/api/v1/catalogue", json=entry).status_code == 200

    worked_so = "2 ordinary calls in 30 days, before it was retired (2026-10-30T00:00:00.000Z)"
    assert check(api) == ("unknown", f"route: {worked_so}")
    assert check(api, "days=1")[0] == "quiet"
    api.post("/api/v1/exclusions", json={"version": "9.9"})
    assert check(api)[0] == "unknown"

    mark = {"kind": "resolved", "server": "maps", "client": "zed", "name": "route"}
    assert api.post("/api/v1/marks", json=mark).status_code == 200
    assert check(api)[0] == "unknown"
    assert api.post("/api/v1/exclusions", json={"client": "probe-*"}).status_code == 200
    assert check(api)[0] == "quiet"


def test_what_is_not_known_is_unknown(api: TestClient) -> None:
    assert check(api) == ("unknown", "no retired name is known")
    send(api, [*heard(), called(40)])
    assert check(api, "name=nowhere&server=maps") == ("unknown", "nowhere was never seen at maps")
    assert check(api, "server=other")[0] == "unknown"


def test_a_hidden_name_and_one_of_tomorrow_are_said_to_be_so(api: TestClient) -> None:
    """Neither was "never seen"."""
    send(api, [*heard(), called(40), called(40, tool="map")])
    assert api.post("/api/v1/catalogue/hide", json={"server": "maps", "name": "map"}).is_success
    entry = {"server": "maps", "name": "poi", "retired_at": "2026-12-24"}
    assert api.post("/api/v1/catalogue", json=entry).is_success
    assert check(api, "name=map")[1] == "map is hidden; `lastcall catalogue unhide` shows it again"
    assert check(api, "name=poi&server=maps") == ("unknown", "poi is not retired yet at maps")


@pytest.mark.parametrize("rule", [None, {"client": "probe"}, {"network": "203.0.113.0/24"}])
def test_a_name_that_worked_was_not_quiet(api: TestClient, rule: dict[str, str] | None) -> None:
    """Its ordinary calls before it is retired are told of, without those that rules leave out, by
    whatever kind of rule; and it passes once it is said to be retired since before them."""
    of_zed = {"tool": "map", "client": "zed"}
    send(api, [line(NOW - timedelta(days=n), "Tool called", **of_zed) for n in range(1, 50)])
    of_probe = {"tool": "map", "client": "probe", "ip": "203.0.113.7"}
    send(
        api,
        [line(NOW - timedelta(days=n, hours=1), "Tool called", **of_probe) for n in range(1, 5)],
    )
    send(api, heard())
    if rule:
        assert api.post("/api/v1/exclusions", json=rule).is_success
    calls = 30 if rule else 34
    entry = {"server": "maps", "name": "map"}
    assert api.post("/api/v1/catalogue", json=entry).is_success
    worked = f"map: {calls} ordinary calls in 30 days, before it was"
    ask = "say since when it is retired (retired_at)"
    entered = f"{worked} entered (2026-10-31T00:00:00.000Z); {ask}"
    assert check(api, "name=map") == ("unknown", entered)
    noon = {"retired_at": "2026-10-30T12:00:00Z"}
    assert api.post("/api/v1/catalogue", json=entry | noon).is_success
    assert check(api) == ("unknown", f"{worked} retired (2026-10-30T12:00:00.000Z)")
    assert api.post("/api/v1/catalogue", json=entry | {"retired_at": "2026-10-29"}).is_success
    assert check(api)[0] == "called"


def test_what_was_resolved_and_what_is_left_out_does_not_fail_it(api: TestClient) -> None:
    send(api, [*heard(), called(3), called(4, client="probe-1")])
    assert check(api)[0] == "called"
    api.post("/api/v1/exclusions", json={"client": "probe-*"})
    resolved = {"kind": "resolved", "server": "maps", "client": "zed", "name": "route"}
    at = (NOW - timedelta(days=3)).isoformat()
    assert api.post("/api/v1/marks", json={**resolved, "at": at}).status_code == 200
    assert check(api) == (
        "quiet",
        "route: no open call in 30 days, all of them watched; 1 before a resolution, 1 left out by rules",
    )
    found = api.get("/api/v1/check").json()
    assert found["excluded_calls"] == 1
    [row] = found["names"]
    assert (row["open_calls"], row["resolved_calls"], row["excluded_calls"]) == (0, 1, 1)
    send(api, [called(1)])
    assert check(api)[0] == "called"


@pytest.mark.parametrize(
    "as_of", ["0001-01-01", "0001-01-02T00:00:00Z", "9999-12-31", "1970-01-01"]
)
@pytest.mark.parametrize("days", [1, 3_660])
def test_any_instant_can_be_asked_for_and_none_without_an_hour_passes(
    api: TestClient, as_of: str, days: int
) -> None:
    """Of a name that is catalogued for ever: at the beginning of time nothing was watched."""
    entry = {"server": "maps", "name": "route", "retired_at": "0001-01-01T00:00:00Z"}
    send(api, heard())
    assert api.post("/api/v1/catalogue", json=entry).status_code == 200
    verdict, reason = check(api, f"days={days}&as_of={as_of}")
    assert verdict == ("quiet" if (as_of, days) == ("9999-12-31", 1) else "unknown"), reason


def test_thousands_of_callers_are_counted_as_one_question(api: TestClient) -> None:
    """More of them than any page holds, some resolved, which of their calls still count."""
    clients = [f"c{i:04}" for i in range(2_500)]
    send(api, [*heard(), *(called(3, client=each) for each in clients)])
    for client in clients[:3]:
        mark = {"kind": "resolved", "server": "maps", "client": client, "name": "route"}
        at = {"at": (NOW - timedelta(days=2)).isoformat()}
        assert api.post("/api/v1/marks", json=mark | at).status_code == 200
    send(api, [called(1, client=clients[0])])
    (row,) = api.get("/api/v1/check").json()["names"]
    assert (row["open_calls"], row["clients"]) == (2_498, 2_498)


@pytest.mark.parametrize("ahead", [timedelta(seconds=1), timedelta(hours=23, minutes=59)])
def test_nothing_is_resolved_before_it_has_happened(api: TestClient, ahead: timedelta) -> None:
    """A mark by a clock that is ahead is one of now: the next call counts."""
    send(api, [*heard(), called(3)])
    mark = {"kind": "resolved", "server": "maps", "client": "zed", "name": "route"}
    told = api.post("/api/v1/marks", json=mark | {"at": (NOW + ahead).isoformat()})
    assert (told.status_code, told.json()["at"]) == (200, "2026-10-31T00:00:00.000Z")
    assert check(api)[0] == "quiet"
    send(api, [called(-1 / 86_400)])
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
    assert status("--as-of", "yesterday") == 2

    # status 1 is a call's alone: what fails leaves it unknown
    Path(database).write_bytes(b"no database at all" * 100)
    assert status() == 3
    Path(database).unlink()
    assert status() == 3
    assert "no database at" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["service", "service.cli"])
def test_the_command_can_be_run_as_a_module(module: str, tmp_path: Path) -> None:
    """A gate that does nothing and ends with 0 would let everything pass."""
    arguments = ["check", "--db", str(tmp_path / "none.db")]
    run = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "no database at" in done.stderr
