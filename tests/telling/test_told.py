"""What people tell changes what answers count, and not what is stored; taken back, all is as before."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

DAY = "2026-10-{:02d}T10:00:{:02d}.{:03d}Z"
NOW_US = 1_793_500_000_000_000  # 2026-10-31


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """A service without a line, on both databases."""
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    with TestClient(create_app(settings, clock=lambda: NOW_US)) as client:
        yield client


class Log:
    """Stale calls, one a second."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def call(self, day: int, client: str | None, *, times: int = 1, **data: Any) -> "Log":
        for _ in range(times):
            at = DAY.format(day, len(self.lines) % 60, len(self.lines) % 1000)
            said = {"tool": data.pop("tool", "route"), "client": client, **data}
            self.lines.append(json.dumps({"time": at, "msg": "Retired tool called", "data": said}))
        return self

    def send(self, api: TestClient, server: str = "maps") -> None:
        receipt = api.post(f"/ingest?server={server}", content="\n".join(self.lines)).json()
        assert receipt["accepted"] == len(self.lines)


def items(api: TestClient, path: str) -> list[dict[str, Any]]:
    answer = api.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def calls(api: TestClient, path: str = "callers") -> dict[str | None, int]:
    return {row["client"]: row["stale_calls"] for row in items(api, path)}


def tell(api: TestClient, path: str, **told: Any) -> dict[str, Any]:
    answer = api.post(f"/api/v1/{path}", json=told)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


# ----------------------------------------------------------------------------- aliases


def test_an_alias_makes_two_clients_one_and_back(api: TestClient) -> None:
    """In every answer, by either name, under the name that was told."""
    Log().call(1, "windsurf-client", times=3).call(2, "WINDSURF").call(3, "zed").send(api)
    before = {path: items(api, path) for path in ("callers", "clients", "names")}
    told = {"client": "Windsurf-Client", "target": "Windsurf"}

    assert tell(api, "aliases", **told)["outcome"] == "created"
    assert tell(api, "aliases", **told)["outcome"] == "unchanged"
    assert calls(api) == {"Windsurf": 4, "zed": 1}
    assert calls(api, "callers?client=windsurf-client") == {"Windsurf": 4}
    assert calls(api, "clients?client=windsurf") == {"Windsurf": 4}
    assert items(api, "names")[0]["clients"] == 2
    values = {row["client"]: 0 for row in items(api, "series?by=client&until=2026-10-05")}
    assert set(values) == {"Windsurf", "zed"}

    assert api.delete("/api/v1/aliases?client=windsurf-client").status_code == 204
    assert {path: items(api, path) for path in before} == before
    assert api.delete("/api/v1/aliases?client=windsurf-client").status_code == 404


def test_aliases_are_followed_to_their_end_and_never_in_a_circle(api: TestClient) -> None:
    Log().call(1, "a").call(1, "b").call(1, "c").send(api)
    tell(api, "aliases", client="a", target="b")
    tell(api, "aliases", client="b", target="C")

    assert calls(api) == {"C": 3}
    refused = api.post("/api/v1/aliases", json={"client": "c", "target": "A"})
    assert refused.status_code == 422
    assert "take that back first" in refused.json()["detail"]


def test_a_client_that_never_came_may_be_a_target(api: TestClient) -> None:
    """Its name is shown as it was told."""
    Log().call(1, "mcp").send(api)
    tell(api, "aliases", client="mcp", target="The Night Job")
    assert calls(api) == {"The Night Job": 1}
    assert calls(api, "callers?client=the night job") == {"The Night Job": 1}


# ----------------------------------------------------------------------------- exclusions


