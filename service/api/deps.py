"""What routes are handed: a snapshot of the database and the moment of the question."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request

from service.answers import Moment
from service.answers.query import moment_at
from service.errors import BadParameter
from service.store.engine import Connection, reading
from service.visitors import bound_of


def connection(request: Request) -> Iterator[Connection]:
    """One snapshot a request, closed before the answer goes out."""
    state = request.app.state
    with state.outages.reading.watching(), reading(state.engine) as opened:
        yield opened


def moment(request: Request) -> Moment:
    """The clock's word, and what the settings say to every question; what it looks up is looked up once."""
    state = request.app.state
    asked_at = moment_at(state.clock(), state.settings)
    return replace(asked_at, shared={}, bound=bound_of(request))


def readable(request: Request) -> None:
    """
    Refuse a query string that is not text, before anything guesses at it.

    Raises:
        BadParameter: It is not UTF-8, or holds a NUL.
    """
    for pair in request.scope["query_string"].split(b"&"):
        parameter, _, value = (
            unquote_to_bytes(part.replace(b"+", b" ")) for part in pair.partition(b"=")
        )
        name = parameter.decode(errors="replace").replace("\0", "")
        try:
            text = parameter.decode() + value.decode()
        except UnicodeDecodeError:
            raise BadParameter(name, "not UTF-8; percent-encode the UTF-8 form of a text") from None
        if "\0" in text:
            raise BadParameter(name, "holds a NUL character; leave it out")


Readable = Depends(readable)
Db = Annotated[Connection, Depends(connection, scope="function")]
Now = Annotated[Moment, Depends(moment)]
