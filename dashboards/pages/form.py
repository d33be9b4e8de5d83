"""The form that a page sends: read, as far as it comes from a page of ours."""

import asyncio
from dataclasses import dataclass
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.requests import ClientDisconnect

from service.answers import Query
from service.answers.query import instant_asked, zone_asked
from service.errors import BadParameter, BodyNotDecodable, BodyTooLarge
from service.settings import Settings
from service.visitors import STRANGER_BYTES, STRANGER_PATIENCE_S, visitor_of

BODY_MAX = 64 * 1024
"""Bytes of a form; the longest note and message fit."""


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


async def read_form(request: Request) -> Form:
    """
    Read the fields of a form.

    Raises:
        BadParameter: It comes from a page of another site.
        BodyTooLarge, BodyNotDecodable: It is too long, too slow, or no form.
    """
    origin = request.headers.get("origin")
    # an origin is a scheme, :// and a host with its port (RFC 6454), or the word null
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        raise BadParameter("Origin", "is another site; use the forms of this one")
    settings: Settings = request.app.state.settings
    most, patience_s = BODY_MAX, settings.body_wait_s
    if visitor_of(request).is_stranger:
        most, patience_s = STRANGER_BYTES, min(patience_s, STRANGER_PATIENCE_S)
    body = b""
    try:
        async with asyncio.timeout(patience_s):
            async for piece in request.stream():
                body += piece
                if len(body) > most:
                    raise BodyTooLarge(f"a form has at most {most:,} bytes; shorten its texts")
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
    except ClientDisconnect:
        raise BodyNotDecodable("the sender hung up before the end of the form") from None
    except TimeoutError:
        raise BodyNotDecodable("the form comes too slowly; send it again") from None
    except ValueError:
        raise BodyNotDecodable("the form is not UTF-8; send it as the page does") from None
    return Form(tuple((key, value.replace("\r\n", "\n")) for key, value in pairs))
