"""
One made-up month, its answers worked out by hand.

Server `maps`, October 2026, UTC. An ordinary line each hour since 1 September, but none in two gaps: 10 and
11 October (48 h), and from 20 October 06:00 to 21 October 18:00 (36 h). So 744 - 84 = 660 hours were
watched.

| client | calls | when |
|---|---|---|
| zed | route 4 | 2, 3, 4 October one each; resolved at noon of the 5th; one more on the 25th |
| windsurf-client | route 2 | 6 October; is an alias of Windsurf |
| Windsurf | route 1 | 7 October |
| probe-1 | route 100 | 8 October; excluded by `probe-*` |
| openai-mcp | map 5 | 13 to 17 October, one each |
| claude-code | map 2, geo 1 | 9 October; 22 October |
| cursor | geo 3 | 23 October |
| goose | geo 2 | 24 October 10:00, lines without a client; the session says hello at 12:00 |
| (none) | poi 4 | 26 October |
| gemini-cli | poi 2 | 27 October |
| copilot | poi 7 | 28 October, in a batch that is undone |

By name, without the probe and the undone batch:

| name | calls | clients | days | unattributed |
|---|---|---|---|---|
| route | 4 + 3 = 7 | zed, Windsurf | 2 3 4 6 7 25 = 6 | |
| map | 5 + 2 = 7 | openai-mcp, claude-code | 9 13 14 15 16 17 = 6 | |
| geo | 1 + 3 + 2 = 6 | claude-code, cursor, goose | 22 23 24 = 3 | |
| poi | 4 + 2 = 6 | gemini-cli | 26 27 = 2 | 4 |

In all 26 stale calls, and 100 left out. Of zed's four calls one is open, and reopens what was resolved.
"""

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

NOW = datetime(2026, 11, 1, tzinfo=UTC)
RANGE = "since=2026-10-01&until=2026-11-01"
PAGE_RANGE = "days=&from_day=2026-10-01&to_day=2026-10-31"
RELEASES = {"route": "1.9", "map": "1.10", "geo": "1.6.10"}
GAPS = [
    (datetime(2026, 10, 10, tzinfo=UTC), datetime(2026, 10, 12, tzinfo=UTC)),
    (datetime(2026, 10, 20, 6, tzinfo=UTC), datetime(2026, 10, 21, 18, tzinfo=UTC)),
]
NAMES = {
    "route": (7, 2, 6, 0),
    "map": (7, 2, 6, 0),
    "geo": (6, 3, 3, 0),
    "poi": (6, 1, 2, 4),
}
CALLERS = {
    ("route", "zed"): (4, 1, 4, "reopened"),
    ("route", "Windsurf"): (3, 3, 2, "open"),
    ("map", "openai-mcp"): (5, 5, 5, "open"),
    ("map", "claude-code"): (2, 2, 1, "open"),
    ("geo", "claude-code"): (1, 1, 1, "open"),
    ("geo", "cursor"): (3, 3, 1, "open"),
    ("geo", "goose"): (2, 2, 1, "open"),
    ("poi", None): (4, 4, 1, "open"),
    ("poi", "gemini-cli"): (2, 2, 1, "open"),
}


def day(number: int, hour: int = 9, minute: int = 0) -> datetime:
    return datetime(2026, 10, number, hour, minute, tzinfo=UTC)


def call(at: datetime, tool: str, client: str | None, session: str | None = None) -> str:
    data = {"tool": tool, "client": client, "lastRelease": RELEASES.get(tool), "sessionId": session}
    return said(at, "Retired tool called", **data)


def said(at: datetime, message: str, **data: Any) -> str:
    return json.dumps({"time": at.isoformat(), "msg": message, "data": data})


