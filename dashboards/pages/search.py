"""Where to go: a page with what holds a text, and the same as data for the palette."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from dashboards.pages.frame import HEADERS, METHODS, frame_of, framed, new_router
from dashboards.state import State, read_state
from service import answers
from service.answers import Found
from service.answers.find import SHOWN
from service.answers.query import dumps, moment_at
from service.names import shown_key
from service.store.engine import reading
from service.visitors import visitor_of

router = new_router()
data = APIRouter(include_in_schema=False)
"""It refuses as REST does: who asks is a script."""
FURTHER = (("/told", "Told"), ("/explain", "Explain a line"))
"""Pages that have no place in the bar."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something to go to: `kind` is page, name, client or server; `note` says which of them it is."""

    kind: str
    text: str
    note: str
    href: str


@router.api_route("/search", methods=METHODS)
def search_page(request: Request) -> HTMLResponse:
    """A field, and what holds its text."""
    state, q = _asked(request)
    return framed(request, state, "search.html", q=q, found=_places(request, state, q), most=SHOWN)


@data.get("/search.json")
def search_data(request: Request) -> Response:
    """The same places: `{"items": [{kind, text, note, href}]}`, at most twenty."""
    state, q = _asked(request)
    found = {"items": [asdict(place) for place in _places(request, state, q)]}
    headers = {key: HEADERS[key] for key in ("Cache-Control", "X-Content-Type-Options")}
    return Response(dumps(found), media_type="application/json", headers=headers)


def _asked(request: Request) -> tuple[State, str]:
    params = request.query_params.multi_items()
    state = read_state((key, value) for key, value in params if key != "q")
    return state, request.query_params.get("q", "")


def _places(request: Request, state: State, q: str) -> list[Place]:
    """Pages first, since they are few; all of them where nothing is asked for."""
    frame = frame_of(request, state)
    link = frame["link"]
    wanted = shown_key(q)
    pages = [(page.word, page.href) for page in frame["pages"]]
    further = FURTHER + ((("/shares", "Shared links"),) if visitor_of(request).is_admin else ())
    pages += [(word, link(to)) for to, word in further]
    pages += [("API", f"{frame['root']}/docs")]
    found = [Place("page", word, "page", to) for word, to in pages if wanted in shown_key(word)]
    app = request.app.state
    moment = replace(moment_at(app.clock(), app.settings), shared={})
    query = answers.Query(tz=state.tz, as_of=state.as_of)
    with app.outages.reading.watching(), reading(app.engine) as connection:
        every = answers.find(connection, query, moment, q)
    found += [_place(each, link) for each in every]
    return found[:SHOWN]


def _place(found: Found, link: Callable[..., str]) -> Place:
    if found.kind == "name":
        href = link("/name", server=found.server, name=found.text)
        return Place("name", found.text, f"retired name of {found.server}", href)
    if found.kind == "client":
        return Place("client", found.text, "client", link("/client", client=found.text))
    return Place("server", found.text, "server", link("/", server=found.text))
