"""The overview over REST: its numbers counted again from the events, and its table."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings

NOW = 1_791_244_800_000_000  # 2026-10-06T00:00:00Z
END = pd.Timestamp("2026-10-06T00:00:00Z")


@pytest.fixture
def client(database_url: str) -> TestClient:
    """A service over an empty database, which loopback may read and write."""
    app = create_app(Settings(database_url=database_url), clock=lambda: NOW)
    return TestClient(app, base_url="http://localhost")


def post(client: TestClient, calls: list[tuple[timedelta, str | None, str]]) -> None:
    """Send a line for each (how long before END, client, tool)."""
    lines = [
        {
            "level": "info",
            "time": (END - ago).isoformat(),
            "data": {"tool": tool, "client": name, "sessionId": f"s{place}", "lastRelease": "1.0"},
            "msg": "Retired tool called",
        }
        for place, (ago, name, tool) in enumerate(calls)
    ]
    answer = client.post("/ingest", content="\n".join(map(json.dumps, lines)))
    assert answer.json()["accepted"] == len(lines)


def get(client: TestClient, noun: str = "overview", **params: Any) -> dict[str, Any]:
    answer = client.get(f"/api/v1/{noun}", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def events_of(client: TestClient) -> pd.DataFrame:
    """All events of all pages."""
    rows: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = get(client, "events", limit=200, cursor=cursor)
        rows += page["items"]
        cursor = page["next_cursor"]
    frame = pd.DataFrame(rows)
    frame["time"] = pd.to_datetime(frame["time"], format="ISO8601")
    return frame


def test_totals_and_rows_are_those_that_the_events_come_to(client: TestClient) -> None:
    """Every window and both halves of the change, counted again by pandas."""
    post(
        client,
        [
            (
                timedelta(hours=7 * place + place % 5, minutes=place),
                [None, "zed", "Acme", "claude-code"][place * place % 7 % 4],
                ["route", "map", "geo"][place % 11 % 3],
            )
            for place in range(1, 400)
        ],
    )
    events = events_of(client)
    assert len(events) == 399

    answer = get(client)

    def counted(frame: pd.DataFrame, since: int, until: int = 0) -> pd.DataFrame:
        start, end = END - timedelta(days=since), END - timedelta(days=until)
        return frame[(frame["time"] >= start) & (frame["time"] < end)]

    for row in (answer["totals"], *answer["items"]):
        mine = events[events["resolved"] == row["name"]] if "name" in row else events
        for window in row["windows"]:
            calls = counted(mine, window["days"])
            assert window["stale_calls"] == len(calls)
            # nunique leaves out what names none; without a stored caller a client is the caller
            assert window["clients"] == window["callers"] == calls["client"].nunique()
            if "names" in window:
                assert window["names"] == calls["resolved"].nunique()
        after, before = counted(mine, 28), counted(mine, 56, 28)
        change = row["change"]
        assert (change["stale_calls"], change["stale_calls_before"]) == (len(after), len(before))
        assert change["matched_hours"] == 672  # lines came every few hours
        assert change["matched_calls"] == len(after)
        assert change["matched_calls_before"] == len(before)
        assert change["clients"] == after["client"].nunique()
        assert change["clients_before"] == before["client"].nunique()
        assert row["stale_calls"] == len(mine)
        assert row["unattributed_calls"] == mine["client"].isna().sum()
    assert answer["totals"]["names"] == len(answer["items"]) == 3


def test_a_table_has_the_windows_and_the_change_as_columns(client: TestClient) -> None:
    """What the row says, each in a cell of its own; text that looks like a formula is text."""
    tool, name = "=HYPERLINK(1)", "@evil"
    calls = [(timedelta(days=day), name, tool) for day in (1, 10, 40, 80)]
    post(
        client,
        [*calls, (timedelta(days=2), None, "map"), (timedelta(days=2, hours=1), None, "map")],
    )

    rows = get(client)["items"]
    table = list(csv.DictReader(io.StringIO(client.get("/api/v1/overview?format=csv").text)))

    assert [row["name"] for row in rows] == [tool, "map"]
    first, second = table
    assert (first["name"], first["top_client"], first["top_client_calls"]) == (
        f"'{tool}",
        f"'{name}",
        "4",
    )
    assert (second["top_client"], second["top_client_calls"]) == ("", "2")
    assert [first[f"stale_calls_{days}d"] for days in (7, 30, 90)] == ["1", "2", "4"]
    assert [first[f"hours_{days}d"] for days in (7, 30, 90)] == ["168", "720", "2160"]
    assert (first["stale_calls_28d"], first["stale_calls_28d_before"]) == ("2", "1")
    for member in ("matched_calls", "matched_hours"):
        assert first[f"{member}_28d"] == str(rows[0]["change"][member])
    assert first["matched_calls_28d_before"] == str(rows[0]["change"]["matched_calls_before"])
    assert (first["change_word"], first["change_why"], first["change_pct"]) == (
        rows[0]["change"]["word"],
        rows[0]["change"]["why"] or "",
        "",
    )
    assert first["windows_until"] == "2026-10-06T00:00:00.000Z"
    for column in ("state", "retired_at", "last_call_ever", "last_release"):
        assert first[column] == rows[0][column]
    assert "spark" not in first


def test_a_table_without_rows_has_its_columns(client: TestClient) -> None:
    """A spreadsheet that is filled by a script finds them on the first day too."""
    empty = client.get("/api/v1/overview?format=csv").text
    post(client, [(timedelta(days=1), "zed", "route")])
    filled = client.get("/api/v1/overview?format=csv").text

    assert len(empty.splitlines()) == 1
    assert len(filled.splitlines()) == 2
    assert empty.splitlines()[0] == filled.splitlines()[0]


def test_pages_by_the_last_call_hold_each_name_once(client: TestClient) -> None:
    """One row a page, in the order that was asked for; the totals are of all."""
    post(client, [(timedelta(days=1 + place), "zed", f"t{place}") for place in range(3)])
    names: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = get(client, limit=1, sort="-last_call_ever", cursor=cursor)
        names += [row["name"] for row in page["items"]]
        assert page["totals"]["names"] == 3
        cursor = page["next_cursor"]
    assert names == ["t0", "t1", "t2"]
