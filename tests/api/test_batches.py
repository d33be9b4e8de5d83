"""Batches over REST: listed, taken back, and what the audit says of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.api.test_rest import NOW, line

DAY = 86_400_000_000
HOUR = 3_600_000_000


class Clock:
    """A clock that can be set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(database_url: str, clock: Clock) -> Iterator[TestClient]:
    """A service over an empty database whose clock says 2026-10-06T00:00:00Z until it is set."""
    app = create_app(Settings(database_url=database_url), clock=clock)
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def send(client: TestClient, *times: str, source: str = "http", **more: Any) -> int:
    """Send a stale call of each instant; returns the number of its batch."""
    body = "\n".join(json.dumps(line(time, "zed", **more)) for time in times)
    answer = client.post("/ingest", params={"server": "maps", "source": source}, content=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["batch"])


def items(client: TestClient, noun: str, **params: Any) -> list[dict[str, Any]]:
    answer = client.get(f"/api/v1/{noun}", params=params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_batches_are_listed_the_newest_first(client: TestClient, clock: Clock) -> None:
    """Page by page, with what came in them and until when they can be taken back."""
    first = send(client, "2026-10-05T10:00:00Z", "2026-10-05T11:00:00Z")
    clock.now += HOUR
    second = send(client, "2026-10-05T10:00:00Z")
    other = send(client, "2026-10-05T12:00:00Z", source="other")

    assert [row["batch"] for row in items(client, "batches")] == [other, second, first]
    assert items(client, "batches", source="http")[1] == {
        "batch": first,
        "server": "maps",
        "source": "http",
        "kind": "http",
        "label": "2026-10-06T00Z",
        "started": "2026-10-06T00:00:00.000Z",
        "undo_until": "2026-11-05T00:00:00.000Z",
        "accepted": 2,
        "duplicates": 0,
        "ignored": 0,
        "rejected": 0,
    }
    page = client.get("/api/v1/batches", params={"limit": 2}).json()
    rest = items(client, "batches", limit=2, cursor=page["next_cursor"])
    assert [row["batch"] for row in rest] == [first]
    assert items(client, "batches", server="nobody") == []
    assert [row["batch"] for row in items(client, "batches", until="2026-10-06T00:30")] == [first]


def test_a_service_that_runs_says_the_new_numbers_at_once(client: TestClient, clock: Clock) -> None:
    """A tag of before is no longer good; a dry run says what is to come and changes neither."""
    first = send(client, "2026-10-05T10:00:00Z", "2026-10-05T11:00:00Z")
    clock.now += HOUR
    second = send(client, "2026-10-05T10:00:00Z", source="other")
    before = client.get("/api/v1/names")
    place = f"/api/v1/batches/{first}/undo"

    planned = client.post(place, params={"dry_run": "true"})

    assert planned.status_code == 200
    tag = {"If-None-Match": before.headers["etag"]}
    assert client.get("/api/v1/names", headers=tag).status_code == 304

    done = client.post(place)

    said = {
        "batch": first,
        "server": "maps",
        "source": "http",
        "kind": "http",
        "label": "2026-10-06T00Z",
        "deleted": 1,
        "events": {"stale_call": 1},
        "handed_over": 1,
        "heirs": {str(second): 1},
        "records": {"accepted": 2},
        "quarantined": 0,
    }
    assert planned.json() == {**said, "dry_run": True}
    assert done.json() == {**said, "dry_run": False}
    answer = client.get("/api/v1/names", headers=tag)
    assert answer.status_code == 200
    assert [row["stale_calls"] for row in answer.json()["items"]] == [1]
    (event,) = items(client, "events", provenance="true")
    assert (event["source"], event["batch"]) == ("other", "http 2026-10-06T01Z")
    assert [(row["accepted"], row["duplicates"]) for row in items(client, "health")] == [(1, 0)]


def test_the_audit_says_who_took_back_what(client: TestClient, clock: Clock) -> None:
    """One line each, the newest first, page by page; none for a dry run or a refusal.

    Eight times by one connection, so that what the database has prepared is used again."""
    numbers = []
    for hour in range(8):
        numbers.append(send(client, f"2026-10-05T1{hour}:00:00Z", source=f"s{hour}"))
        clock.now += HOUR
    client.post(f"/api/v1/batches/{numbers[0]}/undo", params={"dry_run": "true"})
    for number in [*numbers, numbers[0]]:
        client.post(f"/api/v1/batches/{number}/undo")
    client.post("/ingest", content="{}")

    rows = items(client, "audit")

    assert [row["subject"] for row in rows] == [f"batch {number}" for number in numbers[::-1]]
    assert {row["actor"] for row in rows} == {"rest"}
    assert rows[0]["at"] == "2026-10-06T08:00:00.000Z"
    assert rows[0]["detail"] == {
        "server": "maps", "source": "s7", "kind": "http", "label": "2026-10-06T07Z",
        "started": "2026-10-06T07:00:00Z", "deleted": 1, "events": {"stale_call": 1},
        "handed_over": 0, "heirs": {}, "records": {"accepted": 1}, "quarantined": 0,
    }  # fmt: skip
    page = client.get("/api/v1/audit", params={"limit": 6}).json()
    assert items(client, "audit", limit=6, cursor=page["next_cursor"]) == rows[6:]
    assert items(client, "audit", server="maps") == rows
    assert items(client, "audit", server="Maps") == items(client, "audit", since="2026-10-07") == []
    assert client.get("/api/v1/audit", params={"format": "csv"}).text.count("batch ") == 8


@pytest.mark.parametrize(
    ("number", "says"),
    [("99", "no batch 99"), ("0", "the number of a batch"), ("x", "the number of a batch"),
     ("9999999999999999999999", "the number of a batch")],
)  # fmt: skip
def test_a_batch_that_is_not_there_cannot_be_taken_back(
    client: TestClient, number: str, says: str
) -> None:
    """404 for a number that none has, 422 for what is no number."""
    answer = client.post(f"/api/v1/batches/{number}/undo")
    assert answer.status_code == (404 if number == "99" else 422)
    assert answer.headers["content-type"] == "application/problem+json"
    assert says in answer.json()["detail"]


def test_taking_back_twice_or_too_late_is_refused(client: TestClient, clock: Clock) -> None:
    """404 that says when it was taken back; 409 more than 30 days after it began."""
    number = send(client, "2026-10-05T10:00:00Z")
    assert client.post(f"/api/v1/batches/{number}/undo").status_code == 200
    again = client.post(f"/api/v1/batches/{number}/undo")
    assert (again.status_code, "already, on 2026-10-06T00:00:00Z" in again.text) == (404, True)

    number = send(client, "2026-10-05T10:00:00Z")
    clock.now += 30 * DAY + 1
    late = client.post(f"/api/v1/batches/{number}/undo")
    assert (late.status_code, late.json()["title"]) == (409, "Not possible any more")
    assert len(items(client, "events")) == 1


def test_an_unknown_parameter_is_refused_with_the_one_that_is_known(client: TestClient) -> None:
    """So that a mistyped dry run is none."""
    number = send(client, "2026-10-05T10:00:00Z")
    for params, says in (
        ({"dryrun": "true"}, "use dry_run"),
        ({"dry_run": "x"}, "true or false"),
    ):
        answer = client.post(f"/api/v1/batches/{number}/undo", params=params)
        assert (answer.status_code, says in answer.json()["detail"]) == (422, True), answer.text
    assert len(items(client, "events")) == 1


def test_pages_of_other_sites_take_nothing_back(client: TestClient) -> None:
    """The guard stands before this write, too."""
    number = send(client, "2026-10-05T10:00:00Z")
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.post(f"/api/v1/batches/{number}/undo", headers=foreign).status_code == 403
    assert len(items(client, "events")) == 1


def test_a_damaged_cursor_is_refused(client: TestClient) -> None:
    """As everywhere: 422 for one of another question."""
    for _ in range(2):
        send(client, "2026-10-05T10:00:00Z", source="a")
        send(client, "2026-10-05T10:00:00Z", source="b")
    cursor = client.get("/api/v1/batches", params={"limit": 1}).json()["next_cursor"]
    answer = client.get("/api/v1/audit", params={"limit": 1, "cursor": cursor})
    assert (answer.status_code, answer.json()["parameter"]) == (422, "cursor")
