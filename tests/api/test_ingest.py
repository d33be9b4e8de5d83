"""`/ingest`: any method, path and form of body that senders have, and what is refused."""

import gzip
import json
import lzma
from collections.abc import Iterator

import msgpack  # type: ignore[import-untyped]
import pytest
import zstandard

from service.settings import Settings
from tests.acceptance.service import Running, running

LINE = {
    "level": "info",
    "time": "2026-10-05T10:15:02.114Z",
    "data": {"tool": "gone", "client": "zed", "lastRelease": "1.0"},
    "msg": "Retired tool called",
}
TEXT = json.dumps(LINE).encode()


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    settings = Settings(database_url=database_url, max_body_bytes=100_000)
    with running(settings, now="2026-10-06T00:00:00Z") as served:
        yield served


@pytest.mark.parametrize("prefix", ["", "/api/v1"])
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_feed_may_stand_in_the_path(service: Running, prefix: str, method: str) -> None:
    """For senders that can set an address only; without it the feed is `http`."""
    for path in ("/ingest", "/ingest/edge-1"):
        answer = service.client.request(method, f"{prefix}{path}?server=maps", content=TEXT)
        assert answer.status_code == 200
    assert sorted(row["source"] for row in service.rows("health")) == ["edge-1", "http"]
    assert {row["server"] for row in service.rows("events")} == {"maps"}


@pytest.mark.parametrize("path", ["/ingest/", "/api/v1/ingest/"])
def test_a_slash_at_the_end_changes_nothing(service: Running, path: str) -> None:
    """Senders that append one do not follow a redirect."""
    answer = service.client.post(f"{path}?server=maps", content=TEXT)

    assert (answer.status_code, answer.json()["accepted"]) == (200, 1)


@pytest.mark.parametrize(
    "query", ["servr=maps", "server=a&server=b", "source=x&source=y", "x", "secret=token"]
)
@pytest.mark.parametrize("path", ["/ingest", "/ingest/edge-1"])
def test_a_query_that_is_not_understood_is_refused(service: Running, path: str, query: str) -> None:
    """What it asks for would be left undone. A path that names the feed takes no other name."""
    answer = service.client.post(f"{path}?{query}", content=TEXT)

    assert answer.status_code == 422
    assert answer.json()["parameter"] == query.partition("=")[0]
    assert service.rows("health") == []


def test_a_body_that_is_compressed_otherwise_is_refused_by_its_name(service: Running) -> None:
    """422 says what it is and what is read."""
    answer = service.client.post("/ingest", content=lzma.compress(TEXT))

    assert answer.status_code == 422
    assert "is xz, which cannot be read here; send it" in answer.json()["detail"]
    assert service.rows("health") == []


BODIES = {
    "lines": TEXT + b"\nplain text\n" + TEXT,
    "an array": b"[%b,\n%b]" % (TEXT, TEXT),
    "a wrapper": b'{"logs":[%b,%b],"total":2}' % (TEXT, TEXT),
    "glued": TEXT + TEXT,
    "spread": json.dumps(LINE, indent=2).encode() * 2,
    "msgpack": msgpack.packb([LINE, LINE]),
    "zstd": zstandard.compress(TEXT + b"\n" + TEXT),
    "gzip twice": gzip.compress(gzip.compress(TEXT + b"\n" + TEXT)),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize(
    "content_type",
    [None, "application/json", "text/plain", "application/x-www-form-urlencoded", "x/y"],
)
def test_the_form_of_a_body_is_seen_from_its_bytes(
    service: Running, name: str, content_type: str | None
) -> None:
    """Both equal calls of it count, whatever its Content-Type says."""
    headers = {"Content-Type": content_type} if content_type else {}
    answer = service.client.post("/ingest", content=BODIES[name], headers=headers)

    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] == 2
    assert answer.json()["rejected"] == 0


def test_all_forms_of_a_body_hold_the_same_records(service: Running) -> None:
    """So a sender that changes its form is not counted twice."""
    fates = [service.client.post("/ingest", content=body).json() for body in BODIES.values()]

    assert sum(fate["accepted"] for fate in fates) == 2
    assert sum(fate["duplicates"] for fate in fates) == 2 * len(BODIES) - 2


def test_one_bad_element_costs_only_itself(service: Running) -> None:
    """Broken, of another kind or too deep: each is one rejected record, at its place."""
    deep = b'{"msg":"Retired tool called","x":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
    body = b'[%b,null,%b,oops,{"msg":"Retired tool called",},[],%b]' % (TEXT, deep, TEXT)
    said = service.client.post("/ingest", content=body).json()

    assert (said["received"], said["accepted"], said["rejected"]) == (7, 2, 5)
    assert said["positions"] == [1, 2, 3, 4, 5]
    assert said["reasons"] == {"not_an_object": 3, "too_deep": 1, "invalid_json": 1}


@pytest.mark.parametrize(
    ("body", "encoding", "status"),
    [
        (b"[" + TEXT, None, 422),
        (b"\x1f\x8bbroken", None, 422),
        (bytes(range(128, 256)), "br", 422),
        (gzip.compress(bytes(100_001)), "gzip", 413),
        (zstandard.compress(bytes(100_001)), None, 413),
    ],
)
def test_what_is_refused_stores_nothing(
    service: Running, body: bytes, encoding: str | None, status: int
) -> None:
    """And says what would be taken."""
    headers = {"Content-Encoding": encoding} if encoding else {}
    answer = service.client.post("/ingest", content=body, headers=headers)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    if encoding == "br":
        assert "gzip, deflate, zstd or snappy" in answer.json()["detail"]
    assert service.rows("health") == []
