"""
The door: one place that decides who may come in, before anything of a body is read or kept.

It is open where the service listens on a loopback address and no token was ever made. From the first token on it
asks everybody, whoever made it, and never opens again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs

from anyio import CapacityLimiter, to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import names
from service.access import Access
from service.api import addressed, credentials, shared
from service.api.needs import Need, Place, Table, satisfies
from service.api.problems import refusal
from service.api.receivers import elasticsearch
from service.api.receivers.elasticsearch_answers import refusal as elasticsearch_refusal
from service.api.receivers.elasticsearch_handshake import is_sender
from service.api.rooted import path_of
from service.errors import BadParameter, Busy, Forbidden, LastCallError, Unauthenticated
from service.log import Outage, Trouble
from service.shares import Share
from service.sharing import Sharing
from service.tokens import Token
from service.visitors import Visitor, announced

_T = TypeVar("_T")
THREADS: Final = 4
"""Look-ups at once: each takes a fraction of a millisecond, and must not wait for those who ask or deliver."""
CHALLENGE: Final = 'Bearer realm="Last Call"'
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_NEEDS: Final = {
    Need.INGEST: "a token of the scope ingest or admin",
    Need.READ: "a token of the scope read or admin",
    Need.ADMIN: "a token of the scope admin",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request as the door sees it."""

    scope: Scope
    """Without a secret in its query."""
    headers: Headers
    place: Place
    secret: str | None
    servers: frozenset[str]
    """Those that its path and query name."""


