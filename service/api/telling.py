"""What routes share by which people tell something: how a body is read, and how refusals are documented."""

import json
from collections.abc import Mapping
from typing import Any

from service import names
from service.api import schemas
from service.errors import BadParameter, BodyNotDecodable


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
