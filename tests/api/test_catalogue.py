"""The catalogue and snapshots over REST: told, listed, hidden, compared, looked over."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.api.test_rest import NOW, line

ROUTE = {
    "server": "maps",
    "name": "route",
    "last_release": "1.0",
    "replaced_by": ["plan"],
    "message": "Call plan in place of route.",
    "retired_at": "2026-10-01T02:00:00+02:00",
}
KEPT = {
    **ROUTE,
    "retired_at": "2026-10-01T00:00:00.000Z",
    "hidden": False,
    "versions": 1,
    "source": "rest",
    "actor": "rest",
    "said_at": "2026-10-06T00:00:00.000Z",
}


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """A service over an empty database whose clock says 2026-10-06T00:00:00Z."""
    app = create_app(Settings(database_url=database_url, max_body_bytes=65_536), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def tell(client: TestClient, body: Any, path: str = "catalogue") -> httpx.Response:
    """POST a body: bytes as they are, anything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(f"/api/v1/{path}", content=content)


def items(client: TestClient, path: str, /, **params: str | int) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/{path}", params=params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


def test_an_entry_that_was_told_is_listed_with_its_versions(client: TestClient) -> None:
    """Created once, then unchanged; a member that is absent stays, null takes it back."""
    answers = [tell(client, ROUTE).json() for _ in range(2)]
    assert answers == [{**KEPT, "outcome": outcome} for outcome in ("created", "unchanged")]
    assert items(client, "catalogue") == [KEPT]

    changed = tell(client, {"server": "maps", "name": "route", "replaced_by": []}).json()
    assert (changed["outcome"], changed["replaced_by"], changed["message"]) == (
        "changed", [], ROUTE["message"],
    )  # fmt: skip
    tell(client, {"server": "maps", "name": "route", "message": None})
    history = items(client, "catalogue/history", name="route")
    assert [(row["versions"], row["replaced_by"], row["message"]) for row in history] == [
        (1, ["plan"], ROUTE["message"]), (2, [], ROUTE["message"]), (3, [], None),
    ]  # fmt: skip
    assert items(client, "catalogue", name="route")[0]["versions"] == 3
    assert items(client, "names")[0]["source"] == "told"


