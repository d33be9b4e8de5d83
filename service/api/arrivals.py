"""What has arrived of a server's log, for whoever waits for a first line."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from service.answers.arrivals import Arrivals, NewLines, new_lines
from service.answers.arrivals import arrivals as arrived
from service.answers.query import Filter, plain
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable

router = APIRouter(tags=["operate"])
EXAMPLE = {
    "server": "maps",
    "source": None,
    "word": "stored",
    "says": "The first line is stored.",
    "came": "It came from the feed vector-maps.",
    "received": 3,
    "accepted": 1,
    "duplicates": 0,
    "ignored": 1,
    "rejected": 1,
    "wrong": [
        {
            "reason": "missing_tool",
            "records": 1,
            "remedy": "It is a call that names no tool. Log the name as tool, beside client.",
        }
    ],
    "generated_at": "2026-10-05T21:03:00.000Z",
}


NEW_EXAMPLE = {
    "accepted": 10412,
    "new": 12,
    "generated_at": "2026-10-05T21:03:00.000Z",
}


class Seen(BaseModel):
    """What was seen before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: parameters.Server = []
    not_server: parameters.NotServer = []
    seen: Annotated[
        int | None,
        Field(
            ge=0,
            le=2**53,
            description="`accepted` as it was; if not given, every line is new",
            examples=[10400],
        ),
    ] = None


class Asked(BaseModel):
    """What is waited for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: Annotated[str | None, Field(description="only this MCP server", examples=["maps"])] = (
        None
    )
    source: parameters.Source = None
    seen: Annotated[
        str | None,
        Field(
            description="what had arrived before: accepted, duplicates, ignored and rejected; if not given, nothing",
            examples=["12,0,3,1"],
        ),
    ] = None


@router.get(
    "/arrivals",
    summary="What has arrived, and what would make it right",
    response_model=schemas.model_of(Arrivals),
    responses={
        200: {"content": {"application/json": {"example": EXAMPLE}}},
        **schemas.PROBLEMS,
    },
    dependencies=[Readable],
)
def arrivals(
    response: Response, db: Db, now: Now, asked: Annotated[Asked, Query()]
) -> dict[str, Any]:
    """
    One word and the account of all that has arrived since `seen`: ask again until it is no longer `waiting`. Of what
    was rejected, each reason has its remedy.
    """
    response.headers["Cache-Control"] = "no-store"
    found: dict[str, Any] = plain(
        arrived(db, now, server=asked.server, source=asked.source, seen=asked.seen)
    )
    return found


@router.get(
    "/arrivals/new",
    summary="How many lines are new",
    response_model=schemas.model_of(NewLines),
    responses={
        200: {"content": {"application/json": {"example": NEW_EXAMPLE}}},
        **schemas.PROBLEMS,
    },
    dependencies=[Readable],
)
def new(response: Response, db: Db, now: Now, asked: Annotated[Seen, Query()]) -> dict[str, Any]:
    """
    How many lines were stored for the first time since there were `seen` of them: a counter, read in no time, for
    whoever keeps a page open. Ask again every ten seconds, not more often.
    """
    response.headers["Cache-Control"] = "no-store"
    server = Filter(tuple(asked.server), tuple(asked.not_server))
    found: dict[str, Any] = plain(new_lines(db, now, server=server, seen=asked.seen))
    return found
