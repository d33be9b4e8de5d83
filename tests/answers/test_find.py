"""Where to go: what holds a text that somebody types."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import settings_from_environment

NOW_US = 1_793_500_000_000_000  # 2026-10-31


@pytest.fixture
def api(database_url: str) -> Iterator[TestClient]:
    """A service without a line, on both databases."""
    settings = settings_from_environment(
        database_url=database_url, allowed_hosts="testserver", auto_upgrade="true"
    )
    with TestClient(create_app(settings, clock=lambda: NOW_US)) as client:
        yield client


def log(api: TestClient, *calls: tuple[int, str, str], server: str = "maps") -> None:
    """Calls as (day of October, client, name)."""
    lines = [
        json.dumps(
            {
                "time": f"2026-10-{day:02}T10:00:{at:02}Z",
                "msg": "Retired tool called",
                "data": {"tool": name, "client": client},
            }
        )
        for at, (day, client, name) in enumerate(calls)
    ]
    receipt = api.post(f"/ingest?server={server}", content="\n".join(lines)).json()
    assert receipt["accepted"] == len(lines)


def found(api: TestClient, q: str, **more: str) -> list[tuple[str, str]]:
    """(kind, text) of what is found beside pages."""
    answer = api.get("/search.json", params={"q": q, **more})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return [(each["kind"], each["text"]) for each in items if each["kind"] != "page"]


def test_what_is_the_text_comes_first_then_what_begins_with_it(api: TestClient) -> None:
    """Names, clients and servers together; in any case."""
    log(api, (3, "Route", "my_route"), (4, "router", "ROUTE_old"), (5, "zed", "other"))
    log(api, (6, "zed", "other"), server="en-route")
    assert found(api, "rOuTe") == [
        ("client", "Route"),
        ("client", "router"),
        ("name", "ROUTE_old"),
        ("server", "en-route"),
        ("name", "my_route"),
    ]
    assert found(api, "nowhere") == []


@pytest.mark.parametrize("q", ["%", "_", "\\", "'", "%%", "\\_"])
def test_signs_of_patterns_are_text(api: TestClient, q: str) -> None:
    """Only what holds them is found."""
    log(api, (3, "plain", "plain"), (4, f"client {q} x", "other"))
    assert found(api, q) == [("client", f"client {q} x")]


@pytest.mark.parametrize("q", ["", "  ", "\x00", "\u200b"])
def test_a_text_without_anything_to_see_finds_pages_alone(api: TestClient, q: str) -> None:
    log(api, (3, "c", "n"))
    items = api.get("/search.json", params={"q": q}).json()["items"]
    assert {each["kind"] for each in items} == {"page"}
    assert [each["text"] for each in items][:3] == ["Names", "To do", "Clients"]


def test_of_many_twenty_are_told_the_shortest_first(api: TestClient) -> None:
    """However many hold the text."""
    for start in range(0, 300, 50):
        log(api, *((3, f"bot-{i:03}{'x' * (i // 10)}", f"n{i}") for i in range(start, start + 50)))
    texts = [text for _, text in found(api, "bot")]
    assert texts == [*(f"bot-{i:03}" for i in range(10)), *(f"bot-{i:03}x" for i in range(10, 20))]


def test_a_client_that_is_another_is_found_as_that_one(api: TestClient) -> None:
    """By either name."""
    log(api, (3, "windsurf-client", "a"), (4, "plain", "a"))
    told = {"client": "windsurf-client", "target": "Cascade"}
    assert api.post("/api/v1/aliases", json=told).status_code == 200
    assert found(api, "windsurf") == [("client", "Cascade")]
    assert found(api, "cascade") == [("client", "Cascade")]


def test_as_of_an_instant_what_came_later_is_not_there(api: TestClient) -> None:
    log(api, (3, "agent-one", "agent_a"), (9, "agent-two", "agent_b"))
    assert found(api, "agent", as_of="2026-10-05") == [
        ("name", "agent_a"),
        ("client", "agent-one"),
    ]
    assert len(found(api, "agent")) == 4


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"q": "x" * 257}, "256"), ({"q": "x", "rnage": "7"}, "rnage"), ({"tz": "Mars"}, "zone")],
)
def test_what_cannot_be_asked_is_named(api: TestClient, asked: dict[str, str], why: str) -> None:
    """To people as a page, to scripts as JSON."""
    data = api.get("/search.json", params=asked)
    page = api.get("/search", params=asked)
    assert (data.status_code, page.status_code) == (422, 422)
    assert why in data.json()["detail"] + str(data.json())
    assert page.headers["content-type"].startswith("text/html")


def test_the_page_holds_the_same_in_the_same_range(api: TestClient) -> None:
    """Each a link that keeps range and zone."""
    log(api, (3, "a & b", "old"))
    asked = {"q": "a & b", "days": "7", "tz": "Asia/Tokyo"}
    (item,) = api.get("/search.json", params=asked).json()["items"]
    assert item["href"] == "/client?client=a+%26+b&days=7&tz=Asia%2FTokyo"
    text = api.get("/search", params=asked).text
    assert item["href"].replace("&", "&amp;") in text
    assert ">a &amp; b</a>" in text
    assert api.get(item["href"]).status_code == 200


def test_each_page_that_is_found_is_there(api: TestClient) -> None:
    for item in api.get("/search.json").json()["items"]:
        assert api.get(item["href"]).status_code == 200, item
