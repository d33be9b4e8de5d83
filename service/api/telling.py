"""What routes share by which people tell something: how a body is read, and how refusals are documented."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from service import names
from service.answers.query import iso
from service.api import schemas
from service.api.admission import read_body
from service.errors import BadParameter, BodyNotDecodable
from service.telling import Telling
from service.told import Alias, Exclusion, Mark, Note
from service.visitors import actor_of

T = TypeVar("T")


def members_of(data: bytes, example: Mapping[str, str]) -> dict[str, str]:
    """
    Read a body: its members that are not null, all of them text and among those of the *example*.

    Raises:
        BodyNotDecodable: It is no JSON object.
        BadParameter: A member is unknown, or no text.
    """
    like = f"send a JSON object such as {json.dumps(dict(example), ensure_ascii=False)}"
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise BodyNotDecodable(f"the body is not JSON; {like}") from None
    if not isinstance(body, dict):
        raise BodyNotDecodable(f"the body is no JSON object; {like}")
    for name, value in body.items():
        if name not in example:
            cleaned = names.bounded(names.clean(name))
            raise BadParameter(cleaned, f"unknown member; use {', '.join(example)}")
        if value is not None and not isinstance(value, str):
            raise BadParameter(name, f'must be text, such as "{example[name]}"')
    return {name: value for name, value in body.items() if value is not None}


async def taken(
    request: Request, example: Mapping[str, str], take: Callable[[Telling, dict[str, str], str], T]
) -> T:
    """Read a body like the *example*, and let *take* tell it: its members that are not null, and who tells it."""
    members = members_of(await read_body(request), example)
    telling: Telling = request.app.state.telling
    with request.app.state.outages.writing.watching():
        return await run_in_threadpool(take, telling, members, actor_of(request, "rest"))


def take_back(request: Request, back: Callable[[Telling], None]) -> Response:
    """Take back what was told, and answer that there is nothing to say."""
    with request.app.state.outages.writing.watching():
        back(request.app.state.telling)
    return Response(status_code=204)


def shown(kept: Alias | Exclusion | Mark | Note, **more: Any) -> dict[str, Any]:
    """What was told as it is kept, its instants as text, and *more*."""
    found = {each.name: getattr(kept, each.name) for each in fields(kept)}
    at = {"at_us": "at", "said_us": "said_at"}
    texts = {at[name]: iso(found[name]) for name in at if name in found}
    return {name: value for name, value in found.items() if not name.endswith("_us")} | texts | more


def body(example: Mapping[str, str], required: tuple[str, ...], **says: str) -> dict[str, Any]:
    """A body of text members for OpenAPI; *says* describes them."""
    members = {
        name: {"anyOf": [{"type": "string"}, {"type": "null"}], "description": says[name]}
        for name in example
    }
    for name in required:
        members[name] = {"type": "string", "description": says[name]}
    schema = {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": members,
    }
    content = {"application/json": {"schema": schema, "example": dict(example)}}
    return {"requestBody": {"required": True, "content": content}}


REFUSALS: dict[int | str, dict[str, Any]] = {
    413: schemas.problem("The body is too large; nothing was stored"),
    422: schemas.problem("The body cannot be read, or a member cannot be used"),
    503: schemas.problem("The database cannot take it now; nothing was stored, send it again"),
}
"""How telling something can be refused."""

GONE: dict[int | str, dict[str, Any]] = {
    404: schemas.problem("There is nothing to take back"),
    503: schemas.problem("The database cannot take it now; send it again"),
}
"""How taking something back can be refused."""
