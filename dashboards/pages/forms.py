"""
What people tell on pages: each form is a POST that ends in the page it came from (303).

Their paths are one step long, since two steps are documents that are sent to Elasticsearch.

A form of another site is refused twice: by the guard before every request, and by its Origin where it is read.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from dashboards.pages.form import Form, read_form
from dashboards.pages.frame import local, new_router
from service.cataloguing import Cataloguing
from service.entries import told
from service.errors import BadParameter
from service.taking_back import TakingBack
from service.telling import Telling
from service.visitors import actor_of

ABOUT_MAX = 100
"""Names that one form marks."""
ACTOR = "page"
"""Whom the audit names where no token was needed."""
router = new_router()


def _telling(path: str) -> Callable[[Callable[[Request, Form], None]], object]:
    """Make a route of what a form tells; it ends in the page that the form came from."""

    def register(tell: Callable[[Request, Form], None]) -> object:
        async def route(request: Request) -> RedirectResponse:
            form = await read_form(request)
            request.state.back = back = _back(request, form)
            with request.app.state.outages.writing.watching():
                await run_in_threadpool(tell, request, form)
            return RedirectResponse(back, 303)

        handler: Callable[[Request], Awaitable[RedirectResponse]] = route
        router.add_api_route(path, handler, methods=["POST"], response_model=None)
        return tell

    return register


@_telling("/tell-mark")
def mark(request: Request, form: Form) -> None:
    """
    Say what was done about a client: of each name that an `about` holds with its server, or of all names
    of each `server`.
    """
    named = [dict(parse_qsl(text)) for text in form.every("about") if text]
    abouts = [(one.get("server"), one.get("name")) for one in named] or [
        (server, None) for server in dict.fromkeys(form.every("server"))
    ]
    if not abouts:
        raise BadParameter("server", "missing; name the MCP server, such as maps")
    for server, name in abouts[:ABOUT_MAX]:
        _teller(request).mark(
            kind=form.one("kind"),
            server=server,
            client=next(iter(form.every("client")), None),
            name=name,
            at_us=form.instant("at"),
            note=form.one("note"),
            actor=actor_of(request, ACTOR),
        )


@_telling("/tell-unmark")
def unmark(request: Request, form: Form) -> None:
    """Take a mark back."""
    _teller(request).unmark(form.number("id"), actor=actor_of(request, ACTOR))


@_telling("/tell-alias")
def alias(request: Request, form: Form) -> None:
    """Say that a client is another."""
    _teller(request).alias(
        form.one("client"), form.one("target"), form.one("note"), actor=actor_of(request, ACTOR)
    )


@_telling("/tell-unalias")
def unalias(request: Request, form: Form) -> None:
    """Take that back."""
    _teller(request).unalias(form.one("client"), actor=actor_of(request, ACTOR))


@_telling("/tell-exclude")
def exclude(request: Request, form: Form) -> None:
    """Leave calls out."""
    _teller(request).exclude(
        server=form.one("server"),
        client=form.one("client"),
        version=form.one("version"),
        network=form.one("network"),
        note=form.one("note"),
        actor=actor_of(request, ACTOR),
    )


@_telling("/tell-include")
def include(request: Request, form: Form) -> None:
    """Take a rule back."""
    _teller(request).include(form.number("id"), actor=actor_of(request, ACTOR))


@_telling("/tell-note")
def note(request: Request, form: Form) -> None:
    """Write a note beside an instant."""
    _teller(request).note(
        server=form.one("server"),
        at_us=form.instant("at"),
        text=form.one("text"),
        actor=actor_of(request, ACTOR),
    )


@_telling("/tell-unnote")
def unnote(request: Request, form: Form) -> None:
    """Take a note back."""
    _teller(request).unnote(form.number("id"), actor=actor_of(request, ACTOR))


@_telling("/tell-entry")
def entry(request: Request, form: Form) -> None:
    """Keep what the catalogue is to say of a name; an empty field says nothing."""
    listed = (form.one("replaced_by") or "").replace(",", "\n").splitlines()
    names = [name.strip() for name in listed if name.strip()]
    nothing = form.one("nothing_replaces") is not None
    if nothing and names:
        raise BadParameter("replaced_by", "names a tool, and is said to be nothing; leave one out")
    said = told(
        form.one("name"),
        last_release=form.one("last_release"),
        replaced_by=names if names or nothing else None,
        message=form.one("message"),
        retired_us=form.instant("retired_at"),
    )
    _cataloguing(request).entries(
        form.one("server"), [said], source="page", actor=actor_of(request, ACTOR)
    )


@_telling("/tell-hide")
def hide(request: Request, form: Form) -> None:
    """Take a name out of all answers but the catalogue's."""
    name = next(iter(form.every("name")), None)
    _cataloguing(request).hide(
        form.one("server"), name, hidden=True, actor=actor_of(request, ACTOR)
    )


@_telling("/tell-unhide")
def unhide(request: Request, form: Form) -> None:
    """Show it again."""
    name = next(iter(form.every("name")), None)
    _cataloguing(request).hide(
        form.one("server"), name, hidden=False, actor=actor_of(request, ACTOR)
    )


@_telling("/tell-undo")
def undo(request: Request, form: Form) -> None:
    """Take a batch back."""
    taking_back: TakingBack = request.app.state.taking_back
    taking_back.undo(form.number("batch"), actor=actor_of(request, ACTOR))


def _teller(request: Request) -> Telling:
    telling: Telling = request.app.state.telling
    return telling


def _cataloguing(request: Request) -> Cataloguing:
    cataloguing: Cataloguing = request.app.state.cataloguing
    return cataloguing


def _back(request: Request, form: Form) -> str:
    """Where the form came from; the things to do, where that is no page of ours."""
    return local(request, form.one("back"), "/todo")
