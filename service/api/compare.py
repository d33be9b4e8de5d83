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
            "matched_hours": 108,
            "matched_calls": 12,
            "matched_calls_before": 16,
        }
    ],
    before={
        "since": "2026-09-26T00:00:00.000Z",
        "until": "2026-10-01T00:00:00.000Z",
        "tz": "UTC",
    },
    weeks=None,
    totals={
        "stale_calls": 12,
        "stale_calls_before": 16,
        "covered_hours": 108,
        "hours": 120,
        "covered_hours_before": 120,
        "hours_before": 120,
        "matched_hours": 108,
        "matched_calls": 12,
        "matched_calls_before": 16,
        "word": "fewer",
        "why": None,
        "pct": None,
    },
    excluded_calls=2,
)
PAGE = schemas.page_of(
    "Compare",
    answers.CompareRow,
    before=Range,
    weeks=int | None,
    totals=answers.CompareTotals,
    excluded_calls=int,
)


@router.get(
    "/compare",
    summary="A range against the one before it",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def compare(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Shifted, Query()]
) -> Response:
    """
    Every retired name in the range and in the one before it, which is as long on the clock of the zone. It ends
    where the range begins; with `shift=weeks` it lies `weeks` whole weeks before it, so that weekdays match.
    `change_pct` is of the hours that were watched in both, and null where there was no call in them before or
    fewer than half of the hours match; `totals` are all names together, in a word. The range ends now where
    `until` lies ahead.
    """
    return respond(request, db, now, asked, answers.compare, answers.CompareRow)
