"""The REST API: shapes, refusals, tables, tags and the document that describes it."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.api import (
    aliases,
    audit,
    batches,
    callers,
    catalogue,
    clients,
    compare,
    coverage,
    cures,
    events,
    exclusions,
    health,
    marks,
    names,
    overview,
    plans,
    reactions,
    rejects,
    releases,
    respond,
    said,
    series,
    servers,
    snapshots,
    stopped,
    todo,
    uptake,
    vintage,
)
from service.api.table import safe
from service.app import create_app
from service.settings import Settings

NOW = 1_791_244_800_000_000  # 2026-10-06T00:00:00Z
COLLECTIONS = [
    servers,
    overview,
    todo,
    names,
    compare,
    callers,
    stopped,
    cures,
    clients,
    reactions,
    uptake,
    vintage,
    events,
    series,
    said,
    coverage,
    releases,
    aliases,
    exclusions,
    marks,
    plans,
    catalogue,
    snapshots,
    health,
    rejects,
    batches,
    audit,
]
NOUNS = [module.__name__.rpartition(".")[2] for module in COLLECTIONS]


def line(time: str, client: str | None, tool: str = "route", session: str = "s") -> dict[str, Any]:
    data = {"tool": tool, "client": client, "sessionId": session, "lastRelease": "1.0"}
    return {"level": "info", "time": time, "data": data, "msg": "Retired tool called"}


@pytest.fixture
def get(database_url: str) -> Callable[..., Any]:
    """GETs from a service over an empty database."""
    client = TestClient(
        create_app(Settings(database_url=database_url), clock=lambda: NOW),
        base_url="http://localhost",
    )

    def ask(path: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
        return client.get(
            path if path[0] == "/" else f"/api/v1/{path}", params=params or None, headers=headers
        )

    ask.post = lambda lines: client.post("/ingest", content="\n".join(map(json.dumps, lines)))  # type: ignore[attr-defined]
    return ask


@pytest.mark.parametrize("module", COLLECTIONS, ids=NOUNS)
def test_an_answer_has_the_shape_that_the_document_states(module: Any, get: Any) -> None:
    """Empty or not, strict JSON that the stated model takes, and the example is one."""
    noun = module.__name__.rpartition(".")[2]
    module.PAGE.model_validate(module.EXAMPLE)
    module.PAGE.model_validate(get(noun).json())
    get.post([line("2026-10-05T10:00:00Z", "zed"), {"msg": "Retired tool called", "time": "x"}])
    answer = get(noun)
    assert answer.status_code == 200
    module.PAGE.model_validate(json.loads(answer.text, parse_constant=pytest.fail))
    assert set(answer.json()) >= {
        "items", "next_cursor", "range", "as_of", "coverage", "generated_at",
    }  # fmt: skip


@pytest.mark.parametrize(("params", "parameter", "says"), [
    ({"tz": "Mars/Phobos"}, "tz", "Europe/Berlin"),
    ({"tz": "../../etc/passwd"}, "tz", "Europe/Berlin"),
    ({"limit": "0"}, "limit", "from 1 to 1000"),
    ({"limit": "9" * 5000}, "limit", "from 1 to 1000"),
    ({"limit": "many"}, "limit", "from 1 to 1000"),
    ({"since": "yesterday-ish"}, "since", "2026-10-05"),
    ({"since": "2026-02-30"}, "since", "2026-10-05"),
    ({"since": "2026-10-06", "until": "2026-10-06"}, "since", "not before until"),
    ({"since": "2026-10-06", "until": "2026-10-01"}, "since", "not before until"),
    ({"name": "a\0b"}, "name", "NUL"),
    ({"limitt": "1"}, "limitt", "use server"),
    ({"cursor": "bogus"}, "cursor", "next_cursor"),
    ({"format": "xml"}, "format", "json or csv"),
])  # fmt: skip
@pytest.mark.parametrize("noun", ["names", "events", "series"])
def test_a_refusal_names_the_parameter_and_what_would_succeed(
    get: Any, noun: str, params: dict[str, str], parameter: str, says: str
) -> None:
    """422 as problem+json, whatever is wrong."""
    answer = get(noun, **params)

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["parameter"] == parameter
    assert says in answer.json()["detail"]


@pytest.mark.parametrize(("noun", "params"), [
    ("series", {"bucket": "hour", "since": "0001-01-01", "until": "9999-12-31"}),
    ("series", {"bucket": "fortnight"}),
    ("series", {"top": "0"}),
    ("events", {"kind": "party"}),
    ("names", {"sort": "colour"}),
])  # fmt: skip
def test_what_one_collection_cannot_use_is_refused(get: Any, noun: str, params: Any) -> None:
    """Words and sizes beyond what is there are 422."""
    assert get(noun, **params).status_code == 422


def test_bytes_that_are_no_text_are_refused(get: Any) -> None:
    """A query string that is not UTF-8 is 422, not a guess."""
    assert get("/api/v1/names?name=%ff").status_code == 422


def test_any_year_of_the_calendar_is_a_range(get: Any) -> None:
    """The first and last day that can be written are no fault."""
    for noun in NOUNS:
        if noun != "series":
            answer = get(noun, since="0001-01-01", until="9999-12-31", tz="America/Los_Angeles")
            assert answer.status_code == 200, answer.text


def test_unknown_places_and_methods_are_problems(get: Any, database_url: str) -> None:
    """404 and 405 are problem+json as well."""
    assert get("/api/v1/nothing").headers["content-type"] == "application/problem+json"
    client = TestClient(
        create_app(Settings(database_url=database_url)), base_url="http://localhost"
    )
    answer = client.post("/api/v1/names")
    assert (answer.status_code, answer.json()["status"]) == (405, 405)


def test_unknown_filters_find_nothing(get: Any) -> None:
    """A server, name or client that is not known is no error."""
    get.post([line("2026-10-05T10:00:00Z", "zed")])
    for noun in ("names", "callers", "clients", "events"):
        for name in ("server", *(() if noun == "servers" else ("name", "client"))):
            assert get(noun, **{name: "nobody"}).json()["items"] == [], (noun, name)


def test_seven_calls_in_one_instant_come_in_pages_of_three(get: Any) -> None:
    """None is skipped or repeated; a cursor serves no other question."""
    get.post([line("2026-10-05T10:15:02.114Z", "zed", session=f"s{i}") for i in range(7)])
    lengths: list[int] = []
    sessions: list[str] = []
    last = cursor = None
    while cursor is not None or not lengths:
        page = get("events", limit=3, **({"cursor": cursor} if cursor else {})).json()
        lengths.append(len(page["items"]))
        sessions += [row["session"] for row in page["items"]]
        last, cursor = cursor, page["next_cursor"]

    assert lengths == [3, 3, 1]
    assert len(set(sessions)) == 7
    assert get("events", cursor=last, kind="call").status_code == 422
    assert get("names", cursor=last).status_code == 422


def test_pages_hold_still_while_lines_arrive(get: Any) -> None:
    """What comes in between two pages, before or after the cursor, neither skips nor repeats a row."""
    get.post([line("2026-10-05T10:00:00Z", f"c{i}") for i in (1, 3, 5)])
    first = get("callers", limit=2).json()
    get.post([line("2026-10-05T11:00:00Z", f"c{i}") for i in (0, 2, 4, 6)])
    second = get("callers", limit=9, cursor=first["next_cursor"]).json()

    assert [row["client"] for row in first["items"]] == ["c1", "c3"]
    assert [row["client"] for row in second["items"]] == ["c4", "c5", "c6"]
    assert second["as_of"] == first["as_of"]
    assert second["range"] == first["range"]


def test_a_table_holds_the_rows_shown_and_runs_nothing(get: Any) -> None:
    """CSV: the page's rows, text that looks like a formula made text, numbers as numbers."""
    get.post(
        [
            line("2026-10-05T10:00:00Z", '=HYPERLINK("http://x")'),
            line("2026-10-05T11:00:00Z", "zed"),
        ]
    )
    shown = get("callers").json()
    rows = list(csv.DictReader(io.StringIO(get("callers", format="csv").text)))

    assert [row["stale_calls"] for row in rows] == ["1", "1"]
    assert rows[0]["client"] == '\'=HYPERLINK("http://x")'
    assert shown["items"][0]["client"] == '=HYPERLINK("http://x")'
    assert rows[1]["range_since"] == shown["range"]["since"]
    assert rows[1]["tz"] == "UTC"
    assert (
        get("callers", headers={"accept": "text/csv"})
        .headers["content-type"]
        .startswith("text/csv")
    )


