"""Whom to reach, in which order, and with which words."""

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from markdown_it import MarkdownIt

from service.app import create_app
from service.settings import settings_from_environment

NOW_US = 1_793_500_000_000_000  # 2026-10-31
SCRIPT = "<script>alert('{}')</script>"


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """A service without a line, on both databases."""
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    with TestClient(create_app(settings, clock=lambda: NOW_US)) as client:
        yield client


def log(api: TestClient, *calls: tuple[int, str | None, str, int], server: str = "maps") -> None:
    """Calls as (day of October, client, name, how many), one a second from ten o'clock on."""
    lines = [
        json.dumps(
            {
                "time": f"2026-10-{day:02}T10:{at // 60:02}:{at % 60:02}Z",
                "msg": "Retired tool called",
                "data": {"tool": name, "client": client, "replacedBy": [f"{name}-2"]},
            }
        )
        for day, client, name, times in calls
        for at in range(times)
    ]
    receipt = api.post(f"/ingest?server={server}", content="\n".join(lines)).json()
    assert receipt["accepted"] == len(lines)


def get(api: TestClient, path: str, **asked: Any) -> dict[str, Any]:
    answer = api.get(f"/api/v1/{path}", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def rows(found: dict[str, Any]) -> list[tuple[str | None, str, int, int]]:
    return [(r["client"], r["name"], r["client_days"], r["client_calls"]) for r in found["items"]]


def mark(api: TestClient, kind: str, client: str, **more: Any) -> None:
    told = {"kind": kind, "server": "maps", "client": client, **more}
    answer = api.post("/api/v1/marks", json=told)
    assert answer.status_code == 200, answer.text


def test_days_count_before_calls(api: TestClient) -> None:
    """Whoever calls often on one day stands after whoever calls on three; the client's days decide."""
    log(api, (1, "loud", "a", 50), (1, "habit", "a", 1), (2, "habit", "b", 1), (3, "habit", "b", 1))
    log(api, (4, None, "a", 1), (4, "loud", "b", 1))
    assert rows(get(api, "todo")) == [
        ("habit", "a", 3, 3),
        ("habit", "b", 3, 3),
        ("loud", "a", 2, 51),
        ("loud", "b", 2, 51),
        (None, "a", 1, 1),
    ]


def test_pages_go_on_where_the_last_one_ended(api: TestClient) -> None:
    """Two rows at a time, each once."""
    log(api, *((day, f"c{day}", name, day) for day in (1, 2, 3) for name in "ab"))
    found, cursor = [], None
    while True:
        part = get(api, "todo", limit=2, **({"cursor": cursor} if cursor else {}))
        found += rows(part)
        cursor = part["next_cursor"]
        if cursor is None:
            break
    assert [row[:2] for row in found] == [(f"c{day}", name) for day in (3, 2, 1) for name in "ab"]


def test_what_was_done_leaves_the_list_until_it_is_called_again(api: TestClient) -> None:
    """Resolved after its last call it is gone, before it reopened; known and contacted are counted."""
    log(api, (1, "fixed", "a", 2), (1, "back", "a", 2), (5, "back", "a", 3), (1, "known", "a", 1))
    log(api, (1, "asked", "a", 1), (1, "open", "a", 1))
    mark(api, "resolved", "fixed", at="2026-10-02T00:00:00Z")
    mark(api, "resolved", "back", at="2026-10-02T00:00:00Z")
    mark(api, "known", "known", name="a")
    mark(api, "contacted", "asked")
    found = get(api, "todo")
    assert [(row["client"], row["status"], row["open_calls"]) for row in found["items"]] == [
        ("back", "reopened", 3),
        ("open", "open", 1),
    ]
    assert found["totals"] == {
        "to_reach": 2,
        "reopened": 1,
        "unheeded": 0,
        "contacted": 1,
        "known": 1,
        "resolved": 1,
        "unattributed_calls": 0,
        "unattributed_told": 0,
        "due": 2,
        "rows": 5,
    }
    every = get(api, "todo", show="all")
    assert [row["client"] for row in every["items"]] == ["back", "open", "asked", "fixed", "known"]
    assert [one["client"] for one in every["messages"]] == ["back", "open"]


def test_whoever_was_contacted_and_goes_on_is_due_again_after_two_weeks(api: TestClient) -> None:
    """Fourteen days to the instant are patience; one call later they are back, and the letter says so."""
    log(api, (1, "zed", "a", 1), (16, "zed", "a", 1))
    mark(api, "contacted", "zed", at="2026-10-02T10:00:00Z")
    assert get(api, "todo")["items"] == []
    assert get(api, "marks")["items"][0]["status"] == "contacted"

    log(api, (17, "zed", "a", 1), (17, "other", "a", 1))

    found = get(api, "todo")
    assert [(row["client"], row["status"]) for row in found["items"]] == [
        ("zed", "unheeded"),
        ("other", "open"),
    ]
    totals = found["totals"]
    assert (totals["to_reach"], totals["unheeded"], totals["contacted"]) == (2, 1, 0)
    assert "although we wrote about it on 2026-10-02" in found["messages"][0]["text"]
    assert get(api, "marks")["items"][0]["status"] == "unheeded"

    mark(api, "contacted", "zed", at="2026-10-20T00:00:00Z")
    assert [row["client"] for row in get(api, "todo")["items"]] == ["other"]


def test_what_was_reopened_can_be_marked_again(api: TestClient) -> None:
    """The last mark says how it stands."""
    log(api, (1, "zed", "a", 1), (5, "zed", "a", 1))
    mark(api, "resolved", "zed", at="2026-10-02T00:00:00Z")
    assert get(api, "todo")["items"][0]["status"] == "reopened"
    mark(api, "known", "zed", at="2026-10-06T00:00:00Z")
    assert get(api, "todo")["items"] == []
    assert get(api, "callers")["items"][0]["status"] == "known"


def test_a_call_that_a_rule_leaves_out_reopens_nothing(api: TestClient) -> None:
    """Neither of callers nor of the mark itself."""
    log(api, (1, "zed", "a", 1), (5, "zed", "a", 1))
    mark(api, "resolved", "zed", at="2026-10-02T00:00:00Z")
    rule = {"client": "zed", "note": "our own"}
    assert api.post("/api/v1/exclusions", json=rule).status_code == 200
    row = get(api, "marks")["items"][0]
    assert (row["status"], row["calls_since"]) == ("resolved", 0)


def test_a_message_says_what_is_called_and_what_to_call(api: TestClient) -> None:
    """In the words that a person would use; the list of things to do has the same one."""
    log(api, (1, "codex-mcp-client", "route", 2), (3, "codex-mcp-client", "route", 1))
    api.post("/api/v1/catalogue", json={"server": "maps", "name": "route", "last_release": "1.6"})
    found = get(api, "contact", client="Codex-MCP-client")
    assert found["client"] == "codex-mcp-client"
    assert found["to"] == "Whoever uses Codex, by OpenAI (codex-mcp-client)"
    assert found["subject"] == "codex-mcp-client called retired tools of maps"
    assert "We counted 3 such calls, the last on 2026-10-03 10:00." in found["text"]
    assert (
        "- `route` (known as retired since 2026-10-01; last in release `1.6`): 3 calls on 2 days, the "
        "last on 2026-10-03. Please call `route-2` instead." in found["text"]
    )
    assert "End Codex and start it again" in found["text"]
    assert get(api, "todo")["messages"][0]["text"] == found["text"]
    alone = api.get("/api/v1/contact?client=codex-mcp-client&format=md")
    assert alone.headers["content-type"] == "text/markdown; charset=utf-8"
    assert alone.text == found["text"]


def test_a_message_leaves_out_what_is_known_and_says_what_came_back(api: TestClient) -> None:
    """The rows have both."""
    log(api, (1, "c", "kept", 1), (1, "c", "back", 4), (5, "c", "back", 1))
    mark(api, "known", "c", name="kept")
    mark(api, "resolved", "c", name="back", at="2026-10-04T00:00:00Z")
    found = get(api, "contact", client="c")
    assert [row["status"] for row in found["items"]] == ["reopened", "known"]
    assert "`kept`" not in found["text"]
    assert "1 call since 2026-10-04, when we took it for fixed" in found["text"]


def test_nobody_cannot_be_written_to(api: TestClient) -> None:
    """Nor can whoever called nothing."""
    log(api, (1, None, "a", 1))
    assert api.get("/api/v1/contact?client=").status_code == 422
    assert api.get("/api/v1/contact").status_code == 422
    nothing = get(api, "contact", client="stranger")
    assert (nothing["items"], nothing["text"]) == ([], "")
    assert get(api, "todo")["messages"] == []


def test_strangers_texts_stay_text_in_every_form(api: TestClient) -> None:
    """A script in each field: the message shows it as code, the table as text."""
    client, name = SCRIPT.format("client"), SCRIPT.format("name")
    data = {
        "tool": f"={name}",
        "client": client,
        "clientVersion": SCRIPT.format("version"),
        "lastRelease": SCRIPT.format("release"),
        "replacedBy": [SCRIPT.format("new"), "`x`"],
    }
    line = {"time": "2026-10-05T10:00:00Z", "msg": "Retired tool called", "data": data}
    api.post("/ingest", params={"server": SCRIPT.format("server")}, content=json.dumps(line))
    text = get(api, "contact", client=client)["text"]
    html = MarkdownIt("commonmark", {"html": True}).render(text)
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 7
    assert html.count("<code>") == 8
    table = api.get("/api/v1/contact", params={"client": client, "format": "csv"}).text
    (row,) = csv.DictReader(io.StringIO(table))
    assert row["name"] == f"'={name}"


STOPPED = ("stopped", "probably stopped")


def test_of_a_client_that_stopped_nothing_is_asked(api: TestClient) -> None:
    """By the word of `stopped`, of all its calls, however short the range; the cure stands behind it."""
    log(api, *((day, "gone", "old", 1) for day in range(1, 11)))
    log(api, *((day, "gone", "new", 1) for day in range(1, 31)))
    log(api, *((day, "there", "old", 1) for day in range(1, 31)))
    words = {
        (row["name"], row["client"]): row["verdict"]
        for row in get(api, "stopped", by="client")["items"]
    }
    assert words["old", "gone"] in STOPPED
    assert words["old", "there"] == words["new", "gone"] == "still calling"
    for path in "cures", "todo":
        for since in None, "2026-10-09":
            asked = {} if since is None else {"since": since}
            found = get(api, path, **asked)["items"]
            assert {(row["name"], row["client"]): row["verdict"] for row in found} == words
    for page in "/client?client=gone&server=maps", "/name?name=old&server=maps", "/todo":
        cells = re.findall(r'<b class="cure">(.*?)</b>', api.get(page).text)
        nothing = [cell.startswith("Nothing: it") for cell in cells]
        assert (sum(nothing), len(nothing)) == (1, {"/todo": 3}.get(page, 2))
