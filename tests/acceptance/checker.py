"""
What a case expects, compared with what the running service says.

The names of the methods of `Checker` are the words of the cases; one that it does not know fails.
"""

import csv
import io
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.acceptance.service import Running, micros

KINDS = {
    "retired_call": "stale_call",
    "list_changed": "notification",
    "tools_list": "listing",
    "initialize": "hello",
    "tool_call": "call",
}
COLLECTIONS = [
    "servers",
    "overview",
    "releases",
    "names",
    "compare",
    "callers",
    "clients",
    "reactions",
    "cures",
    "uptake",
    "stopped",
    "said",
    "vintage",
    "events",
    "series",
    "coverage",
    "health",
    "rejects",
]
RECEIPT_WORDS = {
    "accepted": "accepted",
    "duplicates": "duplicates",
    "ignored": "ignored",
    "rejected": "rejected",
    "records": "received",
    "reasons": "reasons",
    "rejected_positions": "positions",
    "pending": "pending",
}
REPORTS = {
    "timeseries": "series",
    "clients": "clients",
    "events": "events",
    "export_csv": "callers",
}


def strict(text: str) -> Any:
    """Read JSON that holds neither NaN nor Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    return json.loads(text, parse_constant=refuse)


def parameters(params: dict[str, Any]) -> dict[str, Any]:
    """Translate a case's parameters; inclusive local days become the half-open range."""
    names = {"from": "since", "to": "until", "from_day": "since"}
    out = {names.get(k, k): v for k, v in params.items() if k not in {"report", "to_day"}}
    if "to_day" in params:
        last = date.fromisoformat(params["to_day"])
        out["until"] = str(last + timedelta(days=1)) if last < date.max else str(last)
    return out


def instants(text: str) -> int:
    return micros(text)


