"""What all pages share: how they are routed, framed and refused, and the headers they go out with."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.empty import Empty
from dashboards.reading import Reading
from dashboards.state import RANGES, State
from dashboards.templating import render
from service import answers
from service.analysis.coverage import FIRST_DAYS_H
from service.analysis.zones import zone_names
from service.clock import HOUR_US
from service.errors import BadParameter, Conflict, LastCallError
from service.refusals import route_class

ROWS = 100
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
    return refusal(request, error)


METHODS = ["GET", "HEAD"]


def new_router() -> APIRouter:
    """A router for pages."""
    return APIRouter(include_in_schema=False, route_class=route_class(_answer_to))


def own_rows(look: Reading, limit: int = ROWS) -> Mapping[str, object]:
    """Which rows of the page's own table."""
    return {"limit": limit, "cursor": look.state.cursor}


def needed(look: Reading, parameter: str) -> str:
    """What a page is about. Raises BadParameter where it is not named."""
    value: str | None = getattr(look.state, parameter)
    if value is None:
        raise BadParameter(
            parameter, "missing; this page is about one of them, so it must be named"
        )
    return value


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


def shown(
    request: Request,
    look: Reading,
    template: str,
    empty: Empty | None,
    left_out: int | None = None,
    **values: Any,
) -> HTMLResponse:
    """
    Fill a page's template. *left_out* is how many calls rules leave out, where an answer said so.
    """
    state, view = look.state, look.view
    left_out = look.left_out if left_out is None else left_out
    html = render(
        template,
        **_frame(request, state),
        origin=str(request.base_url).rstrip("/"),
        view=view,
        extent=look.extent,
        moment=look.moment,
        young=_young(look),
        empty=empty,
        left_out=left_out,
        zones=zone_names(),
        **values,
    )
    return HTMLResponse(html, headers=HEADERS)


def _frame(request: Request, state: State) -> dict[str, Any]:
    """What every page has: its address, and links that keep the range and the zone."""
    root, path = request.scope.get("root_path", ""), request.url.path
    path = path.removeprefix(root)
    bare = {"server": None, "name": None, "client": None, "sort": None, "show": "due"}

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
        "here": keep(cursor=state.cursor),
    }


def _first_rows(request: Request) -> RedirectResponse:
    """Begin the list again: what the place in it was told by has changed since, or the day has."""
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != "cursor"]
    return RedirectResponse(f"{request.url.path}?{urlencode(kept)}", 303)


def refusal(request: Request, error: LastCallError) -> HTMLResponse:
    """The page for what cannot be shown: why, and where to go on."""
    parameter = error.parameter if isinstance(error, BadParameter) else None
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != parameter]
    without = f"?{urlencode(kept)}" if parameter in request.query_params else None
    html = render(
        "error.html",
        **_frame(request, State()),
        title=error.title,
        detail=error.detail,
        without=without,
        back=getattr(request.state, "back", None),
    )
    return HTMLResponse(html, error.status, HEADERS)
