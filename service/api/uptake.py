"""Whether callers of a retired name went on to what replaces it."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-ev-routing",
            "client": "claude-code",
            "replaced_by": ["tomtom-route-planner"],
            "stale_calls": 12,
            "replaced": 7,
            "retried": 2,
            "left": 2,
            "too_early": 0,
            "cannot_tell": 1,
            "share": 0.6364,
            "sessions": 9,
            "sessions_replaced": 6,
            "reason": None,
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Uptake", answers.UptakeRow, excluded_calls=int)


@router.get(
    "/uptake",
    summary="What callers did after a call to a retired name",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def uptake(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Uptake, Query()]
) -> Response:
    """
    What followed each client's stale calls of the range within ten minutes, in the same session, else
    from the same caller: a call to a replacement, the dead name again before that, or neither. With
    `by=message` there is a row for each text that the calls were answered with, so that wordings can be
    compared; that describes, and proves nothing.

    It needs the server's ordinary calls in the log. Where they are not logged, or nobody knows who made
    a call, numbers are null and `reason` says why: null is never zero.
    """
    return respond(request, db, now, asked, answers.uptake, answers.UptakeRow)
