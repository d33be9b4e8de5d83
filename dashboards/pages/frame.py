"""What all pages share: how they are routed, framed and refused, and the headers they go out with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.document import document
from dashboards.empty import Empty
from dashboards.filters import chips_of
from dashboards.reading import Reading
from dashboards.state import CHOICES, RANGES, State, address_of
from dashboards.templating import render
from service import answers
from service.analysis.coverage import FIRST_DAYS_H
from service.analysis.zones import zone_names
from service.answers.arrivals import new_lines
from service.answers.query import Filter, Query, dumps, iso, one_asked
from service.clock import HOUR_US
from service.errors import BadParameter, Conflict, LastCallError, Unauthenticated
from service.refusals import route_class
from service.shares import Bound
from service.visitors import visitor_of

ROWS = 100
"""Rows of a table before its reader is sent to the next page."""
EVENTS = 20
VALUES = 20
"""Names, clients and servers each that the form of filters offers; the search knows the others."""
PAGES = (
    ("/", "Names", "n"),
    ("/todo", "To do", "t"),
    ("/clients", "Clients", "c"),
    ("/effect", "Effect", "e"),
    ("/reactions", "Reactions", "r"),
    ("/catalogue", "Catalogue", "a"),
    ("/health", "Health", "h"),
    ("/setup", "Set-up", "s"),
)
"""The pages of the bar: path, word, and the key that follows `g`."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}


DATA_HEADERS = {key: HEADERS[key] for key in ("Cache-Control", "X-Content-Type-Options")}
"""Of a page as data; no other site may read it."""


def _answer_to(request: Request, error: LastCallError) -> Response:
    """A refusal is a page, too, or data; a place in the rows that is gone leads to the first of them."""
    if isinstance(error, Unauthenticated):
        return _to_login(request)
    if request.query_params.get("format") == "json":
        said = {"type": "about:blank", "title": error.title, "status": error.status}
        body = dumps({**said, "detail": error.detail})
        kind = "application/problem+json"
        return Response(body, error.status, DATA_HEADERS, media_type=kind)
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
    """What a page is about. Raises BadParameter where it is not named, or not alone."""
    value = one_asked(parameter, getattr(look.state, parameter))
    if value is None:
        raise BadParameter(
            parameter, "missing; this page is about one of them, so it must be named"
        )
    return value


def _young(look: Reading) -> list[str]:
    """Feeds whose first week is half of the range: what is usual for them is not known then."""
    found = look.ask(answers.coverage, name=None, client=None)
    since = found.range.since or 0
    middle = (since + look.seen_from_us) // 2
    return [
        f"{span.server} / {span.source}"
        for span in found.more["sources"]
        if span.first_heard + FIRST_DAYS_H * HOUR_US > middle and span.server in look.scope.about
    ]


def shown(
    request: Request,
    look: Reading,
    template: str,
    empty: Empty | None,
    left_out: int | None = None,
    **values: Any,
) -> Response:
    """
    Fill a page's template, or give what it rests on as one document. *left_out* is how many calls rules leave out,
    where an answer said so.
    """
    state, view = look.state, look.view
    frame, young = frame_of(request, state), _young(look)
    if state.format == "json":
        address = frame["here"].removeprefix(frame["root"])
        return Response(
            dumps(document(look, address)), media_type="application/json", headers=DATA_HEADERS
        )
    left_out = look.left_out if left_out is None else left_out
    html = render(
        template,
        **frame,
        origin=str(request.base_url).rstrip("/"),
        view=view,
        extent=look.extent,
        moment=look.moment,
        asked_at=iso(look.moment.now_us),
        counted_from=iso(look.seen_from_us),
        young=young,
        silence=look.silence,
        empty=empty,
        left_out=left_out,
        zones=zone_names(),
        # a link shows what it is bound to: no name beside it is offered
        values=() if look.moment.bound else answers.known_values(look.scope, VALUES),
        live=_live(look),
        **values,
    )
    return HTMLResponse(html, headers=HEADERS)


def _live(look: Reading) -> str | None:
    """The address that counts the lines which are new since this page; None where it shows no today, or came by a link."""
    state, view = look.state, look.view
    if state.as_of is not None or view.last_day < view.today or look.moment.bound is not None:
        return None
    seen = new_lines(look.connection, look.moment, server=state.server).accepted
    asked = address_of(Query(server=state.server), {})
    server = [pair for pair in asked if pair[0] in {"server", "not_server"}]
    return f"/api/v1/arrivals/new?{urlencode([*server, ('seen', str(seen))])}"


def framed(
    request: Request,
    state: State,
    template: str,
    headers: Mapping[str, str] = HEADERS,
    status: int = 200,
    **values: Any,
) -> HTMLResponse:
    """Fill the template of a page that shows no range of data; *values* go before those of every page."""
    html = render(template, **{**frame_of(request, state), **values})
    return HTMLResponse(html, status, headers)


