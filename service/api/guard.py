"""
Keep web pages of others away, whether the service asks for tokens or not.

A browser that can reach it could be made to read an open service by a page whose own name is let point
here (the Host header then bears that name), or to write, with the pass of whoever is logged in, by a form
(the browser then says that the request comes from another site).
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.problems import problem

_FOREIGN = {"cross-site", "same-site"}


class Guard:
    """ASGI middleware: only requests to an allowed host, and none that another site's page makes."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        why = self._refusal(scope) if scope["type"] == "http" else None
        if why is None:
            await self._app(scope, receive, send)
        else:
            await problem(403, "Not allowed", why)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        host = host_of(headers.get("host", ""))
        if host not in self._hosts:
            # which names it has is not for those who do not know one
            return f"this service does not answer to {host!r}; LASTCALL_ALLOWED_HOSTS names further hosts"
        # Following a link is fine: the other page cannot read what it leads to.
        link = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in {"GET", "HEAD"}
        if headers.get("sec-fetch-site") in _FOREIGN and not link:
            return "another site's page may not use this service; ask it directly"
        # Older browsers say only where a page comes from that writes.
        origin = headers.get("origin")
        if (
            origin is not None
            and "sec-fetch-site" not in headers
            and scope["method"] not in {"GET", "HEAD"}
            and origin.partition("://")[2] != headers.get("host")
        ):
            return "another site's page may not use this service; ask it directly"
        return None


def host_of(header: str) -> str:
    """
    Return the host of a Host header in lower case, without port and brackets.

    >>> host_of("LOCALHOST:8420"), host_of("[::1]:8420")
    ('localhost', '::1')
    """
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
