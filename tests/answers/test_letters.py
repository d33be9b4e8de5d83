"""What a message to a stranger claims holds: names that work, dates, what to do, and how much the log saw."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.answers.test_todo import api, get, log, mark
from tests.chain.tables import tables

__all__ = ["api"]


def enter(api: TestClient, name: str, **facts: Any) -> None:
    told = api.post("/api/v1/catalogue", json={"server": "maps", "name": name, **facts})
    assert told.status_code == 200, told.text


def letter(api: TestClient, client: str = "zed", **asked: Any) -> str:
    text: str = get(api, "contact", client=client, **asked)["text"]
    return text


def failed(api: TestClient, day: int, client: str, name: str) -> None:
    """A call to a name that the server does not know."""
    at = f"2026-10-{day:02}T10:00:00Z"
    said = {"time": at, "msg": f"Tool {name} not found", "data": {"client": client, "tool": name}}
    assert api.post("/ingest?server=maps", content=json.dumps(said)).json()["accepted"] == 1


def test_what_to_call_instead_is_never_retired_itself(api: TestClient) -> None:
    """In the message, in what is to be done, and in its rows; the catalogue keeps what was told."""
    log(api, (1, "zed", "oldest", 1))
    enter(api, "oldest", replaced_by=["older"])
    enter(api, "older", replaced_by=["old"])
    enter(api, "old", replaced_by=["new"])
    assert "Please call `new` instead." in letter(api)
    assert get(api, "contact", client="zed")["items"][0]["replaced_by"] == ["new"]
    assert get(api, "todo")["items"][0]["replaced_by"] == ["new"]
    assert get(api, "names", name="oldest")["items"][0]["replaced_by"] == ["older"]
    enter(api, "old", replaced_by=[])
    assert "No replacement is named." in letter(api)


def test_names_that_lead_in_a_circle_are_recommended_to_nobody(api: TestClient) -> None:
    """Nor is a name itself."""
    log(api, (1, "zed", "a", 1), (1, "zed", "b", 1), (1, "zed", "c", 1))
    enter(api, "a", replaced_by=["b"])
    enter(api, "b", replaced_by=["a", "d"])
    enter(api, "c", replaced_by=["c"])
    rows = {row["name"]: row["replaced_by"] for row in get(api, "todo")["items"]}
    assert rows == {"a": ["d"], "b": ["d"], "c": []}


def test_a_name_is_not_known_as_retired_since_after_its_calls(api: TestClient) -> None:
    """Neither since the day it was entered, nor since a day that its calls contradict."""
    failed(api, 15, "zed", "plan")
    enter(api, "plan", replaced_by=["plan2"])
    assert "- `plan`: 1 call on 1 day, the last on 2026-10-15. Please" in letter(api)
    enter(api, "plan", retired_at="2026-10-20")
    assert "- `plan`: 1 call on 1 day" in letter(api)
    enter(api, "plan", retired_at="2026-10-10")
    assert "- `plan` (retired since 2026-10-10): 1 call on 1 day" in letter(api)


@pytest.mark.parametrize(
    ("replaced_by", "advice"),
    [
        ({"a": ["x"]}, "write the new name there."),
        ({"a": []}, "take it out."),
        ({"a": [], "b": []}, "take them out."),
        ({"a": ["x"], "b": ["y"]}, "write the new names there."),
        ({"a": ["x"], "b": []}, "write the new names there; take out those that have none."),
    ],
)
def test_new_names_are_to_be_written_only_where_there_are_any(
    api: TestClient, replaced_by: dict[str, list[str]], advice: str
) -> None:
    """The client never lists while another does, on three days: it has the names written down."""
    log(api, *((day, "nightly", name, 1) for day in (1, 2, 3) for name in replaced_by))
    listing = {"time": "2026-10-02T09:00:00Z", "msg": "Tools listed", "data": {"client": "zed"}}
    api.post("/ingest?server=maps", content=json.dumps(listing))
    for name, others in replaced_by.items():
        enter(api, name, replaced_by=others)
    text = letter(api, "nightly")
    assert f"and permission entries, and {advice}" in text
    assert ("Nothing replaces it." in text) == ([] in replaced_by.values())


def test_a_message_does_not_say_that_a_name_is_gone_which_works(api: TestClient) -> None:
    """An alias answers it still: it is retired, and that is all that is said."""
    works = {
        "time": "2026-10-05T10:00:00Z",
        "msg": "Tool called",
        "data": {"client": "zed", "tool": "a"},
    }
    api.post("/ingest?server=maps", content=json.dumps(works))
    enter(api, "a", retired_at="2026-10-01")
    assert "your MCP client `zed` called 1 retired tool of our server `maps` between " in letter(
        api
    )
    assert "no longer" not in letter(api)


def test_nobody_is_blamed_for_a_list_that_has_the_name_still(api: TestClient) -> None:
    """Whatever it fetched; a list from before the name was retired says nothing, and one without it clears up."""
    lines: list[dict[str, Any]] = [
        {"msg": "Tools listed", "data": {"client": "acme", "sessionId": "s"}},
        {"msg": "Retired tool called", "data": {"client": "acme", "sessionId": "s", "tool": "a"}},
    ]
    timed = [{"time": f"2026-10-05T10:00:0{at}Z", **line} for at, line in enumerate(lines)]
    api.post("/ingest?server=maps", content="\n".join(map(json.dumps, timed)))
    enter(api, "a", retired_at="2026-10-01")

    def listed(day: int, *names: str) -> str:
        told = {"server": "maps", "at": f"2026-10-{day:02}", "tools": [{"name": n} for n in names]}
        assert api.post("/api/v1/snapshots", json=told).is_success
        cure: str = get(api, "cures")["items"][0]["cure"]
        return cure

    assert get(api, "cures")["items"][0]["cure"] == "client_fault"
    before = datetime(2026, 9, 20, tzinfo=UTC).isoformat()
    told = {"server": "maps", "at": before, "tools": [{"name": "a"}]}
    assert api.post("/api/v1/snapshots", json=told).is_success
    assert get(api, "cures")["items"][0]["cure"] == "client_fault"
    assert listed(6, "a", "b") == "cannot_tell"
    row = get(api, "cures")["items"][0]
    assert row["why"][1] == "The server listed the name still when its tools were read last."
    assert row["do"].startswith("Take the name out of the server's list of tools first")
    assert "fetched a list without" not in letter(api, "acme")
    assert listed(7, "b") == "client_fault"
    assert "fetched a list without the old names" in letter(api, "acme")


def test_a_message_says_when_the_log_began(api: TestClient) -> None:
    """Where that is within the range, with or without a gap; a log that covers all of it needs no word."""
    start = datetime(2026, 10, 10, tzinfo=UTC)
    hours = [start + timedelta(hours=n) for n in range(22 * 24 + 3)]
    heard = [json.dumps({"time": at.isoformat(), "msg": "request done"}) for at in hours]
    api.post("/ingest?server=maps", content="\n".join(heard))
    log(api, (12, "zed", "a", 1))
    assert "There may be more calls" not in letter(api, since="2026-10-12")
    assert (
        "There may be more calls, since our log does not cover all of that time: that of `maps` covers "
        "531 of 747 hours (it began on 2026-10-10 00:00)." in letter(api, since="2026-10-01")
    )


def test_days_of_open_calls_stand_beside_open_calls(api: TestClient) -> None:
    """Of what was resolved only later days count, everywhere: two calls on one day are not on five."""
    log(api, *((day, "zed", "a", 1) for day in (1, 2, 3, 4)), (6, "zed", "a", 2))
    mark(api, "resolved", "zed", at="2026-10-05T00:00:00Z")
    for path in ("callers", "cures", "todo"):
        row = get(api, path)["items"][0]
        assert (row["open_calls"], row["open_days"], row["active_days"]) == (2, 1, 5), path
    [row] = get(api, "contact", client="zed")["items"]
    assert (row["open_calls"], row["open_days"]) == (2, 1)
    assert get(api, "todo")["items"][0]["client_days"] == 1
    for path in ("/todo", "/client?client=zed"):
        page = api.get(path).text
        assert re.search(r'data-label="Days">(<span>)?1<', page), path


def test_a_message_after_a_resolution_that_did_not_hold_counts_what_came_since(
    api: TestClient,
) -> None:
    """Whatever was said later of it: no call is said to be since a day after the last one."""
    log(api, *((day, "zed", "a", 1) for day in (1, 2, 8)), (9, "zed", "a", 2), (3, "zed", "b", 1))
    mark(api, "resolved", "zed", at="2026-10-05T00:00:00Z")
    assert "): 3 calls since 2026-10-05, when we took it for fixed, the last on" in letter(api)
    mark(api, "contacted", "zed", at="2026-10-20T00:00:00Z")
    said = letter(api)
    assert "): 3 calls on 2 days, the last on 2026-10-09." in said
    assert "2026-10-20" not in said
    assert "`b`" not in said  # nothing came since it was resolved


def test_a_day_of_long_ago_has_four_figures(api: TestClient) -> None:
    """As ISO 8601 writes years."""
    log(api, (1, "zed", "a", 1))
    mark(api, "resolved", "zed", at="0001-01-01T00:00:00Z")
    assert "1 call since 0001-01-0" in letter(api)
    assert '<time datetime="0001-01-0' in (page := api.get("/client?client=zed").text)
    assert ">0001-01-0" in page


def test_calls_of_nobody_that_were_told_of_are_in_the_headline(api: TestClient) -> None:
    """They are no client, and no less counted for that."""
    log(api, (1, None, "a", 7), (1, None, "b", 2), (1, "zed", "a", 1))
    mark(api, "known", "", name="a")
    totals = get(api, "todo")["totals"]
    assert (totals["unattributed_calls"], totals["unattributed_told"]) == (2, 7)
    page = api.get("/todo").text
    assert "2 calls of no named client, and 7 more that were told of" in page


def test_a_mark_that_a_later_one_took_the_place_of_is_superseded(api: TestClient) -> None:
    """One about all names stands for those that no later one is about."""
    log(api, (1, "zed", "a", 1), (5, "zed", "a", 1), (5, "zed", "b", 1))
    mark(api, "resolved", "zed", name="a", at="2026-10-02T00:00:00Z")
    mark(api, "resolved", "zed", at="2026-10-03T00:00:00Z")
    states = [row["status"] for row in get(api, "marks")["items"]]
    assert states == ["superseded", "reopened"]
    mark(api, "known", "zed", name="a", at="2026-10-06T00:00:00Z")
    mark(api, "known", "zed", name="b", at="2026-10-06T00:00:00Z")
    states = [row["status"] for row in get(api, "marks")["items"]]
    assert states == ["superseded", "resolved", "known", "known"]
    mark(api, "contacted", "zed", at="2026-10-30T00:00:00Z")
    states = [row["status"] for row in get(api, "marks")["items"]]
    assert states == ["superseded"] * 4 + ["contacted"]
    assert "a later mark holds" in api.get("/told").text


def test_the_page_of_a_name_says_what_would_make_each_caller_stop(api: TestClient) -> None:
    """With the status of each, as the page of a client does; a finding of the catalogue leads to its form."""
    log(api, (1, "codex-mcp-client", "a", 2), (2, "zed", "a", 1), (2, "zed", "b", 1))
    mark(api, "contacted", "zed", name="a", at="2026-10-30T00:00:00Z")
    found = tables(api.get("/name?server=maps&name=a").text)["cures"]
    wanted = {row["client"]: row for row in get(api, "cures", name="a")["items"]}
    assert {row["Client"] for row in found} == set(wanted) == {"codex-mcp-client", "zed"}
    for row in found:
        cure = wanted[row["Client"]]
        assert cure["do"] in row["What would end it"]
        assert row["Status"].startswith(cure["status"])
        assert row["Calls"] == str(cure["open_calls"])
    assert 'href="/name?server=maps&amp;name=a#entry"' in api.get("/catalogue").text


def test_that_nothing_replaces_a_name_is_not_that_nobody_said_what(api: TestClient) -> None:
    """On the pages of the name and of all names, and in the rows."""
    lines = {
        "time": "2026-10-05T10:00:00Z",
        "msg": "Retired tool called",
        "data": {"client": "z", "tool": "a"},
    }
    api.post("/ingest?server=maps", content=json.dumps(lines))
    assert "no replacement named" in api.get("/").text
    assert get(api, "names")["items"][0]["no_replacement"] is False
    enter(api, "a", replaced_by=[])
    assert get(api, "names")["items"][0]["no_replacement"] is True
    assert get(api, "overview")["items"][0]["no_replacement"] is True
    assert "nothing replaces it" in api.get("/").text
    assert "Nothing replaces it." in api.get("/name?server=maps&name=a").text


@pytest.mark.parametrize("excluded", [False, True])
def test_a_letter_to_nobody_is_not_found(api: TestClient, *, excluded: bool) -> None:
    """It says why: nobody of that name called, or rules leave the calls out."""
    log(api, (1, "zed", "a", 3))
    if excluded:
        api.post("/api/v1/exclusions", json={"client": "zed"})
    missing = api.get(f"/api/v1/contact?client={'zed' if excluded else 'nosuch'}&format=md")
    assert missing.status_code == 404
    why = "rules leave 3 of its calls out" if excluded else "called no retired name in this range"
    assert why in missing.json()["detail"]
