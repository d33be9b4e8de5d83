"""`/ingest`: log lines in, the receipt out."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel

from service import names
from service.api import schemas
from service.api.deliver import deliver
from service.errors import BadParameter
from service.ingest import body

router = APIRouter(tags=["ingest"])

RECEIPT = {
    "received": 3,
    "accepted": 2,
    "duplicates": 0,
    "ignored": 0,
    "rejected": 1,
    "reasons": {"missing_tool": 1},
    "positions": [2],
    "pending": 0,
    "events": {"stale_call": 2},
    "batch": 7,
}
_LINE = (
    '{"level":"info","time":"2026-10-05T10:15:02.114Z","pid":7,"hostname":"mcp-1",'
    '"data":{"tool":"tomtom-ev-routing","client":"claude-code","sessionId":"s1",'
    '"lastRelease":"1.6.10","replacedBy":["tomtom-route-planner"]},"msg":"Retired tool called"}'
)
_CONTENT = {
    "application/x-ndjson": {"schema": {}, "example": _LINE + "\n"},
    "application/json": {"schema": {}, "example": [{"msg": "Server started"}]},
}


class Account(BaseModel):
    """The receipt: `received` is the sum of the four outcomes."""

    received: int
    accepted: int
    duplicates: int
    ignored: int
    rejected: int
    reasons: dict[str, int]
    positions: list[int]
    pending: int
    events: dict[str, int]
    batch: int


_DESCRIBED: dict[str, Any] = {
    "openapi_extra": {"requestBody": {"required": False, "content": _CONTENT}},
    "response_model": Account,
    "responses": {
        200: {"content": {"application/json": {"example": RECEIPT}}},
        401: schemas.problem("No token is shown that is known"),
        403: schemas.problem("The token may not do this"),
        413: schemas.problem("The body is too large; nothing was stored"),
        422: schemas.problem("The body or a parameter cannot be read; nothing was stored"),
        503: schemas.problem("It cannot be taken now; nothing was stored, send it again"),
    },
}
Server = Annotated[
    str | None, Query(description="the MCP server whose log this is", examples=["maps"])
]
Source = Annotated[str | None, Query(description="the feed that sends it", examples=["http"])]
Feed = Annotated[str, Path(description="the feed that sends it", examples=["http"])]


@router.put("/ingest/", include_in_schema=False)
@router.post("/ingest/", include_in_schema=False)
@router.put("/ingest", summary="Store log lines, as POST does", **_DESCRIBED)
@router.post("/ingest", summary="Store log lines, each exactly once", **_DESCRIBED)
async def ingest(request: Request, server: Server = None, source: Source = None) -> dict[str, Any]:
    """
    Take log records in any of the usual forms, whatever the Content-Type says.

    NDJSON, a JSON array, an object around a list (`{"logs": [...]}`), objects one after the other, lines of
    text, msgpack, or a form with files; as they are, or compressed with gzip, deflate, zstd or snappy.

    Bad lines never fail their neighbours: the answer is 200 and counts each record as accepted,
    duplicate, ignored or rejected. Everything is committed before the answer; on any other status
    nothing was stored.
    """
    _only(request, "server", "source")
    return await _stored(request, server, source)


@router.put("/ingest/{source}", summary="Store log lines of a feed, as POST does", **_DESCRIBED)
@router.post("/ingest/{source}", summary="Store log lines of a feed", **_DESCRIBED)
async def ingest_feed(request: Request, source: Feed, server: Server = None) -> dict[str, Any]:
    """Take what `/ingest` takes; the feed is named in the path, for senders that cannot set a query."""
    _only(request, "server")
    return await _stored(request, server, source)


def _only(request: Request, *known: str) -> None:
    """
    Refuse a query that is not understood: what it asks for would be left undone.

    Raises:
        BadParameter: A parameter is unknown, or given twice.
    """
    unknown = sorted(set(request.query_params) - set(known))
    if unknown:
        raise BadParameter(names.bounded(unknown[0]), f"unknown parameter; use {', '.join(known)}")
    for name in known:
        if len(request.query_params.getlist(name)) > 1:
            raise BadParameter(name, "given twice; one delivery has one")


async def _stored(request: Request, server: str | None, source: str | None) -> dict[str, Any]:
    read = body.reader(request.headers.get("content-encoding"))
    delivered = await deliver(request, read, server=server, source=source, protocol="http")
    return delivered.receipt.as_json()