def test_what_a_rule_leaves_out_is_told_of_and_comes_back(api: TestClient) -> None:
    """By a pattern of names, whoever else calls is still seen."""
    Log().call(1, "mcp-probe-1", times=5).call(1, "mcp-probe-2").call(2, "zed", times=2).send(api)

    rule = tell(api, "exclusions", client="MCP-probe-*", note="our own")

    assert calls(api) == {"zed": 2}
    assert calls(api, "callers?excluded=only") == {"mcp-probe-1": 5, "mcp-probe-2": 1}
    assert sum(calls(api, "callers?excluded=count").values()) == 8
    for path in ("names", "callers", "clients", "overview", "series", "servers"):
        assert api.get(f"/api/v1/{path}").json()["excluded_calls"] == 6, path
    [row] = items(api, "exclusions")
    assert (row["stale_calls"], row["clients"], row["names"]) == (6, 2, 1)
    assert row["last_call"] == DAY.format(1, 5, 5)

    assert api.delete(f"/api/v1/exclusions/{rule['id']}").status_code == 204
    assert sum(calls(api).values()) == 8
    assert api.delete(f"/api/v1/exclusions/{rule['id']}").status_code == 404


def test_a_rule_of_many_stars_leaves_out_what_is_like_it(api: TestClient) -> None:
    """And is tried on every name that strangers make up, however near to it that comes."""
    near = "a" * 240
    Log().call(1, near).call(1, near + "b", times=2).send(api)
    tell(api, "exclusions", client="a*" * 120 + "b")
    assert calls(api) == {near: 1}


def test_a_rule_never_hides_who_also_calls_otherwise(api: TestClient) -> None:
    """Of the calls of one client, only those of the named version, range of addresses or server go."""
    log = Log().call(1, "zed", clientVersion="0-test", times=4).call(1, "zed", clientVersion="1")
    log.call(2, "zed", ip="203.0.113.9", times=2).call(2, "zed", ip="198.51.100.9")
    log.call(3, "zed/0-test", times=3).send(api)
    Log().call(1, "zed", clientVersion="0-test").send(api, server="shop")

    tell(api, "exclusions", server="maps", client="zed", version="0-test")
    assert calls(api, "callers?server=maps") == {"zed": 4}  # of 11: 4 by the line, 3 by the name
    assert calls(api, "callers?server=shop") == {"zed": 1}

    tell(api, "exclusions", network="203.0.0.0/16")
    assert calls(api, "callers?server=maps") == {"zed": 2}
    assert items(api, "names?server=maps")[0]["stale_calls"] == 2
    assert sum(row["value"] for row in items(api, "series?server=maps")) == 2


def test_a_rule_leaves_out_notifications_to_its_clients_too(api: TestClient) -> None:
    """By name and by version; they are told of, and can be asked for."""
    sent = [("probe", "1"), ("zed", "0-test"), ("zed", "1"), ("zed", "1")]
    lines = [
        {
            "time": DAY.format(day + 1, 0, 0),
            "msg": "Tool list changed notification sent",
            "data": {"client": client, "clientVersion": version, "sessionId": f"s{day}"},
        }
        for day, (client, version) in enumerate(sent)
    ]
    api.post("/ingest?server=maps", content="\n".join(map(json.dumps, lines)))
    tell(api, "exclusions", client="probe")
    tell(api, "exclusions", client="zed", version="0-test")

    def told(path: str) -> tuple[dict[str, int], int]:
        answer = api.get(f"/api/v1/{path}").json()
        rows = {row["client"]: row["notifications"] for row in answer["items"]}
        return rows, answer["excluded_notifications"]

    assert told("reactions") == ({"zed": 2}, 2)
    assert told("reactions?excluded=only") == ({"probe": 1, "zed": 1}, 0)
    assert told("reactions?excluded=count") == ({"probe": 1, "zed": 3}, 0)
    assert told("reactions?client=zed") == ({"zed": 2}, 1)


