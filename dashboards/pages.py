"""The pages of a running service: each asks `service.answers` and shows what they say."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.empty import Empty, emptiness, no_arrivals
from dashboards.figures.records import FATES
from dashboards.pivot import pivot
from dashboards.reading import (
    Reading,
    arrivals,
    callers_chart,
    calls_chart,
    reading_of,
    release_calls,
)
from dashboards.state import RANGES, State
from dashboards.templating import asset, render
from service import answers
from service.analysis.coverage import FIRST_DAYS_H
from service.analysis.zones import zone_names
from service.clock import HOUR_US
from service.errors import BadParameter, Conflict, LastCallError, NotFound
from service.refusals import route_class

ROWS = 200
"""Rows of a table before its reader is sent to the next page."""
EVENTS = 20
CALLERS = 50
"""Rows of callers on the landing page; the others are a click away."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


def _answer_to(request: Request, error: LastCallError) -> Response:
    """A refusal is a page, too; a place in the rows that is gone leads to the first of them."""
    is_place = isinstance(error, BadParameter) and error.parameter == "cursor"
    if "cursor" in request.query_params and (is_place or isinstance(error, Conflict)):
        return _first_rows(request)
    return _refusal(request, error)


router = APIRouter(include_in_schema=False, route_class=route_class(_answer_to))
METHODS = ["GET", "HEAD"]


@router.api_route("/", methods=METHODS)
def names_page(request: Request) -> HTMLResponse:
    """Who still calls what, and is it getting better."""
    with reading_of(request) as look:
        found = look.ask(answers.overview, sort=look.state.sort or "-stale_calls", **_page(look))
        who = look.ask(answers.callers, sort="-stale_calls", limit=CALLERS)
        empty = emptiness(look, found.more["totals"].stale_calls, found)
        return _shown(
            request,
            look,
            "names.html",
            names=found.as_json(),
            callers=who.as_json(),
            calls=pivot(calls_chart(look, "client")),
            releases=release_calls(look),
            empty=empty,
        )


@router.api_route("/name", methods=METHODS)
def name_page(request: Request) -> HTMLResponse:
    """One retired name: who calls it, since when, how often."""
    with reading_of(request) as look:
        server, name = _needed(look, "server"), _needed(look, "name")
        facts = look.ask(answers.overview, client=None)
        if not facts.items:
            raise NotFound(f"no retired name {name!r} is known of server {server!r}")
        who = look.ask(answers.callers, sort=look.state.sort or "-stale_calls", **_page(look))
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        tiles = next(iter(look.ask(answers.names).items), None)
        return _shown(
            request,
            look,
            "name.html",
            facts=facts.as_json(),
            tiles=tiles,
            callers=who.as_json(),
            events=last.as_json(),
            calls=pivot(calls_chart(look, "client")),
            callers_by_day=pivot(callers_chart(look)),
            empty=emptiness(look, tiles.stale_calls if tiles else 0, who, {"server", "name"}),
        )


@router.api_route("/clients", methods=METHODS)
def clients_page(request: Request) -> HTMLResponse:
    """Which clients were there, what each still calls, and what each does when notified."""
    with reading_of(request) as look:
        found = look.ask(answers.clients, sort=look.state.sort or "-stale_calls", **_page(look))
        told = look.ask(answers.reactions, name=None, sort="-episodes", limit=ROWS)
        every = look.ask(answers.overview)
        return _shown(
            request,
            look,
            "clients.html",
            clients=found.as_json(),
            reactions=told.as_json(),
            calls=pivot(calls_chart(look, "client")),
            empty=emptiness(look, every.more["totals"].stale_calls, found),
        )


@router.api_route("/client", methods=METHODS)
def client_page(request: Request) -> HTMLResponse:
    """One client: the names it calls, when, and what it does when notified."""
    with reading_of(request) as look:
        client = _needed(look, "client")
        facts = look.ask(answers.clients)
        who = look.ask(answers.callers, sort=look.state.sort or "-stale_calls", **_page(look))
        told = look.ask(answers.reactions, name=None)
        last = look.ask(answers.events, sort="-time", limit=EVENTS)
        ever = look.ask(answers.clients, since=None, until=None, name=None, server=None)
        if client and not ever.items:
            raise NotFound(f"no client {client!r} was ever seen")
        return _shown(
            request,
            look,
            "client.html",
            client=_spelling(ever.items, client),
            facts=facts.as_json(),
            callers=who.as_json(),
            reactions=told.as_json(),
            events=last.as_json(),
            calls=pivot(calls_chart(look, "name")),
            callers_by_day=pivot(callers_chart(look)),
            empty=emptiness(look, sum(row.stale_calls for row in facts.items), who, {"client"}),
        )


