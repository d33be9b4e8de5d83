"""The landing page, and the page of one retired name."""

from fastapi import Request
from fastapi.responses import HTMLResponse

from dashboards.empty import emptiness
from dashboards.pages.frame import EVENTS, METHODS, needed, new_router, own_rows, shown
from dashboards.pivot import pivot
from dashboards.reading import callers_chart, calls_chart, reading_of, release_calls
from service import answers
from service.errors import NotFound

NAMES = 60
"""Rows of names on the landing page, each with its picture."""
CALLERS = 50
"""Rows of callers on the landing page; the others are a click away."""
VERSIONS = 20
"""Versions of an entry of the catalogue on the page of its name."""
router = new_router()


@router.api_route("/", methods=METHODS)
def names_page(request: Request) -> HTMLResponse:
    """Who still calls what, and is it getting better."""
    with reading_of(request) as look:
        found = look.ask(
            answers.overview, sort=look.state.sort or "-stale_calls", **own_rows(look, NAMES)
        )
        who = look.ask(answers.callers, sort="-stale_calls", limit=CALLERS)
        empty = emptiness(look, found.more["totals"].stale_calls, found)
        return shown(
            request,
            look,
            "names.html",
            names=found.as_json(),
            callers=who.as_json(),
            calls=pivot(calls_chart(look, "client")),
            releases=release_calls(look),
            left_out=found.more["excluded_calls"],
            empty=empty,
        )


@router.api_route("/name", methods=METHODS)
def name_page(request: Request) -> HTMLResponse:
    """One retired name: who calls it, since when, how often."""
    with reading_of(request) as look:
        server, name = needed(look, "server"), needed(look, "name")
        facts = look.ask(answers.overview, client=None)
        if not facts.items:
            raise NotFound(f"no retired name {name!r} is known of server {server!r}")
        who = look.ask(answers.callers, sort=look.state.sort or "-stale_calls", **own_rows(look))
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        tiles = next(iter(look.ask(answers.names).items), None)
        versions = look.ask(answers.history, client=None, limit=VERSIONS).as_json()
        return shown(
            request,
            look,
            "name.html",
            uptake=look.ask(answers.uptake, limit=CALLERS, sort="-stale_calls").as_json(),
            entry=look.ask(answers.catalogue, client=None, limit=1).as_json(),
            versions=versions,
            left_out=who.more["excluded_calls"],
            facts=facts.as_json(),
            tiles=tiles,
            callers=who.as_json(),
            events=last.as_json(),
            calls=pivot(calls_chart(look, "client")),
            callers_by_day=pivot(callers_chart(look)),
            empty=emptiness(look, tiles.stale_calls if tiles else 0, who, {"server", "name"}),
        )
