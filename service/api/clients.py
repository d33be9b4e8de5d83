"""Which clients were there, and what each still calls."""

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
            "client": "claude-code",
            "via": ["mcp-remote"],
            "versions": ["2.1.0"],
            "version_count": 1,
            "sessions": 41,
            "stale_calls": 37,
            "names": 3,
            "callers": 4,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "inferred_calls": 0,
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Clients", answers.ClientRow, excluded_calls=int)


@router.get(
    "/clients",
    summary="Which clients were there, and what each still calls",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def clients(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """
    Every client with any event in the range, by client, also those that call no retired name; with
    `name`, those that called it.
    """
    return respond(request, db, now, asked, answers.clients, answers.ClientRow)
