"""
Links that show one filter: `/shared/SECRET/…`, everything that the link shows once more below its secret.

The secret is taken out of the path, and what is left becomes the root: so every address that a page prints stays
below the link. What the link is bound to is forced into the query, in place of whatever stands there.
"""

from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope, Send

from service.api.needs import Place
from service.api.rooted import path_of, root_of
from service.errors import Forbidden, NotFound
from service.names import read_client, shown_key
from service.shares import Bound, Share

PREFIX: Final = "/shared"
_NOBODY: Final = "frame-ancestors 'none'"


def taken(scope: Scope) -> tuple[Scope, str | None]:
    """The request as it is below its link, and the secret of that; as it was, and None, where it came by none."""
    path = path_of(scope)
    if not f"{path}/".startswith(f"{PREFIX}/"):
        return scope, None
    secret, _, rest = path.removeprefix(PREFIX).removeprefix("/").partition("/")
    root = f"{root_of(scope)}{PREFIX}/{secret}"
    below = f"{root}/{rest}"
    return {**scope, "root_path": root, "path": below, "raw_path": quote(below).encode()}, secret


def unknown() -> NotFound:
    """The one answer for a link that never was, has ended, or was revoked."""
    return NotFound(
        "this link shows nothing: it has ended, was revoked, or is not whole; ask whoever gave it to you"
    )


def leads(place: Place, bound: Bound) -> bool:
    """Whether a link so bound may show what is at a place."""
    shown = place.shown
    return shown is not None and bound.given().keys() <= shown.heeds | shown.beside


def forced(query: bytes, place: Place, share: Share) -> bytes:
    """
    The query of a request, bound. What is asked for beside it stays, and so narrows.

    Raises:
        Forbidden: The link does not show this, or the query asks for something else than it shows. Whether that
            is there is not said.
    """
    bound = share.bound
    if not leads(place, bound) or place.shown is None:
        raise Forbidden("this link does not show that, but only what it was made for")
    # as the routes will read it
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    for key, value in bound.given().items():
        if key not in place.shown.heeds:
            continue
        is_, is_not = _asked(pairs, key), _asked(pairs, f"not_{key}")
        same = {value} if key != "client" else {""} if not value else share.known_as
        if (is_ and same.isdisjoint(_read(key, is_))) or not same.isdisjoint(_read(key, is_not)):
            raise Forbidden("this link shows something else, and nothing but what it was made for")
        pairs = [pair for pair in pairs if pair[0] not in {key, f"not_{key}"}]
        pairs.append((key, value))
    return urlencode(pairs).encode()


def _asked(pairs: list[tuple[str, str]], key: str) -> list[str]:
    """The values of a filter. An empty one is none, as forms send it, but for a client."""
    return [
        value
        for name, value in pairs
        if name == key and (value or key.removeprefix("not_") == "client")
    ]


def _read(key: str, asked: list[str]) -> set[str]:
    """Values as they are compared: a client by every key that it may be known by."""
    if key != "client":
        return set(asked)
    read = [read_client(each) for each in asked]
    return {shown_key(each) for each in asked} | {each.key if each else "" for each in read}


def quiet(send: Send, share: Share | None) -> Send:
    """
    Answer so that the address goes no further: no page that is led to is told it, no search engine keeps it. Pages
    may be framed by those that the link names.
    """
    ancestors = " ".join(share.embed) if share is not None else ""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message.setdefault("headers", [])
            headers = MutableHeaders(scope=message)
            headers["Referrer-Policy"] = "no-referrer"
            headers["X-Robots-Tag"] = "noindex, nofollow"
            policy = headers.get("content-security-policy")
            if ancestors and policy is not None:
                allowed = policy.replace(_NOBODY, f"frame-ancestors {ancestors}")
                headers["Content-Security-Policy"] = allowed
        await send(message)

    return sending
