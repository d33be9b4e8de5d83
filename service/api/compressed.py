"""
Pages and figures are sent compressed to whoever takes that.

What is sent in answer to a POST is not: it may hold a token, and the length of what is compressed with a
stranger's text tells of it. Nor is the API, whose tags each name the very bytes of an answer.
"""

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

LEAST = 1_000
"""Bytes: fewer go into one packet anyway."""
LEVEL = 5
"""Of 9: two milliseconds for a large page, and a hundredth larger than with all of them."""


class Compressed:
    """ASGI middleware: gzip for what a browser shows."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._gzip = GZipMiddleware(app, minimum_size=LEAST, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and its answer back."""
        await (self._gzip if _is_shown(scope) else self._app)(scope, receive, send)


def _is_shown(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return not path.startswith(("/api/", "/static/"))  # the latter are compressed already
