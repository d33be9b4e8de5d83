"""
`/to/{server}/…`: all that takes log lines once more, for senders whose address can have no query.
"""

from typing import Final
from urllib.parse import parse_qs, quote, unquote

from fastapi import APIRouter
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api import ingest
from service.api.problems import refusal
from service.api.receivers import ROUTERS, elasticsearch_handshake
from service.api.rooted import path_of, raw_path_of
from service.errors import BadParameter, LastCallError, NotFound

PREFIX: Final = "/to"

router = APIRouter(redirect_slashes=False)
"""What is to be mounted at the prefix: no pages, and nothing that answers questions."""
router.add_api_route(
    "/",
    elasticsearch_handshake.banner,
    methods=elasticsearch_handshake.READ,
    route_class_override=elasticsearch_handshake.Handshake,
)
for _each in (ingest.router, *ROUTERS):
    router.include_router(_each)


def split(path: str) -> tuple[str, str]:
    """
    Return what stands before the path that a receiver has, and that path.

    >>> split("/to/maps/v1/logs"), split("/v1/logs")
    (('/to/maps', '/v1/logs'), ('', '/v1/logs'))
    """
    if not path.startswith(f"{PREFIX}/"):
        return "", path
    name, _, rest = path.removeprefix(f"{PREFIX}/").partition("/")
    return f"{PREFIX}/{name}", f"/{rest}"


class Addressed:
    """ASGI middleware: takes the server's name out of the path and makes the parameter `server` of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a path without a name is 404, a query that names another server 422."""
        if scope["type"] == "http":
            try:
                scope = resolved(scope)
            except LastCallError as error:
                await refusal(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def resolved(scope: Scope) -> Scope:
    """
    Return the request as the routes see it: without the server's name in its path, and with it in its query.

    Raises:
        NotFound: The path should have a name, and has none.
        BadParameter: The query names another server.
    """
    return _addressed(scope) if f"{path_of(scope)}/".startswith(f"{PREFIX}/") else scope


def _addressed(scope: Scope) -> Scope:
    """The request without the name in its path and with it in its query."""
    # As it was sent: a name may have a slash in it.
    raw = raw_path_of(scope) or quote(path_of(scope)).encode()
    name, _, rest = raw.decode("latin-1").removeprefix(PREFIX).removeprefix("/").partition("/")
    if not name:
        raise NotFound(f"no server is named; use {PREFIX}/SERVER/…, as in {PREFIX}/maps/ingest")
    server, query = unquote(name), scope["query_string"]
    said = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("server", [])
    if any(each != server for each in said):
        raise BadParameter("server", f"the path says {server!r}, the query another one")
    if not said:
        query = b"&".join(filter(None, (query, f"server={quote(server, safe='')}".encode())))
    path = f"{scope.get('root_path', '')}{PREFIX}/{unquote(rest)}"
    return {**scope, "path": path, "query_string": query}
