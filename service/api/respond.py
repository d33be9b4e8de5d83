"""From an answer to a response: JSON or CSV, with a tag that spares unchanged ones."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from service import __version__
from service.answers import Collection, Moment, Query
from service.answers.paging import read_cursor
from service.answers.query import dumps, instant_asked, limit_asked, zone_asked
from service.api.parameters import Ranged
from service.api.table import table
from service.store.engine import Connection
from service.store.read_words import data_version

_MINUTE_US = 60_000_000
Answer = Callable[[Connection, Query, Moment], Collection[Any]]


def respond(
    request: Request,
    connection: Connection,
    moment: Moment,
    asked: Ranged,
    answer: Answer,
    row: type,
    flat: Callable[[Any], Any] | None = None,
) -> Response:
    """
    Answer a question in the form that was asked for, or say that nothing has changed.

    Args:
        row: The type of the rows of a table.
        flat: Turns an item into such a row, where it is none itself.

    Raises:
        BadParameter: A parameter cannot be used, whatever tag the request bears.
        Conflict: The cursor is of an order that has changed since.
    """
    query = asked.query()
    _check(query, answer.__name__)
    as_csv = asked.format == "csv" or (asked.format is None and _prefers_csv(request))
    headers = {
        "Cache-Control": "private, no-cache",
        "Vary": "Accept",
        "X-Content-Type-Options": "nosniff",
    }
    if moment.bound is None:  # by a link a tag would tell when data of others come
        tag = headers["ETag"] = _tag(connection, query, moment, f"{answer.__name__} {as_csv}")
        if _has(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=headers)
    found = answer(connection, query, moment)
    if found.next_cursor is not None:
        kept = [pair for pair in request.query_params.multi_items() if pair[0] != "cursor"]
        following = urlencode([*kept, ("cursor", found.next_cursor)])
        headers["Link"] = f'<?{following}>; rel="next"'
    if as_csv:
        headers["Content-Disposition"] = f'attachment; filename="{answer.__name__}.csv"'
        rows = found if flat is None else replace(found, items=tuple(map(flat, found.items)))
        text = table(rows, row)
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=headers)
    return Response(dumps(found.as_json()), media_type="application/json", headers=headers)


def _prefers_csv(request: Request) -> bool:
    """Whether the Accept header names CSV, and JSON not before it."""
    wanted = [part.split(";")[0].strip() for part in request.headers.get("accept", "").split(",")]
    return next((w for w in wanted if w in ("text/csv", "application/json")), "") == "text/csv"


def _check(query: Query, collection: str) -> None:
    """Refuse what can be told without the data."""
    zone = zone_asked(query)
    limit_asked(query)
    read_cursor(collection, query)
    for parameter in ("since", "until", "as_of"):
        if (text := getattr(query, parameter)) is not None:
            instant_asked(parameter, text, zone)


def _tag(connection: Connection, query: Query, moment: Moment, form: str) -> str:
    """
    Changes with the data, the question, the version and settings that answer it, and as long as the
    clock matters with each minute.
    """
    minute: int | None = moment.now_us // _MINUTE_US
    if query.as_of is not None:
        at = instant_asked("as_of", query.as_of, zone_asked(query))
        minute = None if at <= moment.now_us else minute
    rules = [__version__, *moment.rules()]
    parts = [data_version(connection), asdict(query), minute, form, rules]
    text = json.dumps(parts, sort_keys=True)
    return f'W/"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


def _has(header: str, tag: str) -> bool:
    """Whether If-None-Match holds the tag. `*` asks whether anything is there, and is not heeded."""
    sent = {part.strip().removeprefix("W/") for part in header.split(",")}
    return tag.removeprefix("W/") in sent
