"""As of an instant: every route and page says what it would say had nothing come later."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from dashboards import pages
from service.answers.query import Moment, iso
from service.app import create_app
from service.clock import DAY_US, HOUR_US
from service.events import BatchName, Kind, Portion, Quarantined, Reason, Rejected
from service.settings import Settings
from service.store import writer
from service.store.driver import Writer
from service.weekly import look
from tests.answers.world import TOOL_KINDS, random_rows
from tests.told import Told

CUT = 1_791_244_800_000_000 + 34 * 60_000_000 + 1  # 2026-10-06T00:34:00.000001Z
CUTS = {"within an hour": CUT, "at midnight": CUT // DAY_US * DAY_US}
NOW = CUT + 30 * DAY_US
MAPS = {"server": "maps"}
NEEDED = {
    "/api/v1/contact": {"client": "claude-code"},
    "/api/v1/catalogue/diff": MAPS,
    "/name": {"server": "maps", "name": "route"},
    "/client": {"client": "claude-code"},
    "/filter": {"page": "/", "field": "client", "value": "claude-code"},
}
"""What a route cannot be asked without."""
OF_NOW = {"/api/v1/arrivals", "/api/v1/arrivals/new", "/api/v1/shares"}
"""Routes that are of now, whatever is asked."""
TOGETHER: tuple[dict[str, str], ...] = (
    {},
    {"server": "maps", "name": "route", "client": "claude-code", "days": "7"},
    {
        "tz": "Asia/Kolkata",
        "since": iso(CUT - 9 * DAY_US),
        "until": iso(CUT + 9 * DAY_US),
        "excluded": "count",
        "show": "all",
        "provenance": "true",
        "bucket": "week",
    },
)
"""Of each question, a route is asked what it knows."""
ALSO: dict[str, tuple[dict[str, str], ...]] = {
    "/api/v1/series": ({"by": "name"}, {"by": "version"}, {"metric": "notifications"}),
    "/api/v1/uptake": ({"by": "message"},),
    "/api/v1/stopped": ({"by": "client"},),
    "/api/v1/said": ({"by": "client"}, {"changed": "true"}),
    "/api/v1/catalogue/lint": ({"name": "silent"},),
    "/api/v1/names": ({"client": ""}, {"client": "late-client"}, {"server": "late"}),
}
TOLD: list[tuple[str, dict[str, Any]]] = [
    ("aliases", {"client": "zed", "target": "claude-code"}),
    ("exclusions", {"client": "unknown"}),
    ("marks", {"kind": "resolved", **MAPS, "client": "claude-code", "at": iso(CUT - 5 * DAY_US)}),
    ("releases", {**MAPS, "version": "1.6.10", "at": iso(CUT - 20 * DAY_US)}),
    ("releases", {**MAPS, "version": "2.0", "at": iso(CUT + DAY_US)}),
    ("catalogue", {**MAPS, "name": "silent", "replaced_by": ["brand-new"]}),
    ("catalogue", {**MAPS, "name": "route", "replaced_by": ["live"], "message": "Call live."}),
    ("snapshots", {**MAPS, "tools": [{"name": "map"}, {"name": "live"}], "at": iso(CUT - DAY_US)}),
    ("snapshots", {**MAPS, "tools": [{"name": "live"}], "at": iso(CUT - HOUR_US)}),
]


def early(cut: int) -> list[Told]:
    """Rows up to the very instant before *cut*, some in its own hour."""
    last = random_rows(3, cut - 1, cut, 2)
    return [*random_rows(1, cut - 40 * DAY_US, cut), *random_rows(2, cut - HOUR_US, cut, 20), *last]


def late(cut: int) -> list[Told]:
    """
    Rows from *cut* on: more of the same sessions and calls, and servers, clients, names, spellings and
    kinds of lines that were not there before.
    """
    rng = random.Random(5)
    rows = [*random_rows(4, cut, cut + 20 * DAY_US, 300), *random_rows(6, cut, cut + 60, 20)]
    more: list[dict[str, Any]] = [
        {"client": "late-client"},
        {"client": "CLAUDE-CODE (via late-bridge)"},
        {"server": "late"},
        {"tool": "brand-new", "kind": Kind.STALE_CALL},
        {"tool": "mcp__maps__silent", "kind": Kind.UNKNOWN_CALL},
        {"tool": "live", "kind": Kind.STALE_CALL},
        {"tool": "geo", "kind": Kind.CALL},
        {"version": "99"},
    ]
    return [
        replace(row, **change) if row.kind in TOOL_KINDS or "tool" not in change else row
        for row in rows
        for change in [rng.choice([{}, *more])]
    ]


def store(settings: Settings, rows: Iterable[Told], arrived_us: int, source: str) -> None:
    """One delivery of a source, with a line that is rejected, and one hour in which nothing was ours."""
    each = [row.row() for row in rows]
    hours = {at // HOUR_US: 1 for at, *_ in each}
    hours[max(hours) if source == "early" else min(hours)] += 1
    refused = Rejected(reason=Reason.MISSING_TOOL, excerpt=f"{source} line")
    portion = Portion(
        server="maps",
        source=source if source == "new" else "files",
        batch=BatchName(kind="ingest", label=source),
        arrived_us=arrived_us,
        rows=each,
        rejected=[Quarantined(position=1, rejected=refused)],
        ignored=1,
        hours=hours,
    )
    taking = Writer(settings.database_url)
    with taking.transaction() as connection:
        writer.add(connection, portion, quarantine_days=365)
    taking.close()


@pytest.fixture
def cut(request: pytest.FixtureRequest) -> int:
    """The instant of a test, by its word in `CUTS`; one within an hour, if it has none."""
    return CUTS[getattr(request, "param", "within an hour")]


@pytest.fixture
def both(new_database: Callable[[], str], cut: int) -> tuple[TestClient, TestClient, FastAPI]:
    """A service that holds later rows, one that never did, and the app of one; the same was told to both."""
    clients: list[TestClient] = []
    for holds_later in (True, False):
        settings = Settings(database_url=new_database())
        app = create_app(settings, clock=lambda: NOW)
        client = TestClient(app, base_url="http://localhost")
        for noun, body in TOLD:
            answer = client.post(f"/api/v1/{noun}", json=body)
            assert answer.status_code in {200, 201}, (noun, answer.text)
        store(settings, early(cut), cut - 1, "early")
        look(app.state.engine, Moment(cut))
        if holds_later:
            store(settings, late(cut), cut + DAY_US, "late")
            store(settings, late(cut)[-40:], cut + DAY_US, "new")
            look(app.state.engine, Moment(NOW))
        clients.append(client)
    return clients[0], clients[1], app


def routes(app: FastAPI) -> Iterator[tuple[str, set[str]]]:
    """
    Every GET route of the API that needs no number of something, and the parameters that it knows; but for those
    that are of now, whatever is asked: what waits for what arrives or counts it, and the links that were made.
    """
    for path, ways in app.openapi()["paths"].items():
        if path in OF_NOW:
            continue
        if "get" in ways and path.startswith("/api/v1/") and "{" not in path:
            yield path, {each["name"] for each in ways["get"].get("parameters", ())}


def page_paths(router: APIRouter) -> Iterator[str]:
    """Every page that needs no number of something."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            if "GET" in (route.methods or ()) and "{" not in route.path:
                yield route.path
        else:
            yield from page_paths(route.original_router)  # type: ignore[attr-defined]


def questions(path: str, known: set[str]) -> Iterator[dict[str, str]]:
    """What a route is asked."""
    needed = NEEDED.get(path, {})
    for each in (*TOGETHER, *ALSO.get(path, ())):
        yield {**{name: value for name, value in each.items() if name in known}, **needed}


def answer_of(client: TestClient, path: str, asked: dict[str, str]) -> Any:
    """
    Status and body, without what is no answer from events: what `health` says of the database itself,
    and the servers that a page's filter offers.
    """
    answer = client.get(path, params=asked)
    assert answer.status_code < 500, (path, asked, answer.text)
    if "json" not in answer.headers["content-type"]:
        lines = answer.text.splitlines()
        own = ('<label>Server <select name="server">', '<p class="quiet">Database: ')
        return answer.status_code, [line for line in lines if not line.startswith(own)]
    found = answer.json()
    found.pop("database", None)
    return answer.status_code, found


def differing(
    whole: TestClient, less: TestClient, cut: int, asked: Iterable[tuple[str, dict[str, str]]]
) -> list[str]:
    """The questions that are answered differently."""
    found = []
    for path, params in asked:
        both = [answer_of(each, path, {**params, "as_of": iso(cut)}) for each in (whole, less)]
        assert both[0][0] == 200, (path, params, both[0])
        if both[0] != both[1]:
            found.append(f"{path} {params}: {first_difference(*both)}")
    return found


def first_difference(one: Any, other: Any, way: str = "") -> str:
    """Where two answers differ first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            if one.get(key) != other.get(key):
                return first_difference(one.get(key), other.get(key), f"{way}.{key}")
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for at, pair in enumerate(zip(one, other, strict=True)):
            if pair[0] != pair[1]:
                return first_difference(*pair, f"{way}[{at}]")
    return f"{way}: {one!r:.300} != {other!r:.300}"


@pytest.mark.parametrize("cut", CUTS, indirect=True)
def test_no_route_shows_what_came_later(
    both: tuple[TestClient, TestClient, FastAPI], cut: int
) -> None:
    """Whatever is asked of a route, and whatever of it came later: a row, a client, a name, a source."""
    whole, less, app = both
    every = list(routes(app))
    assert "as_of" in set.intersection(*(known for _, known in every))
    asked = [(path, q) for path, known in every for q in questions(path, known)]
    if cut != CUT:
        asked = [(path, NEEDED.get(path, {})) for path, _ in every]
    assert differing(whole, less, cut, asked) == []


def test_no_page_shows_what_came_later(
    both: tuple[TestClient, TestClient, FastAPI], cut: int
) -> None:
    """Neither do the pages, whose numbers are those of the routes."""
    whole, less, _ = both
    paths = sorted(set(page_paths(pages.router)))
    assert {"/", "/name", "/client", "/health", "/todo"} <= set(paths)
    assert differing(whole, less, cut, [(path, NEEDED.get(path, {})) for path in paths]) == []


def test_the_comparison_can_fail(both: tuple[TestClient, TestClient, FastAPI], cut: int) -> None:
    """As of a later instant, what came until then is seen."""
    whole, less, _ = both
    assert len(differing(whole, less, cut + DAY_US, [("/api/v1/names", {}), ("/", {})])) == 2
