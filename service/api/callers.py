"""Who calls a retired name: one row a server, name and client."""

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
            "stale_calls": 12,
            "callers": 2,
            "active_days": 4,
            "versions": ["2.1.0", "2.0.9"],
            "version_count": 2,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "inferred_calls": 0,
            "status": "reopened",
            "marked_at": "2026-10-05T12:00:00.000Z",
            "open_calls": 3,
            "open_days": 2,
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Callers", answers.CallerRow, excluded_calls=int)


@router.get(
    "/callers",
    summary="Who calls a retired name",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def callers(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """
    Every client that called a retired name in the range, by server, name and client; `client` is null
    for the calls that name none.
    """
    return respond(request, db, now, asked, answers.callers, answers.CallerRow)
