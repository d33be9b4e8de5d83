"""What was done about a client: contacted, known, resolved. Told here, listed, and taken back."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from service import answers
from service.answers.query import instant_asked, iso
from service.api import parameters, schemas
from service.api.admission import read_body
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import GONE, REFUSALS, body, members_of
from service.told import MarkKind

router = APIRouter()

_TOLD = {
    "kind": "resolved",
    "server": "maps",
    "client": "claude-code",
    "name": "tomtom-ev-routing",
    "at": "2026-10-05T10:15:02Z",
    "note": "they removed the permission entry",
}
_KEPT = {
    "id": 1,
    "kind": "resolved",
    "server": "maps",
    "client": "claude-code",
    "name": "tomtom-ev-routing",
    "at": "2026-10-05T10:15:02.000Z",
    "note": "they removed the permission entry",
    "said_at": "2026-10-05T12:00:00.000Z",
    "actor": "rest",
}
EXAMPLE = schemas.example(
    [{**_KEPT, "status": "reopened", "calls_since": 3, "last_call": "2026-10-05T21:02:11.090Z"}]
)
PAGE = schemas.page_of("Marks", answers.MarkRow)


class RecordedMark(BaseModel):
    """The mark as it is kept; `client` is its key, "" for whatever names none."""

    id: int
    kind: MarkKind
    server: str
    client: str
    name: str | None
    at: schemas.InstantText
    note: str
    said_at: schemas.InstantText
    actor: str


@router.get(
    "/marks",
    tags=["read"],
    summary="What was done about clients",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def marks(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Marks, Query()]
) -> Response:
    """Every mark that stands, the oldest first, with the stale calls since."""
    return respond(request, db, now, asked, answers.marks, answers.MarkRow)


@router.post(
    "/marks",
    tags=["tell"],
    summary="Say what was done about a client",
    openapi_extra=body(
        _TOLD,
        ("kind", "server", "client"),
        kind="`contacted`, `known` (it may go on), or `resolved` (only later calls count)",
        server="the MCP server",
        client="the client, in any spelling; empty for calls that name none",
        name="the retired name; every one, if not given",
        at="the instant, such as when it was fixed; now, if not given",
        note="at most 1,000 characters",
    ),
    response_model=RecordedMark,
    responses={200: {"content": {"application/json": {"example": _KEPT}}}, **REFUSALS},
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Say that a client was contacted, is known, or was fixed at an instant. Once resolved, only later calls
    are open, and the first of them reopens it by itself (`status` of `callers` and `marks`).
    """
    told = members_of(await read_body(request), _TOLD)
    at = told.get("at")
    at_us = None if at is None else instant_asked("at", at, ZoneInfo("UTC"))
    with request.app.state.outages.writing.watching():
        mark = await run_in_threadpool(
            request.app.state.telling.mark,
            kind=told.get("kind"),
            server=told.get("server"),
            client=told.get("client"),
            name=told.get("name"),
            at_us=at_us,
            note=told.get("note"),
            actor="rest",
        )
    return {
        "id": mark.id,
        "kind": mark.kind,
        "server": mark.server,
        "client": mark.client,
        "name": mark.name,
        "at": iso(mark.at_us),
        "note": mark.note,
        "said_at": iso(mark.said_us),
        "actor": mark.actor,
    }


@router.delete(
    "/marks/{id}",
    tags=["tell"],
    summary="Take a mark back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def take_back(
    request: Request, number: Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]
) -> Response:
    """As if it had not been said; the audit keeps both."""
    with request.app.state.outages.writing.watching():
        request.app.state.telling.unmark(number, actor="rest")
    return Response(status_code=204)