EFFECT = "/effect"
"""The page that shows everything where no range is asked for."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that each other page leads to; `key` is the one that follows `g`."""

    path: str
    word: str
    key: str
    href: str


def address(root: str, path: str, state: State, **changes: Any) -> str:
    """A page with a state and changes of it."""
    return f"{root}{quote(path)}{state.search(with_days=path == EFFECT, **changes)}"


def frame_of(request: Request, state: State) -> dict[str, Any]:
    """What every page has: its address, and links that keep the range and the zone."""
    root, path = request.scope.get("root_path", ""), request.url.path
    path = path.removeprefix(root)
    bare = {"server": None, "name": None, "client": None, "sort": None, "show": "due"}

    def link(to: str, **changes: Any) -> str:
        """Another page in the same range and zone, without this page's filters."""
        return f"{root}{quote(to)}{state.search(with_days=to == EFFECT, **{**bare, **changes})}"

    def keep(**changes: Any) -> str:
        """This page with changes."""
        return address(root, path, state, **changes)

    visitor = visitor_of(request)
    whole = {} if state.is_custom else {"days": "all"}  # an effect is judged over all weeks
    pages = [
        Page(to, word, key, link(to, **(whole if to == EFFECT else {})))
        for to, word, key in PAGES
        if visitor.leads(to)
    ]
    return {
        "root": root,
        "path": path,
        "pages": pages,
        "state": state,
        "ranges": RANGES,
        "link": link,
        "keep": keep,
        "here": keep(cursor=state.cursor),
        "tz": state.tz,
        "drawn": [],  # the figures, as they come: without any, Plotly is not loaded
        "chips": chips_of(state, keep),
        "logged_in": visitor.logged_in,
        "guest": visitor.is_guest,
        "leads": visitor.leads,
        "bound": {} if visitor.share is None else visitor.share.bound.given(),
        "may_tell": visitor.is_admin,
        "may_share": visitor.is_admin and may_be_shared(request, path, state.filters),
        "embedded": state.embed == "1",
        "theme": None if state.theme == "auto" else state.theme,
    }


def may_be_shared(request: Request, path: str, filters: Mapping[str, Filter]) -> bool:
    """Whether a link can be bound to these *filters*, one value each, and shows the page at a path."""
    each = {key: asked.one for key, asked in filters.items()}
    known = {key: value for key, value in each.items() if value is not None}
    if known.keys() != each.keys():
        return False
    bound = Bound(**{"server": "", **known})
    shows: Callable[[str, Bound], bool] = request.app.state.shows
    return shows(path, bound)


def _to_login(request: Request) -> RedirectResponse:
    """Ask who it is, and come back here; a form that was sent is not sent again."""
    root, query = request.scope.get("root_path", ""), request.url.query
    here = request.url.path + (f"?{query}" if query else "")
    asked = f"?{urlencode({'next': here})}" if request.method in METHODS else ""
    return RedirectResponse(f"{root}/login{asked}", 303, HEADERS)


def local(request: Request, path: str | None, otherwise: str) -> str:
    r"""
    Where to go on: *path* if it is one of ours, or *otherwise*, which stands without the root.

    A browser takes `//host` and `/\host` for another site, and leaves out tabs and newlines before it looks.
    """
    root = request.scope.get("root_path", "")
    is_ours = path is not None and path.startswith(f"{root}/") and path[1:2] not in {"/", "\\"}
    return path if is_ours and path is not None and path.isprintable() else f"{root}{otherwise}"


def _first_rows(request: Request) -> RedirectResponse:
    """Begin the list again: what the place in it was told by has changed since, or the day has."""
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != "cursor"]
    return RedirectResponse(f"{request.url.path}?{urlencode(kept)}", 303)


def refusal(request: Request, error: LastCallError) -> HTMLResponse:
    """The page for what cannot be shown: why, and where to go on."""
    parameter = error.parameter if isinstance(error, BadParameter) else None
    dropped = (parameter, f"not_{parameter}")
    kept = [(k, v) for k, v in request.query_params.multi_items() if k not in dropped]
    without = f"?{urlencode(kept)}" if parameter in request.query_params else None
    # in a frame it stays without a bar
    look = {key: value for key, value in kept if value in CHOICES.get(key, ())}
    state = State(embed=look.get("embed", "0"), theme=look.get("theme", "auto"))
    html = render(
        "error.html",
        **frame_of(request, state),
        title=error.title,
        detail=error.detail,
        without=without,
        back=getattr(request.state, "back", None),
    )
    return HTMLResponse(html, error.status, HEADERS)
