"""What was done about a client: contacted, known, resolved. Told here, listed, and taken back."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel

from service import answers
from service.answers.query import instant_asked
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import GONE, REFUSALS, body, shown, take_back, taken
from service.telling import Telling
from service.told import Mark, MarkKind
from service.visitors import actor_of

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
    """
    The mark as it is kept; `client` is its key, "" for whatever names none. `unknown` holds `server`, `client`
    or `name` where nothing is known of it yet, as of one that is mistyped: the mark waits for it.
    """

    id: int
    kind: MarkKind
    server: str
    client: str
    name: str | None
    at: schemas.InstantText
    note: str
    said_at: schemas.InstantText
    actor: str
    unknown: list[str]


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
    responses={
        200: {"content": {"application/json": {"example": {**_KEPT, "unknown": []}}}},
        **REFUSALS,
    },
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Say that a client was contacted, is known, or was fixed at an instant. Once resolved, only later calls
    are open, and the first of them reopens it by itself (`status` of `callers` and `marks`). Whoever was
    contacted and calls more than 14 days later is `unheeded`, and due again.
    """
    return shown(await taken(request, _TOLD, _mark))


def _mark(telling: Telling, told: dict[str, str], actor: str) -> Mark:
    at = told.get("at")
    return telling.mark(
        kind=told.get("kind"),
        server=told.get("server"),
        client=told.get("client"),
        name=told.get("name"),
        at_us=None if at is None else instant_asked("at", at, ZoneInfo("UTC")),
        note=told.get("note"),
        actor=actor,
    )


@router.delete(
    "/marks/{id}",
    tags=["tell"],
    summary="Take a mark back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def unmark(
    request: Request, number: Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]
) -> Response:
    """As if it had not been said; the audit keeps both."""
    return take_back(
        request, lambda telling: telling.unmark(number, actor=actor_of(request, "rest"))
    )