class Checker:
    """Compares one `expect` with what the running service says."""

    def __init__(self, service: Running, folder: Path) -> None:
        self.service = service
        self.folder = folder
        self.params: dict[str, Any] = {}
        self.report = "timeseries"
        self.answers: list[httpx.Response] = []
        self.receipts: list[dict[str, Any]] = []
        self.stored_before = 0

    def check(self, expect: dict[str, Any]) -> None:
        expect = dict(expect)
        asked = expect.pop("params", {})
        self.params = {k: v for k, v in asked.items() if k != "report"} or self.params
        self.report = asked.get("report", self.report)
        for word, value in expect.items():
            if word in RECEIPT_WORDS:
                assert self.receipt(RECEIPT_WORDS[word]) == value, word
            else:
                getattr(self, word)(value)

    def receipt(self, word: str) -> Any:
        if self.receipts:
            return self.receipts[-1][word]
        # A refused request has no receipt: what it stored is what there is more than before it.
        assert word == "accepted"
        return len(self.service.rows("events")) - self.stored_before

    def series(self, **more: Any) -> list[dict[str, Any]]:
        params = {"bucket": "day", "tz": "UTC", **parameters(self.params), **more}
        params.pop("limit", None)
        answer = self.service.get("/api/v1/series", **params)
        assert answer.status_code == 200, answer.text
        rows: list[dict[str, Any]] = answer.json()["items"]
        return rows

    def by_label(self, **more: Any) -> dict[str, int]:
        return {row["label"]: row["value"] for row in self.series(**more)}

    # words of the sender's side

    def http_status(self, status: int) -> None:
        assert self.answers[-1].status_code == status, self.answers[-1].text

    def response(self, wanted: dict[str, Any]) -> None:
        """What the sender is told; `item_status` are the statuses of a bulk request's items."""
        body = strict(self.answers[-1].text)
        for word, value in wanted.items():
            if word == "item_status":
                found = [next(iter(item.values()))["status"] for item in body["items"]]
                for status, expected in zip(found, value, strict=True):
                    assert status // 100 == 2 if expected == "2xx" else status == expected
                continue
            found = body
            for key in word.split("."):
                found = found[key]
            assert (int(found) if isinstance(found, str) else found) == value, word

    def http_status_all(self, status: int) -> None:
        assert {answer.status_code for answer in self.answers} == {status}

    def accepted_sum(self, number: int) -> None:
        assert sum(receipt["accepted"] for receipt in self.receipts) == number

    def rejected_total(self, number: int) -> None:
        assert len(self.service.rows("rejects")) == number

    def duplicates_sum(self, number: int) -> None:
        assert sum(receipt["duplicates"] for receipt in self.receipts) == number

    def figure(self, wanted: dict[str, Any]) -> None:
        """What the browser is handed: the bars on the axis of values, added up by place."""
        if wanted.get("group_by") == "last_release":
            made = self.service.get("/figures/light/releases.json").json()
            assert made["layout"]["xaxis"]["type"] == wanted["axis_type"]
            assert made["layout"]["xaxis"]["categoryarray"] == wanted["categories"]
            assert made["data"][0]["x"] == wanted["categories"]
            return
        assert wanted.keys() == {"x", "y", "x_is_plain_date"}
        answer = self.service.get("/figures/light/calls-by-client.json", **self.params)
        assert answer.status_code == 200, answer.text
        values: dict[str, int] = {}
        for trace in answer.json()["data"]:
            if trace["type"] == "bar" and "yaxis" not in trace:
                for x, y in zip(trace["x"], trace["y"], strict=True):
                    values[x] = values.get(x, 0) + y
        assert dict(sorted(values.items())) == dict(zip(wanted["x"], wanted["y"], strict=True))
        assert wanted["x_is_plain_date"] == all(date.fromisoformat(x) for x in values)

    def strict_json(self, wanted: bool) -> None:
        assert wanted
        for collection in COLLECTIONS:
            strict(self.service.get(f"/api/v1/{collection}").text)

    # words of the answers' side

    def stale_calls(self, number: int) -> None:
        assert sum(row["stale_calls"] for row in self.service.rows("names")) == number
        assert len(self.service.rows("events", kind="stale_call")) == number

    def events(self, kinds: dict[str, int]) -> None:
        for kind, number in kinds.items():
            assert len(self.service.rows("events", kind=KINDS[kind])) == number, kind

    def rows(self, number: int) -> None:
        assert len(self.service.rows(REPORTS[self.report], **parameters(self.params))) == number

    def stale_by(self, wanted: list[dict[str, Any]]) -> None:
        rows = self.service.rows("callers")
        if not wanted:
            assert rows == []
        for want in wanted:
            allowed = want.get("client_in", [want.get("client")])
            found = [
                row
                for row in rows
                if row["client"] in allowed and want.get("tool", row["name"]) == row["name"]
            ]
            assert sum(row["stale_calls"] for row in found) == want["calls"], want
            for via, calls in want.get("via", {}).items():
                assert self.calls_via(want["client"], via) == calls, via

    def calls_via(self, client: str, via: str) -> int:
        rows = self.service.rows("events", kind="stale_call", client=client)
        return sum((row["via"] or "direct") == via for row in rows)

    def stale_by_tool(self, wanted: list[dict[str, Any]]) -> None:
        rows = {row["name"]: row["stale_calls"] for row in self.service.rows("names")}
        assert rows == {want["tool"]: want["calls"] for want in wanted}

    def raw_names_kept(self, wanted: bool) -> None:
        logged = {
            json.loads(line)["data"]["tool"]
            for line in (self.folder / "input.ndjson").read_text().splitlines()
        }
        assert ({row["name"] for row in self.service.rows("events")} == logged) is wanted

    def tools(self, wanted: list[dict[str, Any]]) -> None:
        rows = {row["name"]: row for row in self.service.rows("names")}
        for want in wanted:
            row = rows[want["tool"]]
            for word in want.keys() - {"tool"}:
                assert row[word] == want[word], want

    def buckets(self, wanted: dict[str, int]) -> None:
        found = self.by_label()
        assert {day: found[day] for day in wanted} == wanted

    def change(self, wanted: list[dict[str, Any]]) -> None:
        assert self.params.get("compare") == "previous_period"
        asked = {k: v for k, v in parameters(self.params).items() if k != "compare"}
        rows = {row["name"]: row for row in self.service.rows("compare", **asked)}
        names = {"current": "stale_calls", "previous": "stale_calls_before"}
        for want in wanted:
            row = rows[want["tool"]]
            for word in want.keys() - {"tool"}:
                assert row[names.get(word, word)] == want[word], (want, word)

    def api_last_release_is_text(self, wanted: bool) -> None:
        said = {row["name"]: row["last_release"] for row in self.service.rows("names")}
        assert wanted
        assert all(isinstance(release, str) for release in said.values())
        assert set(said.values()) == {"1.9", "1.10", "1.6.10"}

    def metrics_endpoint(self, wanted: dict[str, int]) -> None:
        """There is none, so that no name of a stranger is in it."""
        assert self.service.get("/metrics").status_code == 404
        assert wanted == {"max_series_with_client_label": 0}

    def html_max_bytes(self, most: int) -> None:
        for path in ("/", "/clients"):
            assert len(self.service.get(path).content) <= most

    def bucket_list(self, wanted: list[list[Any]]) -> None:
        assert [[row["label"], row["value"]] for row in self.series()] == wanted

    def bucket_count(self, number: int) -> None:
        assert len(self.series()) == number

    def sum(self, number: int) -> None:
        assert sum(row["value"] for row in self.series()) == number

    def bucket_sum(self, number: int) -> None:
        self.sum(number)

    def bucket_at_instant(self, wanted: dict[str, int]) -> None:
        found = {instants(row["start"]): row["value"] for row in self.series()}
        assert {at: found[instants(at)] for at in wanted} == wanted

    def event_times(self, wanted: list[str]) -> None:
        found = sorted(instants(row["time"]) for row in self.service.rows("events"))
        assert found == sorted(map(instants, wanted))

    def event_times_within_ms(self, wanted: list[dict[str, Any]]) -> None:
        found = [instants(row["time"]) for row in self.service.rows("events")]
        for want in wanted:
            near = [
                t for t in found if abs(t - instants(want["at"])) <= want["tolerance_ms"] * 1000
            ]
            assert len(near) == want["count"], want

    def min_year(self, year: int) -> None:
        assert min(row["time"] for row in self.service.rows("events"))[:4] == str(year)

    def max_year(self, year: int) -> None:
        assert max(row["time"] for row in self.service.rows("events"))[:4] == str(year)

    def first_seen(self, wanted: dict[str, str]) -> None:
        self.seen("first_call", wanted)

    def last_seen(self, wanted: dict[str, str]) -> None:
        self.seen("last_call", wanted)

    def seen(self, field: str, wanted: dict[str, str]) -> None:
        rows = {row["name"]: row[field] for row in self.service.rows("names")}
        assert {name: instants(rows[name]) for name in wanted} == {
            name: instants(at) for name, at in wanted.items()
        }

    def client_count(self, wanted: dict[str, int]) -> None:
        clients = [row["client"] for row in self.service.rows("clients")]
        assert sum(client is not None for client in clients) == wanted["named"]
        if "unnamed" in wanted:
            assert clients.count(None) == wanted["unnamed"]

    def session_count(self, number: int) -> None:
        assert sum(row["sessions"] for row in self.service.rows("clients")) == number

    def unique_clients(self, number: int) -> None:
        (row,) = self.service.rows("names", **parameters(self.params))
        assert row["clients"] == number

    def unique_clients_by_day(self, wanted: dict[str, int]) -> None:
        assert self.by_label(metric="clients") == wanted

    def top(self, wanted: dict[str, Any]) -> None:
        rows = self.series(by="client", top=wanted["n"], bucket="month")
        named = [(r["client"], r["value"]) for r in rows if "members" not in r]
        if "first" in wanted:
            assert named[0] == (wanted["first"]["client"], wanted["first"]["calls"])
            assert len(rows) <= wanted["max_rows"]
            assert sum(row["value"] for row in rows) == wanted["sum"]
            return
        (other,) = [row for row in rows if "members" in row]
        assert named == [(row["client"], row["calls"]) for row in wanted["rows"]]
        assert (other["value"], other["members"]) == (
            wanted["other"]["calls"],
            wanted["other"]["clients"],
        )
        assert sum(row["value"] for row in rows) == wanted["sum"]

    def refresh(self, wanted: dict[str, Any]) -> None:
        (row,) = self.service.rows("reactions")
        assert {word: row[word] for word in wanted} == wanted

    def client_verdict(self, wanted: dict[str, str]) -> None:
        rows = self.service.rows("reactions")
        assert {row["client"]: row["outcome"] for row in rows} == wanted

    def csv(self, wanted: dict[str, Any]) -> None:
        answer = self.service.get(f"/api/v1/{REPORTS[self.report]}", format="csv")
        rows = list(csv.reader(io.StringIO(answer.text)))[1:]
        assert len(rows) == wanted["rows"]
        cells = [cell for row in rows for cell in row]
        assert not [c for c in cells if c.startswith(tuple(wanted["no_cell_starts_with"]))]
        assert any(wanted["cell_contains"] in cell for cell in cells)

    def export_ok(self, wanted: bool) -> None:
        for collection in COLLECTIONS:
            answer = self.service.get(f"/api/v1/{collection}", format="csv")
            assert (answer.status_code == 200) is wanted, collection

    def api_client(self, name: str) -> None:
        assert name in {row["client"] for row in self.service.rows("callers")}

    def html_must_not_contain(self, texts: list[str]) -> None:
        page = self.service.get("/")
        assert page.status_code == 200
        assert not [text for text in texts if text in page.text]

    def html_contains_any(self, texts: list[str]) -> None:
        assert any(text in self.service.get("/").text for text in texts)

    def all_get_endpoints_status(self, status: int) -> None:
        paths = self.service.get("/openapi.json").json()["paths"]
        for path, verbs in paths.items():
            if "get" in verbs:
                asked = verbs["get"].get("parameters", [])
                needed = {
                    each["name"]: "nobody"
                    for each in asked
                    if each.get("required") and each["in"] == "query"
                }
                one = "{" in path  # of which there is none yet
                answer = self.service.get(path.replace("{id}", "1"), **needed)
                assert answer.status_code in ((404, 422) if one else (status,)), path

    def ingest_empty_body(self, wanted: dict[str, Any]) -> None:
        answer = self.service.client.post("/ingest", content=b"")
        assert answer.status_code in wanted["http_status_in"]
        assert answer.json()["accepted"] == wanted["accepted"]

    def pages(self, wanted: dict[str, Any]) -> None:
        lengths: list[int] = []
        sessions: list[str] = []
        cursor = None
        while cursor is not None or not lengths:
            page = self.service.get("/api/v1/events", limit=wanted["size"], cursor=cursor).json()
            lengths.append(len(page["items"]))
            sessions += [row["session"] for row in page["items"]]
            cursor = page["next_cursor"]
        assert lengths == wanted["lengths"]
        assert len(sessions) - len(set(sessions)) == wanted["repeats"]
        assert len(set(sessions)) == len(wanted["union_sessions"])

    def requests(self, wanted: list[dict[str, Any]]) -> None:
        for want in wanted:
            for collection in ("series", "events", "names"):
                params = parameters(want["params"])
                if collection == "series" and "limit" in params:
                    continue
                if collection != "series":
                    params.pop("bucket", None)
                    if params.get("until") == "9999-12-31":
                        continue  # only a list of buckets can be too long
                answer = self.service.get(f"/api/v1/{collection}", **params)
                assert answer.status_code in want["http_status_in"], (want, answer.text)
                if answer.status_code == 200:
                    assert len(answer.json()["items"]) <= want["max_rows"]

    def never_5xx(self, wanted: bool) -> None:
        assert wanted
        assert all(answer.status_code < 500 for answer in self.answers)
