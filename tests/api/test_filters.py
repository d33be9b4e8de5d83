"""Filters of REST: several values and negations, on both databases."""

import csv
import io
import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.acceptance.service import micros

NOW = "2026-10-06T12:30:00Z"
CALLS = [  # server, name, client, calls
    ("maps", "route", "Alpha", 3),
    ("maps", "route", "beta", 5),
    ("maps", "route", None, 7),
    ("maps", "search", "alpha", 11),
    ("shop", "search", "beta", 13),
    ("shop", "search", "<b>&\u202eגמא", 17),
]
HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "\ud800",
    "\u202e\u2066שלום",
    "%' OR 1=1 --",
    "x" * 5_000,
    "&client=zed",
    "\r\nX: y",
    "٣",
]
COLLECTIONS = {  # with which of the three
    **dict.fromkeys(
        ("names", "callers", "clients", "compare", "overview", "todo", "cures", "uptake", "stopped",
         "effect", "effect/clients", "events", "series", "marks", "said", "listed"),
        ("server", "name", "client"),
    ),
    **dict.fromkeys(("effect/names", "effect/weeks", "catalogue", "catalogue/history", "catalogue/lint"),
                    ("server", "name")),
    **dict.fromkeys(("reactions", "reactions/latency", "vintage"), ("server", "client")),
    **dict.fromkeys(
        ("servers", "coverage", "releases", "aliases", "exclusions", "plans", "snapshots",
         "health", "rejects", "batches", "audit"),
        ("server",),
    ),
}  # fmt: skip


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """A service that holds these calls."""
    app = create_app(Settings(database_url=database_url), clock=lambda: micros(NOW))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for number, (server, name, who, calls) in enumerate(CALLS):
            data = {"tool": name} | ({"client": who} if who else {})
            lines = [
                {"time": f"2026-10-05T{number:02}:00:{second:02}Z", "data": data, "msg": "Retired tool called"}
                for second in range(calls)
            ]  # fmt: skip
            body = "\n".join(map(json.dumps, lines))
            assert (
                client.post("/ingest", params={"server": server}, content=body).status_code == 200
            )
        yield client


def calls(client: TestClient, query: str, collection: str = "callers") -> int:
    """The stale calls that an answer counts."""
    answer = client.get(f"/api/v1/{collection}?{query}")
    assert answer.status_code == 200, answer.text
    return sum(row["stale_calls"] for row in answer.json()["items"])


def test_a_filter_is_any_of_its_values_and_none_of_its_negations(client: TestClient) -> None:
    """In any spelling; an empty client is what names none; a contradiction lets nothing through."""
    for query, expected in (
        ("", 56),
        ("client=alpha", 14),
        ("client=ALPHA&client=beta", 32),
        ("client=alpha&client=", 21),
        ("not_client=alpha", 42),
        ("not_client=", 49),
        ("not_client=alpha&not_client=", 35),
        ("not_client=never%20seen", 56),
        ("name=route&name=search&not_client=beta", 38),
        ("not_name=route", 41),
        ("server=maps&server=shop&not_name=search", 15),
        ("not_server=shop", 26),
        ("not_server=maps&not_server=shop", 0),
        ("client=alpha&not_client=Alpha", 0),
        ("name=route&not_name=route", 0),
        ("server=maps&not_server=maps", 0),
    ):
        assert [calls(client, query, each) for each in ("callers", "names", "clients")] == [
            expected
        ] * 3, query


def test_aliases_are_looked_through_on_both_sides(client: TestClient) -> None:
    """Whoever is said to be another client is none of the others."""
    assert (
        client.post("/api/v1/aliases", json={"client": "beta", "target": "alpha"}).status_code
        == 200
    )
    assert calls(client, "client=beta") == calls(client, "client=alpha") == 32
    assert calls(client, "not_client=beta") == calls(client, "not_client=alpha") == 24


def test_the_table_and_the_next_page_hold_the_same_filter(client: TestClient) -> None:
    """CSV by the same address; a page goes on in whatever order its values are repeated."""
    query = "not_client=beta&name=route&name=search"
    rows = client.get(f"/api/v1/callers?{query}").json()["items"]
    table = csv.DictReader(io.StringIO(client.get(f"/api/v1/callers?{query}&format=csv").text))
    assert [int(row["stale_calls"]) for row in table] == [row["stale_calls"] for row in rows]

    first = client.get(f"/api/v1/callers?{query}&limit=1")
    assert "not_client=beta&name=route&name=search" in first.headers["link"]
    cursor = first.json()["next_cursor"]
    turned = f"name=search&name=route&name=route&not_client=beta&limit=1&cursor={cursor}"
    assert client.get(f"/api/v1/callers?{turned}").json()["items"] == rows[1:2]
    other = client.get(f"/api/v1/callers?not_client=alpha&limit=1&cursor={cursor}")
    assert (other.status_code, other.json()["parameter"]) == (422, "cursor")


def test_a_question_about_one_says_so(client: TestClient) -> None:
    """Several, or all but some, is refused with what would be right."""
    for path, parameter in (
        ("contact?client=alpha&client=beta", "client"),
        ("contact?not_client=alpha", "not_client"),
        ("contact?client=alpha&not_client=beta", "not_client"),
        ("check?name=route&name=search", "name"),
        ("check?server=maps&server=shop", "server"),
        ("check?not_name=route", "not_name"),
        ("series?metric=notifications&not_name=route", "name"),
        ("effect/weeks?not_client=beta", "not_client"),
        ("names?" + "&".join(f"client=c{i}" for i in range(101)), "client"),
    ):
        answer = client.get(f"/api/v1/{path}")
        assert answer.status_code == 422, path
        assert answer.headers["content-type"] == "application/problem+json"
        said = answer.json()
        # what is missing and what is not known are both true of a negation in place of the one
        assert said["parameter"] in (parameter, parameter.removeprefix("not_")), path
        assert "one" in said["detail"] or "use" in said["detail"] or "at most" in said["detail"]


def test_every_collection_takes_its_filters_with_any_text(client: TestClient) -> None:
    """On both sides, and repeated; the document describes them."""
    document = client.get("/openapi.json").json()["paths"]
    for collection, filters in COLLECTIONS.items():
        described = {
            each["name"]: each["schema"]
            for each in document[f"/api/v1/{collection}"]["get"]["parameters"]
        }
        for key in (f"{no}{name}" for name in filters for no in ("", "not_")):
            assert (described[key]["type"], described[key]["maxItems"]) == ("array", 100)
            for values in (HOSTILE, ["", "beta"]):
                texts = [value.encode("utf-8", "replace").decode() for value in values]
                answer = client.get(f"/api/v1/{collection}", params={key: texts})
                assert answer.status_code == 200, (collection, key, answer.text)
            refused = client.get(f"/api/v1/{collection}", params={key: "a\x00b"})
            assert (refused.status_code, refused.json()["parameter"]) == (422, key)
        absent = {"server", "name", "client"} - {*filters}
        assert not absent & described.keys(), collection
