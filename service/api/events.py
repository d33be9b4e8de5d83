"""Single events: what every number goes back to."""

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
            "time": "2026-10-05T10:15:02.114Z",
            "kind": "stale_call",
            "server": "maps",
            "name": "mcp__maps__tomtom-ev-routing",
            "resolved": "tomtom-ev-routing",
            "client": "claude-code",
            "via": None,
            "inferred": False,
            "session": "0b1946b4bd5e9f3e",
            "caller": "client",
            "version": "2.1.0",
            "outcome": "tombstone",
            "counted": True,
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Events", answers.EventRow, excluded_calls=int)


@router.get(
    "/events",
    summary="Single events",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def events(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Events, Query()]
) -> Response:
    """
    Events of every kind, the newest first, equal times by kind, name, logged client and key. Calls that
    rules leave out are not among them unless `excluded` asks for them, as in the numbers that they make.
    """
    return respond(request, db, now, asked, answers.events, answers.EventRow)
