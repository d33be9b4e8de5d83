"""Filters on pages: chips, what a cell offers, the form without scripts, and every address of a page."""

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import pytest
from markupsafe import escape

from dashboards.filters import with_value, without_value
from service.answers.query import EVERY, Filter, only
from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.shown import grids, number

NOW = "2026-10-06T12:30:00Z"
ODD = '<img src=x onerror=alert(1)>"&= \u202eגמא'
CALLS = {("maps", "route", "alpha"): 3, ("maps", "route", "beta"): 5, ("maps", "search", None): 7,
         ("shop", "search", "alpha"): 11, ("shop", ODD, ODD): 13}  # fmt: skip
ALL = sum(CALLS.values())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that holds these calls, and never another one."""
    folder = tmp_path_factory.mktemp("filters")
    with running(Settings(database_url=f"sqlite:///{folder / 'events.db'}"), now=NOW) as service:
        for hour, ((server, name, client), number) in enumerate(CALLS.items()):
            data = {"tool": name} | ({"client": client} if client else {})
            lines = [
                {"time": f"2026-10-05T{hour:02}:00:{second:02}Z", "data": data}
                | {"msg": "Retired tool called"}
                for second in range(number)
            ]
            body = "\n".join(map(json.dumps, lines))
            answer = service.client.post("/ingest", params={"server": server}, content=body)
            assert answer.status_code == 200
        yield service


TABLES = {"names": "Stale calls in range", "clients": "Stale calls", "callers": "Stale calls"}
"""Tables whose rows add up to the calls of their page, and the heading of those."""


def shown(page: str) -> int:
    """The stale calls of the page's own table: of names, of clients or of callers."""
    tables = grids(page)
    key = next(each for each in TABLES if each in tables)
    heads, *rows = tables[key]
    return sum(number(row[heads.index(TABLES[key])]) for row in rows)


def chips(page: str) -> list[str]:
    """The chips as they are read."""
    found = re.search(r'<ul class="chips".*?</ul>', page, re.DOTALL)
    items = re.findall(r"<li>(.*?)</li>", found[0], re.DOTALL) if found else []
    return [
        " ".join(unescape(re.sub(r"<[^>]+>", "", item)).replace("×", "").split()) for item in items
    ]


def links(page: str, label: str) -> list[str]:
    """Where the links with that label or title lead."""
    every = re.findall(r"<a [^>]*>", page)
    return [
        unescape(re.findall(r'href="([^"]*)"', one)[0])
        for one in every
        if f'aria-label="{label}"' in one or f'title="{label}"' in one
    ]


@pytest.mark.parametrize(("path", "collection"), [("/", "overview"), ("/clients", "clients")])
@pytest.mark.parametrize(
    ("search", "calls", "said"),
    [
        ("?client=alpha&client=beta", 19, ["client is alpha or beta"]),
        ("?not_client=beta", ALL - 5, ["client is not beta"]),
        ("?not_client=", ALL - 7, ["client is not not named in the log"]),
        ("?not_server=maps&name=search&client=alpha", 11,
         ["server is not maps", "name is search", "client is alpha"]),
        (f"?not_name={quote(ODD)}", ALL - 13, [f"name is not {ODD}"]),
    ],
)  # fmt: skip
def test_page_csv_and_rest_agree_about_what_passes(
    service: Running, path: str, collection: str, search: str, calls: int, said: list[str]
) -> None:
    """And the chips say what that is; the page's own address of REST is asked."""
    page = service.client.get(path + search).text
    assert shown(page) == calls
    assert chips(page) == [" ".join(each.split()) for each in said]
    asked = parse_qs(search[1:], keep_blank_values=True)
    own = [each for each in addresses(page) if f"/{collection}?" in each]
    (address,) = [each for each in own if "csv" not in each]
    assert {k: v for k, v in parse_qs(urlsplit(address).query, keep_blank_values=True).items()
            if k.removeprefix("not_") in ("server", "name", "client")} == asked  # fmt: skip
    rows = service.client.get(address).json()["items"]
    table = csv.DictReader(io.StringIO(service.client.get(f"{address}&format=csv").text))
    assert sum(row["stale_calls"] for row in rows) == calls
    assert sum(int(row["stale_calls"]) for row in table) == calls