@pytest.mark.parametrize("text", ["=1", " =1", "+1", "-1", "@a", "\t=1", "\r1", "\u00a0=1"])
def test_text_that_a_spreadsheet_would_run_is_made_text(text: str) -> None:
    """Also after white space, which a spreadsheet trims."""
    assert safe(text) == f"'{text}"


def test_a_tag_spares_an_unchanged_answer(get: Any) -> None:
    """The same question is 304 until data comes; another question has another tag."""
    tag = get("names").headers["etag"]
    assert get("names", headers={"if-none-match": tag}).status_code == 304
    assert get("names", headers={"if-none-match": tag}, tz="Asia/Kolkata").status_code == 200
    get.post([line("2026-10-05T10:00:00Z", "zed")])
    assert get("names", headers={"if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("params", [{"tz": "Mars/Phobos"}, {"limit": "0"}, {"since": "soon"}, {"sort": "colour"}, {"cursor": "x"}])  # fmt: skip
def test_no_tag_spares_a_question_that_cannot_be_answered(get: Any, params: Any) -> None:
    """`*` and every other tag: 422 as without one; `*` spares no good question either."""
    assert get("names", headers={"if-none-match": "*"}, **params).status_code == 422
    assert get("names", headers={"if-none-match": "*"}).status_code == 200


def test_a_tag_changes_with_what_else_decides_the_answer(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of the product, future skew, window of reactions or file of known clients."""

    def tag(**more: Any) -> str:
        settings = Settings(database_url=database_url, **more)
        client = TestClient(create_app(settings, clock=lambda: NOW), base_url="http://localhost")
        return client.get("/api/v1/names").headers["etag"]

    first = tag()
    assert tag() == first
    for other in ("future_skew_s", "refresh_window_s", "compare_window_s"):
        assert tag(**{other: 1_800}) != first
    own = tmp_path / "clients.toml"
    own.write_text('[[client]]\nnames = ["mine"]\nproduct = "Mine"\nkind = "script"\n')
    assert tag(clients_file=own) != first
    monkeypatch.setattr(respond, "__version__", "0.0.0+other")
    assert tag() != first


def test_a_page_by_a_column_that_changed_is_a_problem_that_says_what_to_do(get: Any) -> None:
    """409, as the document says; the order of names goes on."""
    get.post([line("2026-10-05T10:00:00Z", "zed", tool) for tool in ("a", "b", "c")])
    first = {s: get("names", limit=1, sort=s).json()["next_cursor"] for s in ("-last_call", "name")}
    get.post([line("2026-10-05T11:00:00Z", "zed", "a")])

    answer = get("names", limit=1, sort="-last_call", cursor=first["-last_call"])
    assert (answer.status_code, answer.json()["title"]) == (409, "Data changed")
    assert answer.headers["content-type"] == "application/problem+json"
    for cure in ("without cursor", "larger limit", "sort by name"):
        assert cure in answer.json()["detail"]
    goes_on = get("names", limit=1, sort="name", cursor=first["name"]).json()
    assert [row["name"] for row in goes_on["items"]] == ["b"]
    paths = get("/openapi.json").json()["paths"]
    documented = {
        p for p, verbs in paths.items() if "409" in verbs.get("get", {}).get("responses", {})
    }
    nouns = (
        "servers",
        "overview",
        "names",
        "compare",
        "callers",
        "clients",
        "reactions",
        "cures",
        "uptake",
        "vintage",
        "series",
        "releases",
        "listed",
        "todo",
        "stopped",
        "effect/clients",
        "effect/names",
    )
    assert documented == {f"/api/v1/{noun}" for noun in nouns}


def test_records_that_are_equal_in_everything_come_one_a_page(get: Any) -> None:
    """The same broken record in three requests of one instant is three rejects, each shown once."""
    for _ in range(3):
        get.post([{"msg": "Retired tool called", "time": "x"}])
    positions: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        page = get("rejects", limit=1, cursor=cursor).json()
        positions += [row["position"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert positions == [0, 0, 0]


def test_ten_of_twelve_clients_and_the_rest_are_the_total(get: Any) -> None:
    """`other` says how many it holds; clients that name themselves nothing are not among them."""
    get.post(
        [
            line(f"2026-10-05T10:{i:02}:{j:02}Z", f"client-{i:02}" if i else None)
            for i in range(13)
            for j in range(14 - i)
        ]
    )
    rows = get("series", by="client", top=10, bucket="month").json()["items"]
    other = rows[-1]

    assert sum(row["value"] for row in rows) == sum(14 - i for i in range(13))
    assert (other["client"], other["members"], other["value"]) == ("other", 2, 3 + 2)
    assert rows[0]["client"] is None
    assert rows[0]["value"] == 14
    distinct = get("series", by="client", top=10, bucket="month", metric="clients").json()["items"]
    assert distinct[-1]["value"] == 2


def test_the_reference_loads_nothing_foreign_and_names_every_route(get: Any) -> None:
    """One page in the style of the others; no foreign host, no script; its contents lead to what is there."""
    page = get("/docs").text
    led = re.findall(r'<a href="#([^"]+)"', page)
    assert led == re.findall(r'<section id="([^"]+)"', page)
    assert len(led) == len(set(led)) > len(NOUNS)
    for noun in NOUNS:
        assert f"/api/v1/{noun}" in page
    assert "<script" not in page
    page = page.replace("&quot;https://wiki.example&quot;", "")  # an origin, in examples of a body
    assert "http://" not in page
    assert "https://" not in page
