"""Batches, and taking one back."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.taking_back import TakingBack
from service.visitors import actor_of

router = APIRouter(tags=["operate"])

EXAMPLE = schemas.example(
    [
        {
            "batch": 7,
            "server": "maps",
            "source": "files",
            "kind": "ingest",
            "label": "2026-10-05T21:03:00Z 6f1d9a02",
            "started": "2026-10-05T21:03:00.000Z",
            "undo_until": "2026-11-04T21:03:00.000Z",
            "accepted": 15,
            "duplicates": 0,
            "ignored": 4,
            "rejected": 1,
        }
    ]
)
PAGE = schemas.page_of("Batches", answers.BatchRow)


@router.get(
    "/batches",
    summary="Batches: what can be taken back as one",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def batches(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Sources, Query()]
) -> Response:
    """
    A batch is a run of `lastcall ingest`, a followed file's day, or a source's requests of one UTC hour.
    The newest first; `since` and `until` are their beginnings.
    """
    return respond(request, db, now, asked, answers.batches, answers.BatchRow)


# ----------------------------------------------------------------------------- taking one back


class Asked(BaseModel):
    """How to take it back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dry_run: Annotated[
        bool, Field(description="change nothing; say what taking it back would come to")
    ] = False


class UndoneBatch(BaseModel):
    """What taking a batch back came to, or would come to."""

    batch: int
    server: str
    source: str
    kind: str
    label: str
    deleted: Annotated[int, Field(description="events that are gone")]
    events: Annotated[dict[str, int], Field(description="those by kind")]
    handed_over: Annotated[int, Field(description="events that another batch had delivered, too")]
    heirs: Annotated[dict[str, int], Field(description="those by the batch that has them now")]
    records: Annotated[
        dict[str, int], Field(description="its records by fate, no longer in the account")
    ]
    quarantined: Annotated[int, Field(description="rejected records that are gone")]
    dry_run: bool


_UNDONE = {
    "batch": 7,
    "server": "maps",
    "source": "files",
    "kind": "ingest",
    "label": "2026-10-05T21:03:00Z 6f1d9a02",
    "deleted": 12,
    "events": {"hello": 2, "stale_call": 10},
    "handed_over": 3,
    "heirs": {"9": 3},
    "records": {"accepted": 15, "ignored": 4, "rejected": 1},
    "quarantined": 1,
    "dry_run": False,
}


@router.post(
    "/batches/{batch}/undo",
    summary="Take a batch back",
    response_model=UndoneBatch,
    responses={
        200: {"content": {"application/json": {"example": _UNDONE}}},
        404: schemas.problem("No such batch, or it was taken back already"),
        409: schemas.problem("It began more than 30 days ago; nothing is changed"),
        422: schemas.problem("A parameter cannot be used"),
        503: schemas.problem("The database cannot do it now; nothing is changed, ask again"),
    },
    dependencies=[Readable],
)
def undo(
    request: Request,
    batch: Annotated[int, Path(ge=1, le=2**31 - 1, description="its number")],
    asked: Annotated[Asked, Query()],
) -> dict[str, Any]:
    """
    Afterwards everything is as if the batch had never come. What another batch delivered, too, is left to
    the oldest of those. With `dry_run=true` nothing is changed. All or nothing, and never twice.
    """
    taking_back: TakingBack = request.app.state.taking_back
    with request.app.state.outages.writing.watching():
        return taking_back.undo(
            batch, actor=actor_of(request, "rest"), dry_run=asked.dry_run
        ).as_json()
