"""
To log in with a token, and to log out. What a browser keeps is no secret of ours but a pass, which ends with its
token; scripts cannot read it, and no request that another site makes carries it but a link that is followed.
"""

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.pages.form import read_form
from dashboards.pages.frame import HEADERS, METHODS, local, new_router
from dashboards.templating import render
from service.access import LOGIN_US, Access
from service.errors import Busy
from service.settings import is_loopback
from service.tokens import Scope, Token
from service.visitors import COOKIE

router = new_router()


@router.api_route("/login", methods=METHODS)
def login_page(request: Request, next: str = "") -> HTMLResponse:  # noqa: A002 - the name is in addresses
    """A field for a token; who needs none, or is logged in already, is told so."""
    return _page(request, next)


@router.post("/login", response_model=None)
async def log_in(request: Request) -> Response:
    """Give a browser a pass for a token, and go on where it wanted to go."""
    form = await read_form(request)
    access: Access = request.app.state.access
    wanted = form.one("next") or ""
    with request.app.state.outages.reading.watching():
        found = await run_in_threadpool(access.log_in, (form.one("token") or "").strip())
    if found is None:
        wrong = "That is no token that is known here."
        return await run_in_threadpool(_page, request, wanted, wrong, 401)
    token, text = found
    if token.scope is Scope.INGEST:
        wrong = "That token delivers log lines; pages ask for another."
        return await run_in_threadpool(_page, request, wanted, wrong, 403)
    answer = RedirectResponse(local(request, wanted, "/"), 303, HEADERS)
    keep(request, answer, text)
    return answer


@router.post("/logout", response_model=None)
async def log_out(request: Request) -> Response:
    """Take the pass back from the browser."""
    await read_form(request)
    answer = RedirectResponse(local(request, None, "/login"), 303, HEADERS)
    keep(request, answer, "", seconds=0)
    return answer


def keep(
    request: Request, answer: Response, text: str, *, seconds: int = LOGIN_US // 1_000_000
) -> None:
    """Give a browser a pass, for so long."""
    answer.set_cookie(
        COOKIE,
        text,
        max_age=seconds,
        path=request.scope.get("root_path", "") or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def _page(
    request: Request, wanted: str, wrong: str | None = None, status: int = 200
) -> HTMLResponse:
    is_open, known = _standing(request)
    html = render(
        "login.html",
        root=request.scope.get("root_path", ""),
        next=local(request, wanted, "/"),
        wrong=wrong,
        is_open=is_open,
        known=known,
    )
    return HTMLResponse(html, status, HEADERS)


def _standing(request: Request) -> tuple[bool, Token | None]:
    """Whether nobody is asked for a token, and the one with which this browser is logged in."""
    app = request.app.state
    access: Access = app.access
    text = request.cookies.get(COOKIE)
    try:
        with app.outages.reading.watching():
            is_open = is_loopback(app.settings.host) and not access.asks()
            return is_open, access.by_pass(text) if text else None
    except Busy:  # the field is there all the same
        return False, None