def test_what_a_client_did_later_counts_under_each_of_its_names(api: TestClient) -> None:
    """Three calls by a spelling that was never notified, joined by an alias: it ignored the notification."""
    sent = {
        "time": DAY.format(1, 0, 0),
        "msg": "Tool list changed notification sent",
        "data": {"client": "zed", "sessionId": "s"},
    }
    api.post("/ingest?server=maps", content=json.dumps(sent))
    Log().call(3, "Zed Preview", times=3).send(api)

    def labels() -> dict[str, int]:
        [row] = items(api, "reactions")
        return {label: n for label, n in row["shares"]["labels"].items() if n}

    assert labels() == {"silent": 1}
    tell(api, "aliases", client="zed preview", target="zed")
    assert labels() == {"ignored": 1}


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ({"server": "maps"}, "name a client, a version or a network"),
        ({"client": " * "}, "would leave every client out"),
        ({"network": "203.0.113.9"}, "write 203.0.113.0/24"),
        ({"network": "2001:db8:1:2::/64"}, "write 2001:db8:1::/48"),
        ({"network": "10.0.0.0/8"}, "too wide"),
        ({"network": "home"}, "203.0.113.0/24"),
        ({"client": "x", "note": "n" * 1_001}, "at most 1,000"),
        ({"client": 7}, "must be text"),
        ({"who": "x"}, "unknown member"),
    ],
)
def test_a_rule_that_cannot_be_used_says_what_can(
    api: TestClient, rule: dict[str, Any], hint: str
) -> None:
    refused = api.post("/api/v1/exclusions", json=rule)
    assert refused.status_code == 422
    assert hint in refused.json()["detail"]
    assert items(api, "exclusions") == []


# ----------------------------------------------------------------------------- marks


def test_the_number_of_a_rule_that_was_taken_back_is_not_given_again(api: TestClient) -> None:
    """The audit tells of rules by their numbers."""
    numbers = []
    for client in ("a", "b"):
        numbers.append(tell(api, "exclusions", client=client)["id"])
        assert api.delete(f"/api/v1/exclusions/{numbers[-1]}").status_code == 204
    assert numbers[0] < numbers[1]


def test_once_resolved_only_later_calls_are_open_and_reopen_it(api: TestClient) -> None:
    """The call at the very instant is not later."""
    Log().call(1, "zed").call(2, "zed").send(api)
    at = DAY.format(2, 1, 1)
    mark = tell(api, "marks", kind="resolved", server="maps", client="Zed", name="route", at=at)

    [row] = items(api, "callers")
    assert (row["status"], row["open_calls"], row["stale_calls"]) == ("resolved", 0, 2)
    Log().call(3, "zed", sessionId="late").send(api)
    [row] = items(api, "callers")
    assert (row["status"], row["open_calls"], row["stale_calls"]) == ("reopened", 1, 3)
    [row] = items(api, "marks")
    assert (row["status"], row["calls_since"]) == ("reopened", 1)

    assert api.delete(f"/api/v1/marks/{mark['id']}").status_code == 204
    [row] = items(api, "callers")
    assert (row["status"], row["marked_at"], row["open_calls"]) == ("open", None, 3)
    assert items(api, "marks") == []
    assert api.delete(f"/api/v1/marks/{mark['id']}").status_code == 404


def test_the_last_mark_says_how_it_stands_and_one_of_all_names_holds_for_each(
    api: TestClient,
) -> None:
    Log().call(1, "zed").call(1, "zed", tool="map").call(1, None).send(api)
    tell(api, "marks", kind="contacted", server="maps", client="zed", at=DAY.format(5, 0, 0))
    tell(
        api,
        "marks",
        kind="known",
        server="maps",
        client="zed",
        name="map",
        at=DAY.format(6, 0, 0),
    )
    tell(api, "marks", kind="known", server="maps", client="", name="route")

    status = {(row["name"], row["client"]): row["status"] for row in items(api, "callers")}

    assert status == {
        ("route", "zed"): "contacted",
        ("map", "zed"): "known",
        ("route", None): "known",
    }
    assert [row["client"] for row in items(api, "marks?client=")] == [None]
    assert len(items(api, "marks?name=map")) == 2


def test_a_mark_follows_its_client_through_an_alias(api: TestClient) -> None:
    """It was said of one who is now known to be another."""
    Log().call(1, "windsurf-client").send(api)
    tell(api, "marks", kind="known", server="maps", client="windsurf-client")
    tell(api, "aliases", client="windsurf-client", target="Windsurf")
    [row] = items(api, "callers")
    assert (row["client"], row["status"]) == ("Windsurf", "known")