@router.api_route("/health", methods=METHODS)
def health_page(request: Request) -> HTMLResponse:
    """How far the numbers can be trusted: what arrived, from where, and what was not heard."""
    with reading_of(request, arrivals=True) as look:
        found = arrivals(look, **_page(look))
        return _shown(
            request,
            look,
            "health.html",
            health=found.as_json(),
            fates=FATES,
            rejects=look.ask(answers.rejects, name=None, client=None, limit=EVENTS).as_json(),
            empty=no_arrivals(look, len(found.items)),
        )


@router.get("/static/{path:path}")
def static(path: str) -> Response:
    """The files that pages load."""
    body, media_type = asset(path)
    # A vendored file bears its version in its name.
    age = "max-age=31536000, immutable" if path.startswith("vendor/") else "max-age=300"
    headers = {"Cache-Control": f"private, {age}", "X-Content-Type-Options": "nosniff"}
    return Response(body, media_type=media_type, headers=headers)


def _page(look: Reading) -> Mapping[str, object]:
    """Which rows of the page's own table."""
    return {"limit": ROWS, "cursor": look.state.cursor}


def _needed(look: Reading, parameter: str) -> str:
    value: str | None = getattr(look.state, parameter)
    if value is None:
        raise BadParameter(
            parameter, "missing; this page is about one of them, so it must be named"
        )
    return value


def _spelling(rows: tuple[answers.ClientRow, ...], asked: str) -> str | None:
    """The client as its rows spell it; None for what names no client."""
    return next((row.client for row in rows), asked or None)


def _young(look: Reading) -> list[str]:
    """Feeds whose first week is half of the range: what is usual for them is not known then."""
    found = look.ask(answers.coverage, name=None, client=None)
    since = found.range.since or 0
    middle = (since + look.moment.now_us) // 2
    return [
        f"{span.server} / {span.source}"
        for span in found.more["sources"]
        if span.first_heard + FIRST_DAYS_H * HOUR_US > middle
    ]


def _shown(
    request: Request, look: Reading, template: str, empty: Empty | None, **values: Any
) -> HTMLResponse:
    """Fill a page's template."""
    state, view = look.state, look.view
    html = render(
        template,
        **_frame(request, state),
        origin=str(request.base_url).rstrip("/"),
        view=view,
        extent=look.extent,
        moment=look.moment,
        young=_young(look),
        empty=empty,
        zones=zone_names(),
        **values,
    )
    return HTMLResponse(html, headers=HEADERS)


def _frame(request: Request, state: State) -> dict[str, Any]:
    """What every page has: its address, and links that keep the range and the zone."""
    root, path = request.scope.get("root_path", ""), request.url.path
    path = path.removeprefix(root)
    bare = {"server": None, "name": None, "client": None, "sort": None}

    def link(to: str, **changes: Any) -> str:
        """Another page in the same range and zone, without this page's filters."""
        return f"{root}{quote(to)}{state.search(**{**bare, **changes})}"

    def keep(**changes: Any) -> str:
        """This page with changes."""
        return f"{root}{quote(path)}{state.search(**changes)}"

    return {
        "root": root,
        "path": path,
        "state": state,
        "ranges": RANGES,
        "link": link,
        "keep": keep,
    }


def _first_rows(request: Request) -> RedirectResponse:
    """Begin the list again: what the place in it was told by has changed since, or the day has."""
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != "cursor"]
    return RedirectResponse(f"{request.url.path}?{urlencode(kept)}", 303)


def _refusal(request: Request, error: LastCallError) -> HTMLResponse:
    """The page for what cannot be shown: why, and where to go on."""
    parameter = error.parameter if isinstance(error, BadParameter) else None
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != parameter]
    html = render(
        "error.html",
        **_frame(request, State()),
        title=error.title,
        detail=error.detail,
        without=f"?{urlencode(kept)}" if parameter in request.query_params else None,
    )
    return HTMLResponse(html, error.status, HEADERS)
