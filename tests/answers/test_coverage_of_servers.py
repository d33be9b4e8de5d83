"""How much was watched is said of the servers that an answer is about, and of each that was watched less."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

NOW = datetime(2026, 10, 31, tzinfo=UTC)
DAYS = 60
RANGE = {"since": (NOW - timedelta(days=DAYS)).isoformat()}


def said(at: datetime, message: str, **data: str) -> str:
    return json.dumps({"time": at.isoformat(), "msg": message, "data": data})


def heard(days: int) -> list[str]:
    """An ordinary line an hour, for so many days before now."""
    hours = (NOW - timedelta(hours=n) for n in range(1, days * 24 + 1))
    return [said(at, "request done") for at in hours]


@pytest.fixture
def empty(database_url: str) -> Iterator[TestClient]:
    """A service without a line."""
    settings = settings_from_environment(database_url=database_url, allowed_hosts="testserver")
    with TestClient(create_app(settings, clock=lambda: int(NOW.timestamp() * 1e6))) as client:
        yield client


@pytest.fixture
def api(empty: TestClient) -> TestClient:
    """`maps` was heard for sixty days, `shop` for twenty, `docs` never."""
    fill(empty)
    shop = said(NOW - timedelta(days=3), "Retired tool called", tool="cart", client="acme")
    empty.post("/ingest?server=shop", content="\n".join([*heard(20), shop]))
    return empty


def fill(api: TestClient) -> None:
    """Lines of `maps`, and a catalogue and a list of tools of `docs`."""
    calls = [said(NOW - timedelta(days=n), "Retired tool called", tool="route", client="zed")
             for n in (3, 40, 58)]  # fmt: skip
    api.post("/ingest?server=maps", content="\n".join([*heard(DAYS), *calls]))
    for name in ("page", "index"):
        api.post("/api/v1/catalogue", json={"server": "docs", "name": name})
    api.post("/api/v1/snapshots", json={"server": "docs", "tools": [{"name": "echo"}]})


def coverage(api: TestClient, path: str, **asked: str) -> dict[str, Any]:
    answer = api.get(f"/api/v1/{path}", params=RANGE | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["coverage"]
    return found


def hours(found: dict[str, Any]) -> tuple[int, int, dict[str, int]]:
    each = {one["server"]: one["covered_hours"] for one in found["servers"]}
    return found["covered_hours"], found["hours"], each


@pytest.mark.parametrize("path", ["names", "callers", "todo", "cures", "overview", "series"])
def test_servers_that_were_watched_less_are_named(api: TestClient, path: str) -> None:
    """Beside the hours of all together: one that was never heard, and one whose log began late."""
    found = coverage(api, path)
    assert hours(found) == (60 * 24, 60 * 24, {"docs": 0, "shop": 20 * 24})
    assert found["server_count"] == 2
    assert [one["heard_since"] for one in found["servers"]] == [None, "2026-10-11T00:00:00.000Z"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("path", "asked", "covered"),
    [
        ("names", {"name": "page"}, 0),
        ("overview", {"name": "page"}, 0),
        ("listed", {"name": "echo"}, 0),
        ("listed", {"server": "docs"}, 0),
        ("names", {"name": "cart"}, 20 * 24),
        ("callers", {"client": "acme"}, 20 * 24),
        ("contact", {"client": "acme"}, 20 * 24),
        ("series", {"client": "acme"}, 20 * 24),
        ("names", {"name": "route"}, 60 * 24),
        ("callers", {"client": "zed"}, 60 * 24),
        ("todo", {"client": "nobody known"}, 60 * 24),
    ],
)
def test_only_servers_that_the_answer_is_about_count(
    api: TestClient, path: str, asked: dict[str, str], covered: int
) -> None:
    """Those that have the name and know the client; without one, all of them."""
    assert hours(coverage(api, path, **asked))[:2] == (covered, 60 * 24)


def test_a_server_that_was_never_heard_spoils_no_comparison(empty: TestClient) -> None:
    """Of it no call is in either period; a log that is too young spoils it."""
    fill(empty)
    change = empty.get("/api/v1/overview").json()["totals"]["change"]
    assert (change["word"], change["matched_hours"]) == ("equal", 28 * 24)
    young = said(NOW - timedelta(days=3), "Retired tool called", tool="cart", client="acme")
    empty.post("/ingest?server=shop", content="\n".join([*heard(20), young]))
    change = empty.get("/api/v1/overview").json()["totals"]["change"]
    assert (change["word"], change["why"]) == ("cannot_compare", "short_history")


def test_the_page_of_a_client_shows_the_gaps_and_releases_of_its_servers(api: TestClient) -> None:
    """And says nothing of the others."""
    for server in ("maps", "shop"):
        release = {"server": server, "version": f"9.9-{server}", "at": "2026-10-20"}
        assert api.post("/api/v1/releases", json=release).is_success
    page = api.get("/client?client=acme&days=28").text
    assert "shop 9.9-shop" in page
    assert "9.9-maps" not in page
    names = " ".join(re.sub(r"<[^>]+>", "", api.get("/").text).split())
    assert "docs was never heard; shop 480 hours, heard since 2026-10-11 00:00 UTC" in names
