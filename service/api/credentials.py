"""
The secret that a request shows, in whichever form its sender can: no form means more than another.

Most senders have a header of their own; who can set none puts the secret into the URL.
"""

import base64
import binascii
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers

from service.tokens import PREFIX
from service.visitors import COOKIE

PARAMETER: Final = "token"
"""In the query, for senders that can set no header. It is taken out of it before anybody else sees it."""
FIREHOSE: Final = "x-amz-firehose-access-key"
_PLAIN: Final = frozenset({"bearer", "splunk", "token"})


def of_headers(headers: Headers) -> str | None:
    """The secret in the headers; None where none of ours is among them."""
    said = headers.get("authorization", "").strip()
    shown = (_of_authorization(said) if said else "", headers.get(FIREHOSE, ""))
    # A proxy or a cloud may add one of its own, which is for somebody else.
    return next((each for each in shown if each.startswith(PREFIX)), None)


def _of_authorization(said: str) -> str:
    """
    Read the header: `Bearer`, `Splunk`, `Basic` (the password), `ApiKey` (as it is, or Base64 of id:key).

    >>> _of_authorization("Splunk lct_x"), _of_authorization("ApiKey aWQ6bGN0X3g=")
    ('lct_x', 'lct_x')
    """
    scheme, _, rest = said.partition(" ")
    rest = rest.strip()
    if not rest:
        return scheme
    if scheme.lower() in _PLAIN:
        return rest
    if rest.startswith(PREFIX):
        return rest
    name, _, password = _decoded(rest).partition(":")
    return password or name  # some can set a name only: https://SECRET@host/


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def of_query(query: bytes) -> tuple[str | None, bytes]:
    """
    The first secret in a query string, and the string without any.

    >>> of_query(b"server=maps&token=lct_x")
    ('lct_x', b'server=maps')
    """
    if PARAMETER.encode() not in query and b"%" not in query:
        return None, query
    kept, found = [], []
    for pair in query.split(b"&"):
        name, _, value = pair.partition(b"=")
        if unquote_to_bytes(name.replace(b"+", b" ")) == PARAMETER.encode():
            found.append(unquote_to_bytes(value.replace(b"+", b" ")).decode(errors="replace"))
        else:
            kept.append(pair)
    return (found[0] if found else None), b"&".join(kept)


def of_cookie(headers: Headers) -> str | None:
    """What somebody was given who logged in."""
    for header in headers.getlist("cookie"):
        for pair in header.split(";"):
            name, _, value = pair.strip().partition("=")
            if name == COOKIE:
                return value.strip('"')
    return None