def addresses(page: str) -> list[str]:
    """Every address of REST and of figures that a page prints."""
    found = re.findall(r'(?:href|data-figure)="(/(?:api/v1|figures)/[^"]*)"', page)
    return [unescape(each) for each in found]


def test_every_address_of_a_page_carries_its_filters(service: Running) -> None:
    """REST, CSV and figures, as far as each can be asked; the permanent link and the printed one, too."""
    wanted = {("client", "alpha"), ("client", "beta"), ("not_name", "search")}
    search = "?client=beta&client=alpha&not_name=search"
    for path in ("/", "/clients", "/todo", "/effect", "/reactions"):
        page = service.client.get(path + search).text
        parameters = service.client.get("/openapi.json").json()["paths"]
        for address in addresses(page):
            split = urlsplit(address)
            can = wanted
            if split.path.startswith("/api"):
                known = {each["name"] for each in parameters[split.path]["get"]["parameters"]}
                can = {pair for pair in wanted if pair[0] in known}
            else:
                split = split._replace(path=split.path.replace("/figures/", "/figures/light/"))
            own = set(parse_qsl(split.query, keep_blank_values=True))
            assert service.client.get(split.geturl()).status_code == 200, address
            of_one = "server" in dict(own) or split.path == "/api/v1/contact"
            if not of_one:
                assert can <= own or split.path in UNFILTERED, (path, address)
        fixed = unescape(re.findall(r'<a href="([^"]*)" data-fixed', page)[0])
        printed = unescape(re.findall(r'<p class="printed">([^<]*)', page)[0])
        for address in (fixed, printed):
            assert wanted <= set(parse_qsl(urlsplit(address).query))


UNFILTERED = {
    *("/api/v1/reactions", "/api/v1/reactions/latency", "/api/v1/releases"),
    *("/api/v1/effect/names", "/api/v1/effect/weeks", "/api/v1/effect/since"),
}
"""They are of all names or of all clients, whatever the page is about, and say so."""


def test_a_chip_turns_and_loses_its_values_one_by_one(service: Running) -> None:
    """Is into is not and back; each value has its own cross."""
    page = service.client.get("/?client=alpha&client=beta").text
    (turned,) = links(page, "Turn into is not")
    other = service.client.get(turned).text
    assert chips(other) == ["client is not alpha or beta"]
    assert shown(page) + shown(other) == ALL
    assert chips(service.client.get(links(other, "Turn into is")[0]).text) == [
        "client is alpha or beta"
    ]
    (less,) = links(page, "Remove the filter client is alpha")
    assert chips(service.client.get(less).text) == ["client is beta"]
    (none,) = links(service.client.get(less).text, "Remove the filter client is beta")
    assert chips(service.client.get(none).text) == []


def test_a_cell_says_of_what_it_is_a_value(service: Running) -> None:
    """Its text is the value, but for calls that name no client and what would turn a line; what a page is about is no filter of it."""
    page = service.client.get("/").text
    cells = re.findall(r'<span data-pick="(\w+)"([^>]*)><a [^>]*>(.*?)</a>', page)
    found = {
        (key, unescape(re.sub(r"<[^>]+>", "", text))) if not own else (key, own.strip())
        for key, own, text in cells
    }
    odd = f'data-value="{escape(ODD)}"'
    assert found >= {
        *(("client", "alpha"), ("client", 'data-value=""')),
        *(("name", "route"), ("name", odd), ("server", "maps"), ("server", "shop")),
    }
    one = service.client.get("/name?server=maps&name=route").text
    assert set(re.findall(r'data-pick="(\w+)"', one)) == {"client"}


