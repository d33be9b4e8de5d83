"""Every page as data: the answers that it rests on are those of REST, to an admin and to whoever came by a link."""

import json
import re
from typing import Any, Final

import pytest

from service.api.needs import Table
from tests.access.conftest import House
from tests.access.shared import OTHER, OWN

ABOUT: Final = {
    "/name": f"server=maps&name={OWN}-name-one",
    "/client": f"client={OWN}-client-alpha",
    "/effect": "server=maps",
}
"""What a page is asked about, where it shows one thing."""
NO_DATA: Final = {"/setup", "/search", "/explain", "/login", "/shares", "/undo/{batch}", "/filter"}
"""Pages that rest on no answer in a range: forms, a field to search, links, and what leads on to another."""


def pages(house: House) -> list[str]:
    """Every page of the route table."""
    return sorted(
        {
            row.path
            for row in Table(house.app.routes).rows
            if row.endpoint is not None
            and row.endpoint.__module__.startswith("dashboards.pages.")
            and "HEAD" in row.methods
        }
    )


def document(house: House, address: str, secret: str | None = None) -> dict[str, Any]:
    answer = house.ask("GET", address, secret)
    assert answer.status_code == 200, (address, answer.text)
    assert answer.headers["content-type"] == "application/json"
    assert "access-control-allow-origin" not in answer.headers

    def never(word: str) -> Any:
        raise AssertionError(f"{word} is no JSON")

    found: dict[str, Any] = json.loads(answer.text, parse_constant=never)
    return found


def is_same(house: House, one: dict[str, Any], root: str, secret: str | None) -> None:
    """An answer of a document is the one at its address, or a part of that."""
    answer = house.ask("GET", root + one["address"], secret)
    assert answer.status_code == 200, (one["address"], answer.text)
    rest = answer.json()
    if not one["is_part"]:
        assert one["answer"] == rest, one["address"]
    elif one["collection"] == "last_releases":
        summed: dict[str | None, list[int]] = {}
        for row in rest["items"]:
            mine = summed.setdefault(row["last_release"], [0, 0])
            mine[0] += 1
            mine[1] += row["stale_calls"]
        told = {
            row["release"]: [row["names"], row["stale_calls"]] for row in one["answer"]["items"]
        }
        assert told == summed
    else:
        assert all(row in rest["items"] for row in one["answer"]["items"]), one["address"]


def test_every_page_with_data_is_a_document_of_the_answers_of_rest(world: House) -> None:
    """From the table of routes: a new page has one, or is named here as resting on none."""
    admin = world.token("doc-admin", "admin")
    met = set()
    for path in pages(world):
        if path in NO_DATA:
            continue
        for more in ("", "&days=7&tz=Asia%2FKathmandu&excluded=count"):
            query = f"{ABOUT.get(path, '')}{more}"
            found = document(world, f"{path}?format=json&{query}", admin)
            assert found.keys() == {"page", "range", "as_of", "coverage", "generated_at", "answers"}
            assert found["page"].partition("?")[0] == path
            assert len(found["answers"]) > 1
            for each in found["answers"]:
                is_same(world, each, "", admin)
                met.add(each["collection"])
    assert {"overview", "callers", "series", "effect", "reactions", "todo", "health", "lint"} <= met


@pytest.mark.parametrize("path", ["/", "/name", "/clients", "/client", "/effect", "/reactions"])
def test_a_document_by_a_link_is_that_of_its_filter(world: House, path: str) -> None:
    """With addresses that hold below the link, and none of its secret."""
    root = world.app.state.sharing.add("maps", actor="command").path.removesuffix("/")
    found = document(world, f"{root}{path}?format=json&{ABOUT.get(path, '')}")
    assert root not in json.dumps(found)
    assert OTHER not in json.dumps(found)
    for each in found["answers"]:
        is_same(world, each, root, None)


def test_every_page_with_data_links_to_its_document(world: House) -> None:
    """The link keeps what is asked for; the document itself is asked for once, not by the links in it."""
    admin = world.token("link-admin", "admin")
    for path in set(pages(world)) - NO_DATA:
        page = world.ask("GET", f"{path}?days=28&{ABOUT.get(path, '')}", admin).text
        [address] = re.findall(r'<a href="([^"]*)">This page as JSON</a>', page)
        assert "days=28" in address
        assert page.count("format=json") == 1
        found = document(world, address.replace("&amp;", "&"), admin)
        assert found["page"] == address.replace("&amp;", "&").replace("&format=json", "")


@pytest.mark.parametrize(
    ("query", "status"), [("days=x", 422), ("server=maps&name=never", 404), ("name=x", 422)]
)
def test_what_cannot_be_shown_is_said_as_data(world: House, query: str, status: int) -> None:
    admin = world.token(f"refused-{status}-{query[:4]}", "admin")
    answer = world.ask("GET", f"/name?format=json&{query}", admin)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
