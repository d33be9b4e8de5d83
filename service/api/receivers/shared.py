"""What receivers have in common: who says whose log it is, and refusals in a line of text."""

from typing import Annotated, Any

from fastapi import Query, Request, Response

from service.errors import LastCallError

Server = Annotated[
    str | None, Query(description="the MCP server whose log this is", examples=["maps"])
]
Source = Annotated[
    str | None, Query(description="the feed that sends it; if not given, named like the protocol")
]

Responses = dict[int | str, dict[str, Any]]


def status_of(error: LastCallError) -> int:
    """Return the status by which most protocols say that a body cannot be read."""
    return 400 if error.status == 422 else error.status


def headers_of(error: LastCallError) -> dict[str, str]:
    """Return when to come again, where that helps."""
    return {"Retry-After": str(error.retry_after_s)} if error.status == 503 else {}


def in_text(_request: Request, error: LastCallError) -> Response:
    """Refuse a request in a line of text."""
    text = f"{error.detail}\n"
    return Response(text, status_of(error), headers_of(error), media_type="text/plain")


def answers(success: int, said: str, media_type: str | None = None) -> Responses:
    """Describe the answers of a receiver: of the one success, and of refusals in *media_type*."""
    content: dict[str, Any] = (
        {} if media_type is None else {"content": {media_type: {"schema": {}}}}
    )
    refused = content or {"content": {"text/plain": {"schema": {"type": "string"}}}}
    return {
        success: {"description": said, **content},
        400: {"description": "The body cannot be read; nothing was stored", **refused},
        401: {"description": "No token is shown that is known", **refused},
        403: {"description": "The token may not do this", **refused},
        413: {"description": "The body is too large; nothing was stored", **refused},
        503: {
            "description": "It cannot be taken now; nothing was stored, send it again",
            **refused,
        },
    }


def takes(
    media_type: str, schema: dict[str, Any], example: Any, *, required: bool = True
) -> dict[str, Any]:
    """Describe the body that a receiver takes; without *required*, it may be empty."""
    content = {media_type: {"schema": schema, "example": example}}
    return {"requestBody": {"required": required, "content": content}}
