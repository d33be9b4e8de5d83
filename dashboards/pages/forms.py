"""
What people tell on pages: each form is a POST that ends in the page it came from (303).

Their paths are one step long, since two steps are documents that are sent to Elasticsearch.

A form of another site is refused twice: by the guard before every request, and here by its Origin.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from dashboards.pages.frame import new_router
from service.answers import Query
from service.answers.query import instant_asked, zone_asked
from service.entries import told
from service.errors import BadParameter, BodyNotDecodable, BodyTooLarge
from service.pipeline import Pipeline
from service.settings import Settings
from service.telling import Telling

BODY_MAX = 64 * 1024
"""Bytes of a form; the longest note and message fit."""
ABOUT_MAX = 100
"""Names that one form marks."""
ACTOR = "page"
router = new_router()


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, in their order; of several with one name `one` has the first."""

    fields: tuple[tuple[str, str], ...]

    def one(self, name: str) -> str | None:
        """A field; None where it is absent or blank."""
        return next((value for key, value in self.fields if key == name and value.strip()), None)

    def every(self, name: str) -> list[str]:
        """All fields of a name."""
        return [value for key, value in self.fields if key == name]

    def number(self, name: str) -> int:
        """A field that is a number. Raises BadParameter."""
        text = self.one(name) or ""
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise BadParameter(name, "must be a number, as the page has it")
        return int(text)

    def instant(self, name: str) -> int | None:
        """A field that is an instant, or a date in the zone of the field `tz`. Raises BadParameter."""
        text = self.one(name)
        zone = zone_asked(Query(tz=self.one("tz") or "UTC"))
        return None if text is None else instant_asked(name, text, zone)


def _telling(path: str) -> Callable[[Callable[[Request, Form], None]], object]:
    """Make a route of what a form tells; it ends in the page that the form came from."""

    def register(tell: Callable[[Request, Form], None]) -> object:
        async def route(request: Request) -> RedirectResponse:
            form = await _read(request)
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
            actor=ACTOR,
        )


@_telling("/tell-unmark")
def unmark(request: Request, form: Form) -> None:
    """Take a mark back."""
    _teller(request).unmark(form.number("id"), actor=ACTOR)


@_telling("/tell-alias")
def alias(request: Request, form: Form) -> None:
    """Say that a client is another."""
    _teller(request).alias(form.one("client"), form.one("target"), form.one("note"), actor=ACTOR)


@_telling("/tell-unalias")
def unalias(request: Request, form: Form) -> None:
    """Take that back."""
    _teller(request).unalias(form.one("client"), actor=ACTOR)


@_telling("/tell-exclude")
def exclude(request: Request, form: Form) -> None:
    """Leave calls out."""
    _teller(request).exclude(
        server=form.one("server"),
        client=form.one("client"),
        version=form.one("version"),
        network=form.one("network"),
        note=form.one("note"),
        actor=ACTOR,
    )


@_telling("/tell-include")
def include(request: Request, form: Form) -> None:
    """Take a rule back."""
    _teller(request).include(form.number("id"), actor=ACTOR)


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
    _pipeline(request).entries(form.one("server"), [said], source="page", actor=ACTOR)


@_telling("/tell-hide")
def hide(request: Request, form: Form) -> None:
    """Take a name out of all answers but the catalogue's."""
    name = next(iter(form.every("name")), None)
    _pipeline(request).hide(form.one("server"), name, hidden=True, actor=ACTOR)


@_telling("/tell-unhide")
def unhide(request: Request, form: Form) -> None:
    """Show it again."""
    name = next(iter(form.every("name")), None)
    _pipeline(request).hide(form.one("server"), name, hidden=False, actor=ACTOR)


@_telling("/tell-undo")
def undo(request: Request, form: Form) -> None:
    """Take a batch back."""
    _pipeline(request).undo(form.number("batch"), actor=ACTOR)


def _teller(request: Request) -> Telling:
    telling: Telling = request.app.state.telling
    return telling


def _pipeline(request: Request) -> Pipeline:
    pipeline: Pipeline = request.app.state.pipeline
    return pipeline


async def _read(request: Request) -> Form:
    """
    Read the fields of a form.

    Raises:
        BadParameter: It comes from a page of another site.
        BodyTooLarge, BodyNotDecodable: It is too long, too slow, or no form.
    """
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise BadParameter("Origin", "is another site; use the forms of this one")
    settings: Settings = request.app.state.settings
    body = b""
    try:
        async with asyncio.timeout(settings.body_wait_s):
            async for piece in request.stream():
                body += piece
                if len(body) > BODY_MAX:
                    raise BodyTooLarge(f"a form has at most {BODY_MAX:,} bytes; shorten its texts")
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
    except TimeoutError:
        raise BodyNotDecodable("the form comes too slowly; send it again") from None
    except ValueError:
        raise BodyNotDecodable("the form is not UTF-8; send it as the page does") from None
    return Form(tuple((key, value.replace("\r\n", "\n")) for key, value in pairs))


def _back(request: Request, form: Form) -> str:
    """Where the form came from; the things to do, where that is no page of ours."""
    root = request.scope.get("root_path", "")
    back = form.one("back") or ""
    is_ours = back.startswith(f"{root}/") and not back.startswith(("//", "/\\"))
    return back if is_ours and back.isprintable() else f"{root}/todo"