def test_the_form_adds_a_filter_without_scripts(service: Running) -> None:
    """It leads to the page with one filter more, and keeps the rest of the address."""
    page = service.client.get("/clients?days=28&not_client=beta&tz=Asia/Kolkata").text
    form = re.findall(r'<form[^>]*action="/filter".*?</form>', page, re.DOTALL)[0]
    kept: list[tuple[str, str | int | float | bool | None]] = [
        (unescape(key), unescape(value))
        for key, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
    ]
    offered = {unescape(each) for each in re.findall(r'<option value="([^"]*)">', form)}
    assert {"alpha", "beta", "route", "search", "maps", "shop", ODD} <= offered
    for field, word, value, chip in (
        ("client", "is", "alpha", ["client is alpha", "client is not beta"]),
        ("client", "not", ODD, [f"client is not {ODD} or beta"]),
        ("client", "not", "", ["client is not not named in the log or beta"]),
        ("name", "is", " search ", ["name is search", "client is not beta"]),
    ):
        asked = [*kept, ("field", field), ("is", word), ("value", value)]
        answer = service.client.get("/filter", params=asked)
        assert answer.status_code == 303
        to = answer.headers["location"]
        assert to.startswith("/clients?")
        assert {"days": ["28"], "tz": ["Asia/Kolkata"]}.items() <= parse_qs(
            urlsplit(to).query
        ).items()
        assert chips(service.client.get(to).text) == [" ".join(each.split()) for each in chip]


@pytest.mark.parametrize(
    ("asked", "parameter"),
    [
        ({"page": "//evil.example"}, "page"),
        ({"page": "/login"}, "page"),
        ({"field": "days"}, "field"),
        ({"is": "contains"}, "is"),
        ({"field": "name", "value": " "}, "value"),
        ({"value": "x" * 257}, "value"),
        ({"nothing": "1"}, "nothing"),
        ({"tz": "Mars"}, "tz"),
    ],
)
def test_the_form_refuses_what_it_did_not_send(
    service: Running, asked: dict[str, str], parameter: str
) -> None:
    """With a page that names the field; and it leads to no other site."""
    given = {"page": "/", "field": "client", "is": "is", "value": "alpha"} | asked
    answer = service.client.get("/filter", params=given)
    assert answer.status_code == 422
    assert f"{parameter}:" in answer.text


def test_a_page_about_one_refuses_several(service: Running) -> None:
    """And all but some, with the way back; what narrows it further is a filter like any other."""
    for path in (
        "/name?server=maps&name=route&name=search",
        "/name?server=maps&not_name=route",
        "/name?name=route&not_server=shop",
        "/client?client=alpha&client=beta",
        "/client?not_client=alpha",
        "/client?client=alpha&not_client=beta",
    ):
        answer = service.client.get(path)
        assert answer.status_code == 422
        assert "this is about one of them" in answer.text
    narrowed = service.client.get("/name?server=maps&name=route&not_client=beta").text
    assert chips(narrowed) == ["client is not beta"]
    assert shown(narrowed) == 3


def test_a_contradiction_is_filtered_to_nothing(service: Running) -> None:
    """Which is no good zero."""
    for search in ("client=alpha&not_client=ALPHA", "name=route&not_name=route"):
        page = service.client.get(f"/?{search}").text
        assert 'data-empty="filtered"' in page


def test_too_many_values_are_refused(service: Running) -> None:
    """At a hundred; an address has an end, too."""
    answer = service.client.get("/?" + "&".join(f"not_client=c{i}" for i in range(101)))
    assert answer.status_code == 422
    assert "not_client: 101 values; at most 100" in answer.text


def test_not_this_takes_away_before_it_forbids() -> None:
    """Of several values the one goes; the last one that is not among them is forbidden."""
    assert without_value(EVERY, "a") == Filter((), ("a",))
    assert without_value(Filter(("a", "b"), ("c",)), "a") == Filter(("b",), ("c",))
    assert without_value(only("a"), "a") == Filter((), ("a",))
    assert without_value(Filter(("a", "b")), "A") == Filter(("a", "b"), ("A",))
    assert with_value(Filter(("a",), ("b",)), "b") == Filter(("a", "b"))
