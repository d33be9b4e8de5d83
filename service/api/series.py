"""Stale calls, who made them, or notifications over time, in local hours, days, weeks or months."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

EXAMPLE = schemas.example(
    [{"start": "2026-10-05T00:00:00.000Z", "label": "2026-10-05", "value": 12, "covered": True}],
    excluded_calls=2,
)
PAGE = schemas.page_of("Series", answers.SeriesRow, excluded_calls=int)


@router.get(
    "/series",
    summary="Stale calls, clients, callers or notifications over time",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def series(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Series, Query()]
) -> Response:
    """
    One row a bucket, or a bucket and group, zeros included. With `top`, all further groups are one row
    `other` a bucket; calls without a client or version stay a row of their own.

    `metric=notifications` counts the notifications that were sent, not those that arrived; they are about
    no name, so neither `name` nor `by=name` goes with it.
    """
    return respond(request, db, now, asked, answers.series, answers.SeriesRow)
