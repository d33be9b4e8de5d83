"""Who still calls each retired name."""

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
            "stale_calls": 860,
            "clients": 24,
            "callers": 24,
            "active_days": 5,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "last_release": "1.6.10",
            "replaced_by": ["tomtom-route-planner"],
            "no_replacement": False,
            "unattributed_calls": 0,
            "message": None,
            "source": "lines",
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Names", answers.NameRow, excluded_calls=int)


@router.get(
    "/names",
    summary="Who still calls each retired name",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def names(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """
    Every retired name known as of `as_of`, by server and name, also those without a call in the range;
    with `client`, the names that it called. `sort` takes any column but `replaced_by` and `message`.
    """
    return respond(request, db, now, asked, answers.names, answers.NameRow)
