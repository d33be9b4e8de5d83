"""Whether names are still called, for a machine."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from service import answers
from service.answers.check import Check
from service.answers.check import check as checked
from service.answers.query import Filter, plain
from service.api import schemas
from service.api.deps import Db, Now, Readable

router = APIRouter(tags=["read"])
_NAME = {
    "server": "maps",
    "name": "tomtom-ev-routing",
    "verdict": "called",
    "reason": "3 calls in 30 days (1 client), the last 2026-10-05T21:02:11.090Z",
    "open_calls": 3,
    "clients": 1,
    "last_call": "2026-10-05T21:02:11.090Z",
    "covered_hours": 721,
    "hours": 721,
}
EXAMPLE = {
    "verdict": "called",
    "reason": f"1 of 1 names: tomtom-ev-routing: {_NAME['reason']}",
    "days": 30,
    "since": "2026-09-06T00:00:00.000Z",
    "as_of": "2026-10-06T00:00:00.000Z",
    "excluded_calls": 0,
    "names": [_NAME],
}


class Asked(BaseModel):
    """What is to be checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    server: Annotated[
        list[str], Field(description="only this MCP server", examples=[["maps"]], max_length=1)
    ] = []
    name: Annotated[
        list[str],
        Field(description="only this retired name", examples=[["tomtom-ev-routing"]], max_length=1),
    ] = []
    as_of: Annotated[
        str | None,
        Field(
            description="answer as if it were this instant, or the start of this day in UTC; what people "
            "told is as it is now",
            examples=["2026-10-06T00:00:00Z"],
        ),
    ] = None
    days: Annotated[int, Field(ge=1, le=3_660, description="how long it must have been quiet")] = 30


@router.get(
    "/check",
    summary="Are they still called?",
    response_model=schemas.model_of(Check),
    responses={
        200: {"content": {"application/json": {"example": EXAMPLE}}},
        **schemas.PROBLEMS,
    },
    dependencies=[Readable],
)
def check(db: Db, now: Now, asked: Annotated[Asked, Query()]) -> dict[str, Any]:
    """
    `called`, `quiet`, or `unknown` where nothing is known of the name, part of the time was not watched, or
    it was retired within that time and called until then; with one line of reason: what `lastcall check`
    says.
    """
    query = answers.Query(
        server=Filter(tuple(asked.server)), name=Filter(tuple(asked.name)), as_of=asked.as_of
    )
    found: dict[str, Any] = plain(checked(db, query, now, days=asked.days))
    return found
