"""Notes of one's own beside the axis of time: written here, listed, and taken back."""

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
from service.events import Recorded
from service.telling import Telling
from service.told import Note
from service.visitors import actor_of

router = APIRouter()

_TOLD = {"server": "maps", "at": "2026-10-05T10:15:02Z", "text": "the docs name the new tool"}
_KEPT = {
    "id": 1,
    "server": "maps",
    "at": "2026-10-05T10:15:02.000Z",
    "text": "the docs name the new tool",
    "said_at": "2026-10-05T12:00:00.000Z",
    "actor": "rest",
}
EXAMPLE = schemas.example([_KEPT])
PAGE = schemas.page_of("Notes", answers.NoteRow)


class RecordedNote(BaseModel):
    """The note as it is kept, and whether that was `created` or is known already (`unchanged`)."""

    id: int
    server: str | None
    at: schemas.InstantText
    text: str
    said_at: schemas.InstantText
    actor: str
    outcome: Recorded


@router.get(
    "/notes",
    tags=["read"],
    summary="Notes beside the axis of time",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def notes(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """
    Notes about instants in the range, by time; with `server`, those of it and those of all. If the range is not
    given, it begins with the first of them.
    """
    return respond(request, db, now, asked, answers.notes, answers.NoteRow)


@router.post(
    "/notes",
    tags=["tell"],
    summary="Write a note beside an instant",
    openapi_extra=body(
        _TOLD,
        ("text",),
        server="the MCP server; all of them, if not given",
        at="the instant; now, if not given",
        text="what happened, at most 1,000 characters",
    ),
    response_model=RecordedNote,
    responses={
        200: {"content": {"application/json": {"example": {**_KEPT, "outcome": "created"}}}},
        **REFUSALS,
    },
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Write what happened, and when: figures over time mark it and list it below. No number changes. The same text
    about the same server and instant again is the same note.
    """
    note, outcome = await taken(request, _TOLD, _note)
    return shown(note, outcome=outcome)


def _note(telling: Telling, told: dict[str, str], actor: str) -> tuple[Note, Recorded]:
    at = told.get("at")
    return telling.note(
        server=told.get("server"),
        at_us=None if at is None else instant_asked("at", at, ZoneInfo("UTC")),
        text=told.get("text"),
        actor=actor,
    )


@router.delete(
    "/notes/{id}",
    tags=["tell"],
    summary="Take a note back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def unnote(
    request: Request, number: Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]
) -> Response:
    """As if it had not been written; the audit keeps both."""
    return take_back(
        request, lambda telling: telling.unnote(number, actor=actor_of(request, "rest"))
    )
