"""Recording releases over REST: what is taken, what is refused, and what is made of hostile text."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.api.test_rest import NOW, line

AT = "2026-10-05T10:15:02.000Z"


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """A service over an empty database whose clock says 2026-10-06T00:00:00Z."""
    app = create_app(Settings(database_url=database_url, max_body_bytes=8192), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def tell(client: TestClient, body: Any, **headers: str) -> httpx.Response:
    """POST a body: bytes as they are, anything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/api/v1/releases", content=content, headers=headers)


def listed(client: TestClient, **params: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/api/v1/releases", params=params).json()["items"]
    return items


def test_a_release_that_was_told_is_listed(client: TestClient) -> None:
    """Created once; told again it is unchanged; told otherwise it is moved."""
    told = {"server": "maps", "version": "1.7.0", "at": "2026-10-05T12:15:02+02:00"}
    kept = {"server": "maps", "version": "1.7.0", "at": AT, "source": "rest"}

    answers = [tell(client, told).json() for _ in range(2)]
    assert answers == [{**kept, "outcome": outcome} for outcome in ("created", "unchanged")]
    assert listed(client) == [kept]

    moved = tell(client, {**told, "at": "2026-10-04"})
    assert (moved.status_code, moved.json()["outcome"]) == (200, "moved")
    assert listed(client) == [{**kept, "at": "2026-10-04T00:00:00.000Z"}]


@pytest.mark.parametrize("more", [{}, {"at": None}], ids=["absent", "null"])
def test_without_an_instant_it_came_now(client: TestClient, more: dict[str, None]) -> None:
    """By the clock of the service."""
    answer = tell(client, {"server": "maps", "version": "2", **more})
    assert answer.json()["at"] == "2026-10-06T00:00:00.000Z"


@pytest.mark.parametrize(("body", "parameter", "says"), [
    (b"", None, '{"server": "maps", "version": "1.7.0", "at": "2026-10-05T10:15:02Z"}'),
    (b"server=maps&version=1", None, "send a JSON object such as"),
    (b"\xff\xfe{", None, "send a JSON object such as"),
    (b"[" * 4000, None, "send a JSON object such as"),
    (b"9" * 4000, None, "no JSON object; send"),
    (["maps", "1"], None, "no JSON object; send"),
    (None, None, "no JSON object; send"),
    ({"version": "1"}, "server", "such as maps"),
    ({"server": None, "version": "1"}, "server", "such as maps"),
    ({"server": " \0", "version": "1"}, "server", "such as maps"),
    ({"server": 7, "version": "1"}, "server", 'must be text, such as "maps"'),
    ({"server": "m" * 129, "version": "1"}, "server", "at most 128 characters"),
    ({"server": "maps"}, "version", "such as 1.7.0"),
    ({"server": "maps", "version": "\t"}, "version", "such as 1.7.0"),
    ({"server": "maps", "version": 1.7}, "version", 'such as "1.7.0"'),
    ({"server": "maps", "version": float("nan")}, "version", 'such as "1.7.0"'),
    ({"server": "maps", "version": "1", "at": "soon"}, "at", "2026-10-05T10:15:02Z"),
    ({"server": "maps", "version": "1", "at": ""}, "at", "2026-10-05T10:15:02Z"),
    ({"server": "maps", "version": "1", "at": 1_791_000_000}, "at", "must be text"),
    ({"server": "maps", "version": "1", "at": True}, "at", "must be text"),
    ({"server": "maps", "version": "1", "at": "2026-10-07T00:00:01Z"}, "at", "when it has come"),
    ({"server": "maps", "version": "1", "at": "9999-12-31"}, "at", "when it has come"),
    ({"server": "maps", "version": "1", "when": "now"}, "when", "use server, version, at"),
    ({"server": "maps", "version": "1", "\ud800\0": 1}, "\ufffd", "use server, version, at"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_and_nothing_is_stored(
    client: TestClient, body: Any, parameter: str | None, says: str
) -> None:
    """422 as problem+json, which says what would be right."""
    answer = tell(client, body)

    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().get("parameter") == parameter
    assert says in answer.json()["detail"]
    assert listed(client) == []


def test_a_body_without_end_is_refused(client: TestClient) -> None:
    """413 beyond the setting, whatever is in it."""
    assert tell(client, {"server": "maps", "version": "1" * 9000}).status_code == 413
    assert listed(client) == []


def test_the_allowed_skew_of_clocks_is_allowed(client: TestClient) -> None:
    """A day ahead, as for lines, and shown from the last instant that `as_of` takes in."""
    answer = tell(client, {"server": "maps", "version": "1", "at": "2026-10-06T23:59:59Z"})
    assert answer.status_code == 200
    assert [row["version"] for row in listed(client)] == ["1"]


@pytest.mark.parametrize(("told", "kept"), [
    (" 1.7.0\n", "1.7.0"),
    ("1\u0000.7", "1.7"),
    ("\ud800 x", "\ufffd x"),
    ("\u202e<script>alert(1)</script>", "\u202e<script>alert(1)</script>"),
    ("=HYPERLINK(1)", "=HYPERLINK(1)"),
    ("😀" * 256, "😀" * 256),
])  # fmt: skip
def test_hostile_text_is_kept_as_names_are(client: TestClient, told: str, kept: str) -> None:
    """Without NUL and lone surrogates, otherwise as it was told; a table runs none of it."""
    answer = tell(client, {"server": told[:100], "version": told, "at": AT})

    assert answer.status_code == 200, answer.text
    (row,) = listed(client)
    assert row["version"] == answer.json()["version"] == kept
    assert [r["version"] for r in listed(client, server=row["server"])] == [kept]
    table = client.get("/api/v1/releases", params={"format": "csv"}).text
    (cells,) = csv.DictReader(io.StringIO(table))
    assert cells["version"] == (f"'{kept}" if kept[0] == "=" else kept)
    assert cells["at"] == AT


def test_long_versions_are_cut_and_stay_apart(client: TestClient) -> None:
    """256 characters and a hash of the whole; the same text is the same release."""
    one, other = "v" * 300, "v" * 299 + "w"
    outcomes = [
        tell(client, {"server": "maps", "version": version, "at": AT}).json()["outcome"]
        for version in (one, other, one)
    ]
    assert outcomes == ["created", "created", "unchanged"]
    assert all(row["version"].startswith("v" * 256 + "…#") for row in listed(client))


def test_a_tag_lasts_until_a_release_changes(client: TestClient) -> None:
    """The same release again changes nothing; another one, or another instant, does."""

    def is_spared() -> bool:
        answer = client.get("/api/v1/releases", headers={"if-none-match": tag})
        return answer.status_code == 304

    told = {"server": "maps", "version": "1", "at": AT}
    tell(client, told)
    tag = client.get("/api/v1/releases").headers["etag"]
    tell(client, told)
    assert is_spared()
    tell(client, {**told, "at": "2026-10-05"})
    assert not is_spared()


def test_a_page_after_a_move_is_a_conflict_as_the_document_says(client: TestClient) -> None:
    """409, as problem+json; lines that arrive between two pages are no reason for one."""
    for day in ("2026-10-02", "2026-10-03", "2026-10-04"):
        tell(client, {"server": "maps", "version": day, "at": day})
    cursor = client.get("/api/v1/releases", params={"limit": 1}).json()["next_cursor"]
    client.post("/ingest", content=json.dumps(line("2026-10-05T10:00:00Z", "zed")))
    assert [r["version"] for r in listed(client, limit="1", cursor=cursor)] == ["2026-10-03"]

    tell(client, {"server": "maps", "version": "2026-10-04", "at": "2026-10-01"})

    answer = client.get("/api/v1/releases", params={"limit": 1, "cursor": cursor})
    assert (answer.status_code, answer.json()["title"]) == (409, "Data changed")
    stated = client.get("/openapi.json").json()["paths"]["/api/v1/releases"]["get"]["responses"]
    example = stated["409"]["content"]["application/problem+json"]["example"]
    assert answer.json() == example


@pytest.mark.parametrize("method", ["DELETE", "OPTIONS", "PUT"])
def test_another_method_is_told_both_that_are_possible(client: TestClient, method: str) -> None:
    """405, which names reading and writing."""
    answer = client.request(method, "/api/v1/releases")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert answer.json()["detail"] == f"{method} is not possible here; use GET, POST"


def test_pages_of_other_sites_cannot_record_one(client: TestClient) -> None:
    """The guard stands before this write, too."""
    told = {"server": "maps", "version": "1"}
    answer = tell(client, told, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    assert answer.status_code == 403
    assert listed(client) == []