def test_entries_and_versions_come_in_pages(client: TestClient) -> None:
    """Each once, by server, name and version."""
    for server, name in (("b", "x"), ("a", "y"), ("a", "x"), ("a", "x")):
        tell(client, {"server": server, "name": name, "message": f"{server}{name}{len(name)}"})
    tell(client, {"server": "a", "name": "x", "message": "again"})
    for path, expected in (("catalogue", 3), ("catalogue/history", 4)):
        found: list[tuple[Any, ...]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = client.get(f"/api/v1/{path}", params={"limit": 1, "cursor": cursor}).json()
            found += [(r["server"], r["name"], r["versions"]) for r in page["items"]]
            cursor = page["next_cursor"]
        assert len(found) == expected
        assert found == sorted(found)


def test_a_hidden_name_is_in_the_catalogue_only(client: TestClient) -> None:
    """Also one that only a line knows; shown again it is back. What nobody knows is refused."""
    client.post("/ingest?server=maps", content=json.dumps(line("2026-10-05T10:00:00Z", "zed")))
    named = {"server": "maps", "name": "route"}
    assert [row["name"] for row in items(client, "names")] == ["route"]

    assert tell(client, named, "catalogue/hide").json()["outcome"] == "created"
    assert tell(client, named, "catalogue/hide").json()["outcome"] == "unchanged"
    assert items(client, "names") == []
    assert [(r["name"], r["hidden"]) for r in items(client, "catalogue")] == [("route", True)]
    assert tell(client, named, "catalogue/unhide").json()["hidden"] is False
    assert [row["name"] for row in items(client, "names")] == ["route"]

    for path in ("catalogue/hide", "catalogue/unhide"):
        answer = tell(client, {"server": "maps", "name": "typo"}, path)
        assert (answer.status_code, answer.json()["parameter"]) == (422, "name")


@pytest.mark.parametrize(("path", "body", "parameter", "says"), [
    ("catalogue", b"", None, "send a JSON object such as"),
    ("catalogue", b"[" * 5000, None, "send a JSON object such as"),
    ("catalogue", b'{"server": NaN}', None, "is not JSON"),
    ("catalogue", ["route"], None, "no JSON object"),
    ("catalogue", {"name": "route"}, "server", "such as maps"),
    ("catalogue", {"server": "maps"}, "name", "missing"),
    ("catalogue", {"server": "maps", "name": " \0"}, "name", "missing"),
    ("catalogue", {"server": "maps", "name": 7}, "name", "must be text"),
    ("catalogue", {"server": 7, "name": "route"}, "server", "must be text"),
    ("catalogue", {**ROUTE, "replaced_by": [7]}, "replaced_by", "must be text"),
    ("catalogue", {**ROUTE, "replaced_by": {"a": 1}}, "replaced_by", "must be a list of names"),
    ("catalogue", {**ROUTE, "replaced_by": ["x"] * 101}, "replaced_by", "at most 100"),
    ("catalogue", {**ROUTE, "last_release": 1.7}, "last_release", "must be text"),
    ("catalogue", {**ROUTE, "message": "m" * 10_001}, "message", "at most 10000"),
    ("catalogue", {**ROUTE, "retired_at": "soon"}, "retired_at", "2026-10-05T10:15:02Z"),
    ("catalogue", {**ROUTE, "retired_at": 5}, "retired_at", "must be text"),
    ("catalogue", {**ROUTE, "hidden": True}, "hidden", "unknown member"),
    ("catalogue/hide", {"server": "maps"}, "name", "missing"),
    ("catalogue/unhide", {"server": "maps", "name": "a", "message": ""}, "message", "unknown"),
    ("snapshots", {"server": "maps"}, "tools", "must be a list of tools"),
    ("snapshots", {"server": "maps", "tools": {"tools": "x"}}, "tools", "must be a list"),
    ("snapshots", {"server": "maps", "tools": [{"name": ""}]}, "tools", "missing"),
    ("snapshots", {"server": "maps", "tools": [{"name": "a"}, 7]}, "tools", "the 2. is no object"),
    ("snapshots", {"tools": []}, "server", "such as maps"),
    ("snapshots", {"server": "maps", "tools": [], "version": 1}, "version", "must be text"),
    ("snapshots", {"server": "maps", "tools": [], "at": "2026-10-09"}, "at", "later than the clock"),
    ("snapshots", b'{"server":"m","tools":[{"name":"a","x":' + b"[" * 200 + b"]" * 200 + b"}]}",
     "tools", "deeper than 64"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_and_nothing_is_stored(
    client: TestClient, path: str, body: Any, parameter: str | None, says: str
) -> None:
    """422 as problem+json, which says what would be right."""
    answer = tell(client, body, path)

    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().get("parameter") == parameter
    assert says in answer.json()["detail"]
    assert items(client, "catalogue") == items(client, "snapshots") == []


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "=1+1", "\u202eevil", "😀" * 300, "a\nb"]
)
def test_hostile_names_are_kept_as_lines_spell_them(client: TestClient, name: str) -> None:
    """An entry, a line and a snapshot of it are of one name."""
    tell(client, {"server": "maps", "name": name, "message": "\ud800\u0000x"})
    said = json.dumps(line("2026-10-05T10:00:00Z", "zed", tool=name))
    client.post("/ingest?server=maps", content=said)
    (row,) = items(client, "names")
    assert (row["stale_calls"], row["source"], row["message"]) == (1, "told", "\ufffdx")

    hostile = {"name": name, "description": "\ud800\u0000" + name}
    tell(client, {"server": "maps", "tools": [hostile]}, "snapshots")
    found = items(client, "catalogue/lint")
    assert [fault["rule"] for fault in found if fault["name"] == row["name"]] == [
        "message_incomplete", "still_listed",
    ]  # fmt: skip
    assert client.get("/api/v1/catalogue", params={"format": "csv"}).status_code == 200


def test_snapshots_are_kept_and_compared(client: TestClient) -> None:
    """The last two, or those that are named; lost names become proposals until they are catalogued."""
    versions = [[tool("echo"), tool("zip")], [tool("echo", a={"type": "string"})], [tool("echo")]]
    for number, tools in enumerate(versions, start=1):
        body = {"server": "maps", "tools": {"tools": tools}, "version": f"{number}.0",
                "at": f"2026-10-0{number}T00:00:00Z"}  # fmt: skip
        assert tell(client, body, "snapshots").json()["outcome"] == "created"
        assert tell(client, body, "snapshots").json()["outcome"] == "unchanged"

    listed = items(client, "snapshots")
    assert [(row["version"], row["tools"]) for row in listed] == [
        ("1.0", 2),
        ("2.0", 1),
        ("3.0", 1),
    ]
    assert [row["version"] for row in items(client, "releases", since="2026-09-01")] == [
        "1.0", "2.0", "3.0",
    ]  # fmt: skip

    def compare(**params: str) -> Any:
        return client.get("/api/v1/catalogue/diff", params=params).json()

    latest = compare()
    assert [(r["rule"], r["argument"]) for r in latest["items"]] == [("argument_changed", "a")]
    assert (latest["before"]["version"], latest["after"]["version"]) == ("2.0", "3.0")
    first = compare(before="1.0", after=str(listed[1]["id"]))
    assert (first["lost"], first["gained"]) == (["zip"], [])
    assert first["proposals"] == [
        {"server": "maps", "name": "zip", "last_release": "1.0",
         "retired_at": "2026-10-02T00:00:00.000Z", "maybe": []}
    ]  # fmt: skip
    tell(client, {"server": "maps", "name": "zip"})
    assert compare(before="2026-10-01T00:00:00.000Z")["proposals"] == []

    assert compare(before="9")["detail"].startswith("before: no such snapshot; there are 1 (1.0), ")
    assert compare(server="none", after="9")["detail"].startswith(
        "after: no such snapshot; there is"
    )
    alone = compare(after="1.0")
    assert (alone["before"], alone["after"]["version"], alone["items"]) == (None, "1.0", [])
    none = compare(server="none")
    assert (none["before"], none["after"], none["items"], none["lost"]) == (None, None, [], [])
    tell(client, {"server": "other", "tools": []}, "snapshots")
    assert compare()["detail"] == "server: missing; one of maps, other"


def call(time: str, client: str | None, tool: str, **more: Any) -> dict[str, Any]:
    data = {"tool": tool, "client": client, **more}
    return {"level": "info", "time": time, "data": data, "msg": "Tool called"}


def test_what_still_works_has_its_callers(client: TestClient) -> None:
    """Listed or called; retired names and their spellings are not among them."""
    lines = [
        call("2026-10-05T10:00:00Z", "zed", "plan"),
        call("2026-10-05T11:00:00Z", "Zed", "mcp__maps__plan"),
        call("2026-10-05T12:00:00Z", None, "plan"),
        call("2026-10-05T13:00:00Z", "cursor", "unlisted"),
        call("2026-10-05T14:00:00Z", "cursor", "gw/route"),
        line("2026-10-05T09:00:00Z", "zed"),
    ]
    client.post("/ingest?server=maps", content="\n".join(map(json.dumps, lines)))
    before = {row["name"]: row for row in items(client, "listed")}
    assert set(before) == {"plan", "mcp__maps__plan", "unlisted"}
    assert {row["listed"] for row in before.values()} == {None}

    tell(
        client,
        {"server": "maps", "tools": [tool("plan"), tool("quiet"), tool("route")]},
        "snapshots",
    )

    rows = {row["name"]: row for row in items(client, "listed")}
    assert rows["plan"] == {
        "server": "maps", "name": "plan", "listed": True, "calls": 3, "clients": 1, "active_days": 1,
        "top_clients": ["Zed"], "unattributed_calls": 1, "first_call": "2026-10-05T10:00:00.000Z",
        "last_call": "2026-10-05T12:00:00.000Z",
    }  # fmt: skip
    assert {name: (row["listed"], row["calls"]) for name, row in rows.items()} == {
        "plan": (True, 3), "quiet": (True, 0), "unlisted": (False, 1),
    }  # fmt: skip
    assert [row["name"] for row in items(client, "listed", sort="-last_call")] == [
        "unlisted", "plan", "quiet",
    ]  # fmt: skip
    assert [(r["name"], r["calls"]) for r in items(client, "listed", client="ZED")] == [("plan", 2)]
    late = items(client, "listed", name="plan", since="2026-10-05T11:30:00Z")
    assert [(row["calls"], row["clients"]) for row in late] == [(1, 0)]


def test_the_catalogue_is_looked_over(client: TestClient) -> None:
    """Beside the snapshot and the lines; hidden names are not."""
    client.post("/ingest?server=maps", content=json.dumps(line("2026-10-05T10:00:00Z", "zed")))
    tell(client, {"server": "maps", "name": "old", "replaced_by": ["older", "nowhere"]})
    tell(client, {"server": "maps", "name": "older", "replaced_by": ["plan"]})
    tell(client, {"server": "maps", "name": "plan2", "message": "plan2 is plan"})
    tell(client, {"server": "maps", "name": "bad", "replaced_by": ["gone"]})
    tell(client, {"server": "maps", "name": "bad"}, "catalogue/hide")
    tell(client, {"server": "maps", "tools": [tool("plan"), tool("plan2")]}, "snapshots")

    found = items(client, "catalogue/lint")
    assert [(row["name"], row["rule"], row["weight"], row["others"]) for row in found] == [
        ("old", "never_called", "look_at", []),
        ("old", "replacement_retired", "wrong", ["older", "plan"]),
        ("old", "replacement_unknown", "wrong", ["nowhere"]),
        ("older", "never_called", "look_at", []),
        ("plan2", "never_called", "look_at", []),
        ("plan2", "still_listed", "wrong", []),
        ("route", "not_catalogued", "look_at", []),
    ]  # fmt: skip
    assert all(row["says"] for row in found)


def test_an_entry_without_a_date_of_a_name_that_worked_is_looked_at(client: TestClient) -> None:
    """Until it says since when it is retired; a line that calls it retired says so, too."""
    worked = [
        {"time": f"2026-10-0{day}T10:00:00Z", "msg": "Tool called", "data": {"tool": "route"}}
        for day in (1, 2, 3)
    ]
    client.post("/ingest?server=maps", content="\n".join(map(json.dumps, worked)))
    tell(client, {"server": "maps", "name": "route"})
    [found] = items(client, "catalogue/lint")
    assert (found["name"], found["rule"], found["weight"]) == ("route", "not_dated", "look_at")
    assert found["says"].startswith("3 ordinary calls came before it was entered")
    tell(client, {"server": "maps", "name": "route", "retired_at": "2026-10-03"})
    assert items(client, "catalogue/lint") == []
    tell(client, {"server": "maps", "name": "route", "retired_at": None})
    stale = line("2026-10-04T10:00:00Z", "zed")
    client.post("/ingest?server=maps", content=json.dumps(stale))
    assert items(client, "catalogue/lint") == []