class Door:
    """ASGI middleware: lets in whoever may, and says who it is (`service.visitors`)."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        sharing: Sharing,
        table: Callable[[], Table],
        loopback: bool,
        outage: Outage,
    ) -> None:
        """*loopback* is whether only this machine can reach the service; *outage* is told of look-ups."""
        self._app = app
        self._access = access
        self._sharing = sharing
        self._table = table
        self._loopback = loopback
        self._outage = outage
        self._threads = CapacityLimiter(THREADS)
        self._noting = CapacityLimiter(1)
        self._trouble = Trouble("keeping when a token or a link was last used")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it in the form of where it leads."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _private(send)
        below, secret = shared.taken(scope)
        if secret is not None:
            await self._show(scope, below, secret, receive, send)
            return
        asked = self._asked(scope)
        try:
            visitor = await self._admitted(asked)
        except LastCallError as error:
            await _refused(asked, error)(asked.scope, receive, send)
            return
        await self._app(announced(asked.scope, visitor), receive, send)
        if visitor.token is not None and not self._access.is_noted(visitor.token):
            await self._note(self._access.note_use, visitor.token)

    async def _show(
        self, scope: Scope, below: Scope, secret: str, receive: Receive, send: Send
    ) -> None:
        """
        Pass a request on that came by a link, bound to what that shows; *below* is the request as it is there. Tokens
        and cookies that come with it count for nothing, and so does that the service may be open.
        """
        headers = Headers(scope=below)
        place = self._table().place(scope["method"], path_of(below), is_sender(headers))
        share, guest = None, Visitor(is_stranger=True, is_guest=True, leads=lambda _path: False)
        try:
            with self._outage.watching():
                share = await self._run(self._sharing.find, secret)
            if share is None:
                # Its page is none of the link's: it stands at the root, and does not know the secret.
                below = {**scope, "query_string": b""}
                raise shared.unknown()
            guest = replace(guest, share=share, leads=self._leading(share))
            below = {**below, "query_string": b""}
            query = shared.forced(scope["query_string"], place, share)
        except LastCallError as error:
            if isinstance(error, Busy):
                error = type(error)("the database cannot be used now; come again later")
            refuse = place.refuse or (lambda _request, error: refusal(error))
            answer = refuse(Request(announced(below, guest)), error)
            await answer(below, receive, shared.quiet(send, share))
            return
        passed = announced({**below, "query_string": query}, guest)
        await self._app(passed, receive, shared.quiet(send, share))
        if not self._sharing.is_noted(share):
            await self._note(self._sharing.note_use, share)

    def _leading(self, share: Share) -> Callable[[str], bool]:
        """Whether a link shows a page, by its path."""
        return lambda path: shared.leads(self._table().place("GET", path, False), share.bound)

    def _asked(self, scope: Scope) -> _Asked:
        headers = Headers(scope=scope)
        try:
            seen, stray = addressed.resolved(scope), False
        except LastCallError:  # what is wrong with the path is said to those who may come in
            seen, stray = scope, True
        place = self._table().place(scope["method"], path_of(seen), is_sender(headers))
        in_query, query = credentials.of_query(scope["query_string"])
        secret = credentials.of_headers(headers)
        if secret is None and (place.need is Need.INGEST or stray):
            secret = in_query
        if (
            in_query is not None
        ):  # nobody else sees it: a page's address would be kept and passed on
            scope = {**scope, "query_string": query}
        told = parse_qs(seen["query_string"].decode("latin-1"), keep_blank_values=True)
        servers = frozenset(filter(None, (_server(each) for each in told.get("server", []))))
        return _Asked(scope, headers, place, secret, servers)

    async def _admitted(self, asked: _Asked) -> Visitor:
        """
        Who asks.

        Raises:
            Unauthenticated, Forbidden: They may not come in.
            Busy: Who they are cannot be found out now.
        """
        need = asked.place.need
        if need is Need.NOTHING:
            return Visitor(is_stranger=True)
        try:
            with self._outage.watching():
                visitor = await self._known(asked)
        except Busy as error:
            # Nothing can be stored either, and each protocol has its own way to say so.
            # What the driver says of the database is for the log, which has it, and not for strangers.
            unsure = type(error)("the database cannot be used now; send it again later")
            if need is not Need.INGEST:
                raise unsure from error
            return Visitor(unsure=unsure)
        token = visitor.token
        if token is None:
            return visitor
        if not satisfies(token.scope, need):
            raise Forbidden(f"this token may not do that; it needs {_NEEDS[need]}")
        if token.server is not None and asked.servers - {token.server}:
            raise Forbidden(
                "this token delivers log lines of another server; name none, or its own"
            )
        if (
            visitor.logged_in
            and asked.scope["method"] not in _READING
            and not _is_own(asked.headers)
        ):
            raise Forbidden(
                "another site's page may not use this service; use the forms of this one"
            )
        return visitor

    async def _known(self, asked: _Asked) -> Visitor:
        if asked.secret is not None:
            token, logged_in = await self._run(self._access.find, asked.secret), False
        else:
            cookie = credentials.of_cookie(asked.headers)
            token = await self._run(self._access.by_pass, cookie) if cookie else None
            logged_in = token is not None
        if token is not None:
            return Visitor(token, logged_in=logged_in)
        if self._loopback and not await self._run(self._access.asks):
            return Visitor()
        raise Unauthenticated(
            "this service asks for a token, and none that it knows was shown; send it as "
            "`Authorization: Bearer …`, or log in at /login"
        )

    async def _note(self, note: Callable[[Any], None], used: Token | Share) -> None:
        """Keep when one was used, once the answer is out; not while another is waiting to be kept."""
        if self._noting.available_tokens:
            try:
                await to_thread.run_sync(note, used, limiter=self._noting)
                self._trouble.passed()
            except LastCallError as error:
                self._trouble.failed(error)

    async def _run(self, work: Callable[..., _T], *words: Any) -> _T:
        return await to_thread.run_sync(work, *words, limiter=self._threads)


def _server(text: str) -> str | None:
    try:
        return names.feed_name("server", text)
    except BadParameter:
        return text


def _is_own(headers: Headers) -> bool:
    """Whether a page of this site makes the request: browsers say so by at least one of two headers."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    # an origin is a scheme, :// and a host with its port (RFC 6454), or the word null
    return headers.get("origin", "").partition("://")[2] == headers.get("host")


def _refused(asked: _Asked, error: LastCallError) -> Response:
    """The refusal, in the form of the protocol that the request is in."""
    came_with_pass = credentials.of_cookie(asked.headers) is not None
    visitor = Visitor(logged_in=came_with_pass, is_stranger=True)
    request = Request(announced(asked.scope, visitor))
    if asked.place.refuse is not None:
        answer = asked.place.refuse(request, error)
    elif not asked.place.path and _for_elasticsearch(asked):
        answer = elasticsearch_refusal(request, error)
    else:
        answer = refusal(error)
    if answer.status_code == 401:
        answer.headers["WWW-Authenticate"] = CHALLENGE
    return answer


def _for_elasticsearch(asked: _Asked) -> bool:
    _, path = addressed.split(path_of(asked.scope))
    return elasticsearch.concerns(path, asked.headers)


def _private(send: Send) -> Send:
    """What says nothing of caches is for whoever asked alone: a pass in a cookie does not keep shared caches off."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message.setdefault("headers", [])
            MutableHeaders(scope=message).setdefault("Cache-Control", "private, no-cache")
        await send(message)

    return sending
