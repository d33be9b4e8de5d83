"""The servers that are watched."""

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
            "names": 3,
            "clients": 24,
            "stale_calls": 2678,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "first_event": "2026-10-01T08:05:53.050Z",
            "last_event": "2026-10-05T21:09:40.000Z",
            "sources": 1,
            "last_heard": "2026-10-05T21:00:00.000Z",
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Servers", answers.ServerRow, excluded_calls=int)


@router.get(
    "/servers",
    summary="The servers that are watched",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def servers(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Servers, Query()]
) -> Response:
    """Every server with an event or a source, by name."""
    return respond(request, db, now, asked, answers.servers, answers.ServerRow)
