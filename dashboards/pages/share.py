"""
Links that show one filter: made from a page, listed, and revoked.

A link is shown once, in the answer to the form that made it: it is in no address, so that page cannot be led back to.
"""

from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.pages.form import Form, read_form
from dashboards.pages.frame import HEADERS, METHODS, framed, local, may_be_shared, new_router
from dashboards.state import State, read_state
from service.answers.query import iso, only
from service.shares import KEYS, Bound, SharedNow
from service.sharing import Sharing
from service.visitors import actor_of

SECRET_HEADERS = {**HEADERS, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
router = new_router()


@router.api_route("/shares", methods=METHODS)
def shares_page(request: Request) -> HTMLResponse:
    """Every link: what it shows, until when, when it was last used, and the way to end it."""
    return _page(request, read_state(request.query_params.multi_items()))


@router.post("/share-view", response_model=None)
async def share_view(request: Request) -> HTMLResponse:
    """Make a link to the filter of a page, and show it."""
    form = await read_form(request)
    request.state.back = view = local(request, form.one("view"), "/")
    with request.app.state.outages.writing.watching():
        made = await run_in_threadpool(_made, request, form)
    below = _below(request, view, made.share.bound)
    address = f"{str(request.base_url).rstrip('/')}{made.path}{below}"
    return await run_in_threadpool(_page, request, State(), made, address)


@router.post("/share-revoke", response_model=None)
async def revoke(request: Request) -> Response:
    """End a link."""
    form = await read_form(request)
    root = request.scope.get("root_path", "")
    request.state.back = f"{root}/shares"
    with request.app.state.outages.writing.watching():
        await run_in_threadpool(
            _sharing(request).revoke, form.number("id"), actor=actor_of(request, "page")
        )
    return RedirectResponse(f"{root}/shares", 303)


def _made(request: Request, form: Form) -> SharedNow:
    client = form.every("client")
    return _sharing(request).add(
        form.one("server"),
        form.one("name"),
        client[0] if client else None,
        expires=form.one("expires"),
        embed=(form.one("embed") or "").replace(",", " ").split(),
        actor=actor_of(request, "page"),
    )


def _below(request: Request, view: str, bound: Bound) -> str:
    """The view below its link, without what that says anyway; the names where the link does not show it."""
    root = request.scope.get("root_path", "")
    path, _, query = view.removeprefix(root).partition("?")
    if not may_be_shared(request, path, {key: only(value) for key, value in bound.given().items()}):
        return ""
    pairs = parse_qsl(query, keep_blank_values=True)
    kept = [(key, value) for key, value in pairs if key not in {*KEYS, "cursor"}]
    return path.removeprefix("/") + (f"?{urlencode(kept)}" if kept else "")


def _page(
    request: Request, state: State, made: SharedNow | None = None, address: str | None = None
) -> HTMLResponse:
    now_us = request.app.state.clock()
    with request.app.state.outages.reading.watching():
        every = _sharing(request).shares()
    return framed(
        request,
        state,
        "shares.html",
        headers=SECRET_HEADERS if made else HEADERS,
        path="/shares",
        made=made,
        address=address,
        now=iso(now_us),
        shares=[
            {
                "share": each,
                "stands": each.stands(now_us),
                "created": iso(each.created_us),
                "expires": None if each.expires_us is None else iso(each.expires_us),
                "used": None if each.used_us is None else iso(each.used_us),
                "revoked": None if each.revoked_us is None else iso(each.revoked_us),
            }
            for each in reversed(every)
        ],
    )


def _sharing(request: Request) -> Sharing:
    sharing: Sharing = request.app.state.sharing
    return sharing