@pytest.mark.parametrize(
    ("mark", "hint"),
    [
        ({"kind": "gone"}, "contacted, known, resolved"),
        ({"server": None}, "name the MCP server"),
        ({"client": None}, 'or "" for calls that name none'),
        ({"at": "2027-01-01T00:00:00Z"}, "ahead of the clock"),
        ({"at": "yesterday"}, "write an instant"),
    ],
)
def test_a_mark_that_cannot_be_used_says_what_can(
    api: TestClient, mark: dict[str, Any], hint: str
) -> None:
    good = {"kind": "known", "server": "maps", "client": "zed"}
    refused = api.post("/api/v1/marks", json={**good, **mark})
    assert refused.status_code == 422
    assert hint in refused.json()["detail"]


# ----------------------------------------------------------------------------- commands


def test_commands_tell_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from service.cli import app

    database = str(tmp_path / "told.db")
    log = tmp_path / "a.ndjson"
    log.write_text("\n".join(Log().call(1, "probe").call(1, "ws").lines))

    def run(*arguments: str) -> str:
        app([*arguments, "--db", database], standalone_mode=False)
        return capsys.readouterr().out

    run("ingest", str(log), "--server", "maps")
    assert "ws is Windsurf: created" in run("clients", "alias", "ws", "Windsurf")
    assert "exclusion 1: created" in run("clients", "exclude", "--client", "probe")
    assert "mark 1: Windsurf, every name: known at" in run(
        "clients", "mark", "known", "maps", "Windsurf"
    )
    assert "taken back" in run("clients", "unmark", "1")
    assert "taken back" in run("clients", "include", "1")
    assert "itself again" in run("clients", "unalias", "ws")


@pytest.mark.parametrize("path", ["aliases", "exclusions", "marks"])
def test_hostile_text_stays_text(api: TestClient, path: str) -> None:
    """Also in a table that a spreadsheet opens."""
    evil = '=HYPERLINK("http://x")<script>\u202e'
    body: dict[str, Callable[[], dict[str, str]]] = {
        "aliases": lambda: {"client": evil, "target": evil + "2", "note": evil},
        "exclusions": lambda: {"client": evil, "note": evil},
        "marks": lambda: {"kind": "known", "server": "maps", "client": evil, "note": evil},
    }
    tell(api, path, **body[path]())
    table = api.get(f"/api/v1/{path}?format=csv").text
    assert "'=HYPERLINK" in table or "'=hyperlink" in table
    assert '"=h' not in table.lower()


def test_each_of_many_marks_counts_the_calls_that_are_its_own(api: TestClient) -> None:
    """By server, name and client; a mark without a name is of all names of its server."""
    made = [
        (server, tool, client, day)
        for server in ("maps", "shop")
        for tool in ("old-a", "old-b")
        for client in ("zed", "kim", "")
        for day in (1, 2, 4)
        if (server, tool, client) != ("shop", "old-b", "kim")
    ]
    for server in ("maps", "shop"):
        log = Log()
        for where, tool, client, day in made:
            if where == server:
                log.call(day, client or None, tool=tool)
        log.send(api, server=server)
    for server in ("maps", "shop"):
        for name in ("old-a", "old-b", None):
            for client in ("zed", "kim", "", "never"):
                at = DAY.format(3, 0, 0)
                tell(api, "marks", kind="known", server=server, client=client, name=name, at=at)

    rows = items(api, "marks")
    assert len(rows) == 24
    for row in rows:
        days = [
            day
            for server, tool, client, day in made
            if server == row["server"]
            and row["name"] in (None, tool)
            and client == (row["client"] or "")
        ]
        assert row["calls_since"] == sum(day > 3 for day in days), row
        assert (row["last_call"] or "")[:10] == (
            DAY.format(max(days), 0, 0)[:10] if days else ""
        ), row
