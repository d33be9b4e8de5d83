"""
Set-up: a configuration for a shipper with a token in it, and what has arrived since.

A secret is shown once, in the answer to the form that made it: it is in no address, so that page cannot be led back to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse

from dashboards.pages import login
from dashboards.pages.form import read_form
from dashboards.pages.frame import HEADERS, METHODS, framed, new_router
from dashboards.shippers import (
    NO_TOKEN,
    Shipper,
    filled,
    first_line,
    host_of,
    may_be_written,
    server_name,
    shippers,
)
from dashboards.state import PARAMETERS, State, read_state
from service import names
from service.access import Access
from service.answers.arrivals import Arrivals, arrivals
from service.answers.query import moment_at, one_asked
from service.errors import BadParameter, Conflict
from service.settings import answered_hosts
from service.store.engine import reading
from service.store.read_words import servers
from service.tokens import Issued, Scope, Token
from service.visitors import actor_of, visitor_of

TRIES = 5
"""Names that are tried for a token, where others are made at the same time."""
UNNAMED = "my-server"
CHOSEN = ("shipper", "address")
AWAITED = ("source", "seen")
TYPED = ("server", "address")
"""What somebody types, and so mistypes."""
SECRET_HEADERS = {**HEADERS, "Cache-Control": "no-store"}
router = new_router()


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the address of the page says: `source` and `seen` are what is waited for."""

    state: State
    shipper: Shipper | None
    server: str
    address: str
    source: str | None = None
    seen: str | None = None

    def search(self, **changes: str | None) -> str:
        """The query string of this choice, with changes."""
        said = {
            "shipper": self.shipper.key if self.shipper else None,
            "server": self.server,
            "address": self.address,
            **changes,
        }
        return f"?{urlencode({key: value for key, value in said.items() if value})}"

    @property
    def waits(self) -> str:
        """The question to /api/v1/arrivals."""
        said = {"server": self.server, "source": self.source, "seen": self.seen}
        return urlencode({key: value for key, value in said.items() if value})


@dataclass(frozen=True, slots=True)
class Made:
    """Tokens that were made just now: one that delivers, and one for people where there was none before."""

    ingest: Issued
    admin: Issued | None


@router.api_route("/setup", methods=METHODS, response_model=None)
def setup_page(request: Request) -> Response:
    """
    Choose a shipper and name a server; see its configuration, and what has arrived. What had arrived before is no
    first line: how much that was is kept in the address.
    """
    try:
        choice = _choice(request, request.query_params.multi_items(), CHOSEN + AWAITED)
    except BadParameter as error:
        if error.parameter not in TYPED:
            raise
        return _asked_again(request, error)
    if choice.shipper is None or choice.source or choice.seen:
        return _page(request, choice)
    seen = _arrived(request, choice).counts
    return RedirectResponse(f"{request.url.path}{choice.search(seen=seen)}", 303, HEADERS)


@router.post("/setup-token", response_model=None)
async def make_token(request: Request) -> Response:
    """
    Make a token that delivers the lines of one server, and show the configuration with it. The first one also closes
    the door for readers, so there an admin's token is made, too, and this browser is logged in with it.
    """
    form = await read_form(request)
    choice = _choice(request, ((key, value) for key, value in form.fields if value), CHOSEN)
    if choice.shipper is None:
        raise BadParameter("shipper", f"must be one of {', '.join(shippers())}")
    access: Access = request.app.state.access
    actor = actor_of(request, "page")
    with request.app.state.outages.writing.watching():
        made = await run_in_threadpool(_made, access, choice, actor, visitor_of(request).token)
    choice = replace(choice, source=made.ingest.token.name, seen=None)
    answer = await run_in_threadpool(_page, request, choice, made)
    if made.admin is not None:
        found = await run_in_threadpool(access.log_in, made.admin.secret)
        if found is not None:
            login.keep(request, answer, found[1])
    return answer


def _choice(request: Request, given: Iterable[tuple[str, str]], known: Sequence[str]) -> Choice:
    """
    Read an address or a form, of which these fields are *known* beside those of every page.

    Raises:
        BadParameter: A parameter is unknown, or its value cannot be used.
    """
    pairs = list(given)
    own = {key: value for key, value in pairs if key in known and value}
    unknown = {key for key, _ in pairs} - {*known, *PARAMETERS}
    if unknown:
        raise BadParameter(min(unknown), f"unknown parameter; use server, {', '.join(known)}")
    state = read_state((key, value) for key, value in pairs if key not in known)
    key = own.get("shipper")
    if key is not None and key not in shippers():
        raise BadParameter("shipper", f"must be one of {', '.join(shippers())}")
    address = (own.get("address") or "").strip(" ").rstrip("/") or _own_address(request)
    _check_address(request, address)
    return Choice(
        state=state,
        shipper=None if key is None else shippers()[key],
        server=server_name(one_asked("server", state.server) or _only_server(request)),
        address=address,
        source=names.feed_name("source", own.get("source")),
        seen=own.get("seen"),
    )


