"""A range against the one before it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.answers.query import Range
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-ev-routing",
            "stale_calls": 12,
            "stale_calls_before": 16,
            "change_pct": -25.0,
            "clients": 2,
            "clients_before": 3,
            "callers": 4,
            "callers_before": 4,
            "active_days": 4,
            "active_days_before": 5,
            "covered_hours": 108,
            "hours": 120,
            "covered_hours_before": 120,
            "hours_before": 120,
        }
    ],
    before={
        "since": "2026-09-26T00:00:00.000Z",
        "until": "2026-10-01T00:00:00.000Z",
        "tz": "UTC",
    },
    excluded_calls=2,
)
PAGE = schemas.page_of("Compare", answers.CompareRow, before=Range, excluded_calls=int)


@router.get(
    "/compare",
    summary="A range against the one before it",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def compare(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """
    Every retired name in the range and in the one before it, which is as long on the clock of the zone.
    `change_pct` is null where there was no call before.
    """
    return respond(request, db, now, asked, answers.compare, answers.CompareRow)