def lines() -> list[str]:
    """The month without what is undone, and the ordinary lines around it."""
    found = []
    at = datetime(2026, 9, 1, tzinfo=UTC)
    while at < NOW:
        if not any(start <= at < end for start, end in GAPS):
            found.append(said(at, "request done"))
        at += timedelta(hours=1)
    found += [call(day(n), "route", "zed") for n in (2, 3, 4, 25)]
    found += [call(day(6, minute=n), "route", "windsurf-client") for n in range(2)]
    found += [call(day(7), "route", "Windsurf")]
    found += [call(day(8, 10 + n // 60, n % 60), "route", "probe-1") for n in range(100)]
    found += [call(day(n), "map", "openai-mcp") for n in range(13, 18)]
    found += [call(day(9, minute=n), "map", "claude-code") for n in range(2)]
    found += [call(day(22), "geo", "claude-code")]
    found += [call(day(23, minute=n), "geo", "cursor") for n in range(3)]
    found += [call(day(24, 10, n), "geo", None, "s8") for n in range(2)]
    found += [said(day(24, 12), "Client initialized", client="goose", sessionId="s8")]
    found += [call(day(26, minute=n), "poi", None) for n in range(4)]
    found += [call(day(27, minute=n), "poi", "gemini-cli") for n in range(2)]
    return found


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """The month, brought in and told as a maintainer would."""
    settings = settings_from_environment(database_url=database_url, allowed_hosts="testserver")
    clock = {"us": int(NOW.timestamp() * 1e6)}
    with TestClient(create_app(settings, clock=lambda: clock["us"])) as client:
        clock["us"] -= 7_200_000_000  # an hour of its own, so a batch of its own
        wrong = [call(day(28, minute=n), "poi", "copilot") for n in range(7)]
        batch = client.post("/ingest?server=maps", content="\n".join(wrong)).json()["batch"]
        clock["us"] += 7_200_000_000
        client.post("/ingest?server=maps", content="\n".join(lines())).raise_for_status()
        for path, told in (
            ("aliases", {"client": "windsurf-client", "target": "Windsurf"}),
            ("exclusions", {"client": "probe-*", "note": "our monitor"}),
            (
                "marks",
                {
                    "kind": "resolved",
                    "server": "maps",
                    "client": "zed",
                    "name": "route",
                    "at": "2026-10-05T12:00:00Z",
                },
            ),
        ):
            client.post(f"/api/v1/{path}", json=told).raise_for_status()
        client.post(f"/api/v1/batches/{batch}/undo").raise_for_status()
        yield client


class Tables(HTMLParser):
    """The texts of the cells of each table of a page, by the table's id."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attrs).get("id") or "", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._rows:
            self._rows[-1][-1] += data

    def columns(self, table: str, *headings: str) -> list[tuple[str, ...]]:
        """The cells below these headings, spaces collapsed."""
        head, *rows = self.tables[table]
        words = [" ".join(cell.split()) for cell in head]
        places = [next(i for i, word in enumerate(words) if word.startswith(h)) for h in headings]
        return [tuple(" ".join(row[i].split()) for i in places) for row in rows]


def get(api: TestClient, path: str) -> Any:
    answer = api.get(path)
    assert answer.status_code == 200, answer.text
    return answer


def test_rest_says_what_was_worked_out(api: TestClient) -> None:
    names = get(api, f"/api/v1/names?{RANGE}").json()
    assert names["excluded_calls"] == 100
    assert (names["coverage"]["hours"], names["coverage"]["covered_hours"]) == (744, 660)
    assert names["coverage"]["gap_count"] == 2
    found = {
        row["name"]: (
            row["stale_calls"],
            row["clients"],
            row["active_days"],
            row["unattributed_calls"],
        )
        for row in names["items"]
    }
    assert found == NAMES
    assert {row["name"]: row["last_release"] for row in names["items"]} == {**RELEASES, "poi": None}

    for collection in ("callers", "cures"):
        rows = get(api, f"/api/v1/{collection}?{RANGE}").json()["items"]
        assert {
            (row["name"], row["client"]): (
                row["stale_calls"],
                row["open_calls"],
                row["active_days"],
                row["status"],
            )
            for row in rows
        } == CALLERS, collection
        goose = next(row for row in rows if row["client"] == "goose")
        assert goose["inferred_calls"] == 2

    series = get(api, f"/api/v1/series?{RANGE}&bucket=day").json()["items"]
    calls = {row["label"]: row["value"] for row in series if row["value"]}
    assert sum(calls.values()) == 26
    assert calls["2026-10-25"] == 1
    assert [row["label"] for row in series if not row["covered"]] == [
        "2026-10-10",
        "2026-10-11",
        "2026-10-20",
        "2026-10-21",
    ]
    unnamed = [r for r in get(api, f"/api/v1/cures?{RANGE}").json()["items"] if r["client"] is None]
    assert [row["cure"] for row in unnamed] == ["unattributed"]


def test_tables_say_the_same(api: TestClient) -> None:
    text = get(api, f"/api/v1/callers?{RANGE}&format=csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {
        (row["name"], row["client"] or None): (
            int(row["stale_calls"]),
            int(row["open_calls"]),
            int(row["active_days"]),
            row["status"],
        )
        for row in rows
    } == CALLERS


def test_pages_say_the_same(api: TestClient) -> None:
    page = Tables(get(api, f"/?{PAGE_RANGE}").text)
    found = page.columns("names", "Retired name", "Stale calls in range")
    assert {name.partition("maps")[0].strip(): int(calls) for name, calls in found} == {
        name: calls for name, (calls, *_) in NAMES.items()
    }
    nobody = "not named in the log"  # others stand before their product
    every = Tables(get(api, f"/todo?{PAGE_RANGE}&show=all").text)
    assert {
        (name.partition("maps")[0].strip(), client if client == nobody else client.split()[0]): int(
            calls
        )
        for name, client, calls in every.columns("todo", "Retired name", "Client", "Calls")
    } == {
        (name, client or nobody): open_calls
        for (name, client), (_, open_calls, _, _) in CALLERS.items()
    }
    assert page.columns("releases", "Last release", "Stale calls") == [
        ("1.6.10", "6"),
        ("1.9", "7"),
        ("1.10", "7"),
        ("not said", "6"),
    ]


def test_the_contact_pack_says_the_same(api: TestClient) -> None:
    """Of zed only the call after the resolution; of claude-code three calls to two names; with the gaps."""
    told = {"server": "maps", "name": "map", "replaced_by": ["map-image"]}
    api.post("/api/v1/catalogue", json=told).raise_for_status()

    pack = get(api, f"/api/v1/contact?client=claude-code&{RANGE}").json()
    assert {row["name"]: (row["stale_calls"], row["open_calls"]) for row in pack["items"]} == {
        "geo": (1, 1),
        "map": (2, 2),
    }
    text = pack["text"]
    assert "We counted 3 such calls, the last on 2026-10-22 09:00" in text
    assert "`map-image`" in text
    assert "covers 660 of 744 hours" in text
    zed = get(api, f"/api/v1/contact?client=zed&{RANGE}&format=md").text
    assert "`route`" in zed
    assert "1 call since 2026-10-05, when we took it for fixed" in zed
    table = get(api, f"/api/v1/contact?client=Windsurf&{RANGE}&format=csv").text
    [row] = csv.DictReader(io.StringIO(table))
    assert (row["name"], row["stale_calls"], row["active_days"]) == ("route", "3", "2")
    left_out = get(api, f"/api/v1/contact?client=probe-1&{RANGE}").json()
    assert (left_out["items"], left_out["text"], left_out["excluded_calls"]) == ([], "", 100)


def test_the_gate_says_what_follows(api: TestClient) -> None:
    """
    Poi was called on the 27th: quiet for the last four days. map was last called on the 17th: in the last
    14 days 36 of 336 hours lie in the second gap. route was called on the 25th.
    """

    def check(query: str) -> tuple[str, str]:
        found = get(api, f"/api/v1/check?server=maps&{query}").json()
        return found["verdict"], found["reason"]

    assert check("days=4")[0] == "quiet"
    verdict, reason = check("days=14&name=map")
    assert (verdict, "only 300 of 336 hours" in reason) == ("unknown", True)
    verdict, reason = check("name=route")
    assert verdict == "called"
    assert "4 calls in 30 days (2 clients)" in reason  # one of zed's, three of Windsurf's


def test_taken_back_it_is_as_if_nothing_had_been_told(api: TestClient) -> None:
    api.delete("/api/v1/aliases?client=windsurf-client").raise_for_status()
    api.delete("/api/v1/exclusions/1").raise_for_status()
    api.delete("/api/v1/marks/1").raise_for_status()
    rows = get(api, f"/api/v1/callers?{RANGE}&name=route").json()["items"]
    assert {row["client"]: (row["stale_calls"], row["status"]) for row in rows} == {
        "zed": (4, "open"),
        "windsurf-client": (2, "open"),
        "Windsurf": (1, "open"),
        "probe-1": (100, "open"),
    }
    actions = [row["action"] for row in get(api, "/api/v1/audit").json()["items"]]
    assert sorted(actions) == sorted(
        ["alias", "exclude", "resolved", "undo", "unalias", "include", "withdraw"]
    )