def _asked_again(request: Request, error: BadParameter) -> HTMLResponse:
    """The form as it was sent, with what was wrong at its field; nothing else of it is used."""
    given = request.query_params
    key = given.get("shipper")
    return framed(
        request,
        State(),
        "setup.html",
        status=error.status,
        choice=Choice(state=State(), shipper=None, server=UNNAMED, address=_own_address(request)),
        chosen=key if key in shippers() else None,
        typed={name: given.get(name, "") for name in TYPED},
        wrong=error,
        shippers=shippers(),
    )


def _own_address(request: Request) -> str:
    """The one by which the page was asked for."""
    return str(request.base_url).rstrip("/")


def _check_address(request: Request, address: str) -> None:
    """
    Refuse an address that is not ours: whoever followed a link to this page would send logs and a token there.

    Raises:
        BadParameter: The service does not answer to that host.
    """
    hosts = answered_hosts(request.app.state.settings)
    if host_of(address) not in hosts:
        raise BadParameter(
            "address",
            f"this service answers to {', '.join(sorted(hosts))}; LASTCALL_ALLOWED_HOSTS adds a name, "
            "and a shipper elsewhere needs one",
        )


def _only_server(request: Request) -> str:
    """The server that is watched, where there is one; a name to be replaced otherwise."""
    with request.app.state.outages.reading.watching(), reading(request.app.state.engine) as opened:
        known = list(servers(opened).values())
    return known[0] if len(known) == 1 and may_be_written(known[0]) else UNNAMED


def _made(access: Access, choice: Choice, actor: str, by: Token | None) -> Made:
    """Made by whoever showed the token *by*; without one, only where none is asked for yet."""
    admin = None
    if by is None:
        admin = _named(access, "admin", str(Scope.ADMIN), actor, None)
        by = admin.token
    wanted = f"{choice.server}-{choice.shipper.key if choice.shipper else ''}"
    return Made(_named(access, wanted, f"ingest:{choice.server}", actor, by), admin)


def _named(access: Access, wanted: str, scope: str, actor: str, by: Token | None) -> Issued:
    """A token of that name, or of the next that no token ever had; without *by* the first one."""
    for _ in range(TRIES):
        taken = {token.name for token in access.tokens()}
        spelled = (wanted if n == 1 else f"{wanted}-{n}" for n in range(1, len(taken) + 2))
        free = next(each for each in spelled if each not in taken)
        try:
            return access.add(free, scope, actor=actor, by=by, first=by is None)
        except Conflict:  # somebody else was given it just now
            continue
    raise Conflict("others make tokens at the same time; try again")


def _arrived(request: Request, choice: Choice) -> Arrivals:
    app = request.app.state
    moment = moment_at(app.clock(), app.settings)
    with app.outages.reading.watching(), reading(app.engine) as opened:
        return arrivals(
            opened, moment, server=choice.server, source=choice.source, seen=choice.seen
        )


def _page(request: Request, choice: Choice, made: Made | None = None) -> HTMLResponse:
    access: Access = request.app.state.access
    is_open = not access.asks()
    token = made.ingest.secret if made else NO_TOKEN if is_open else None
    return framed(
        request,
        choice.state,
        "setup.html",
        headers=SECRET_HEADERS if made else HEADERS,
        path="/setup",  # in the bar, of the form's answer too
        choice=choice,
        chosen=choice.shipper.key if choice.shipper else None,
        typed={"server": choice.server, "address": choice.address},
        wrong=None,
        own=_own_address(request),
        shippers=shippers(),
        text=_text(choice, token),
        first=first_line(choice.shipper) if choice.shipper else None,
        arrived=_arrived(request, choice),
        made=made,
        logged_in=visitor_of(request).logged_in or (made is not None and made.admin is not None),
        is_open=is_open,
        may_make=visitor_of(request).is_admin,
    )


def _text(choice: Choice, token: str | None) -> str | None:
    """The configuration; the place of a token stays where there is none to fill in."""
    if choice.shipper is None:
        return None
    if token is None:
        parts = choice.shipper.text.split("LASTCALL_TOKEN")
        filled_in = [filled(part, address=choice.address, server=choice.server) for part in parts]
        return "LASTCALL_TOKEN".join(filled_in)
    return filled(choice.shipper.text, address=choice.address, server=choice.server, token=token)
