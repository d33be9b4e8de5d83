"""Bodies in which somebody tells something: a JSON object with the members that are known."""

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from service import names
from service.errors import BadParameter, BodyNotDecodable


def body_of(data: bytes, like: Mapping[str, Any]) -> dict[str, Any]:
    """
    Read a body. *like* is an example of it, which has every member that there may be.

    Raises:
        BodyNotDecodable: It is no JSON object.
        BadParameter: It has another member.
    """
    remedy = f"send a JSON object such as {json.dumps(like)}"
    try:
        body = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise BodyNotDecodable(f"the body is not JSON; {remedy}") from None
    if not isinstance(body, dict):
        raise BodyNotDecodable(f"the body is no JSON object; {remedy}")
    for name in body:
        if name not in like:
            cleaned = names.bounded(names.clean(name))
            raise BadParameter(cleaned, f"unknown member; use {', '.join(like)}")
    return body


def text_of(body: Mapping[str, Any], member: str) -> str | None:
    """
    A member that is text; None where it is absent or null.

    Raises:
        BadParameter: It is something else.
    """
    value = body.get(member)
    if value is not None and not isinstance(value, str):
        raise BadParameter(member, "must be text")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
