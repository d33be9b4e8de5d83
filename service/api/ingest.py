"""`POST /ingest`: log lines in, the receipt out."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
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


@router.post(
    "/ingest",
    summary="Store log lines, each exactly once",
    openapi_extra={"requestBody": {"required": False, "content": _CONTENT}},
    response_model=Account,
    responses={
        200: {"content": {"application/json": {"example": RECEIPT}}},
        413: schemas.problem("The body is too large; nothing was stored"),
        422: schemas.problem("The body or a parameter cannot be read; nothing was stored"),
        503: schemas.problem("It cannot be taken now; nothing was stored, send it again"),
    },
)
async def ingest(
    request: Request,
    server: Annotated[
        str | None, Query(description="the MCP server whose log this is", examples=["maps"])
    ] = None,
    source: Annotated[
        str | None, Query(description="the feed that sends it", examples=["http"])
    ] = None,
) -> dict[str, Any]:
    """
    Take NDJSON or a JSON array, plain or gzip, whatever the Content-Type says.

    Bad lines never fail their neighbours: the answer is 200 and counts each record as accepted,
    duplicate, ignored or rejected. Everything is committed before the answer; on any other status
    nothing was stored.
    """
    for name in ("server", "source"):
        if len(request.query_params.getlist(name)) > 1:
            raise BadParameter(name, "given twice; one delivery has one")
    unknown = sorted(set(request.query_params) - {"server", "source"})
    if unknown:
        raise BadParameter(names.bounded(unknown[0]), "unknown parameter; use server, source")
    read = body.reader(request.headers.get("content-encoding"))
    delivered = await deliver(request, read, server=server, source=source or "http")
    return delivered.receipt.as_json()
