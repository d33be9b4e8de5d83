"""Whom to reach about which retired name."""

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
            "client": "openai-mcp",
            "status": "open",
            "cure": "rescan",
            "do": "In ChatGPT, open the connector's settings and press Refresh (Scan Tools).",
            "why": ["28 calls on 5 days from 26 callers."],
            "product": "ChatGPT",
            "vendor": "OpenAI",
            "replaced_by": ["tomtom-route-planner"],
            "no_replacement": False,
            "stale_calls": 28,
            "open_calls": 28,
            "open_days": 5,
            "active_days": 5,
            "callers": 26,
            "versions": ["1.0.0"],
            "version_count": 1,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "inferred_calls": 0,
            "marked_at": None,
            "client_days": 5,
            "client_calls": 41,
            "verdict": "still calling",
        }
    ],
    totals={
        "to_reach": 3,
        "reopened": 1,
        "unheeded": 1,
        "contacted": 0,
        "known": 1,
        "resolved": 2,
        "unattributed_calls": 7,
        "unattributed_told": 2,
        "due": 5,
        "rows": 8,
    },
    messages=[
        {
            "client": "openai-mcp",
            "to": "Whoever uses ChatGPT, by OpenAI (openai-mcp)",
            "subject": "openai-mcp called retired tools of maps",
            "text": "Hello,\n\nyour MCP client `openai-mcp` called 1 retired tool ...",
            "about": [{"server": "maps", "name": "tomtom-ev-routing"}],
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of(
    "Todo",
    answers.TodoRow,
    totals=answers.TodoTotals,
    messages=tuple[answers.MessageRow, ...],
    excluded_calls=int,
)


@router.get(
    "/todo",
    summary="Whom to reach about which retired name, the most pressing first",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def todo(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Todo, Query()]
) -> Response:
    """
    Every server, name and client that is due, with what would make it stop (see `cures`): it is `open`,
    `unheeded` (contacted, and called more than 14 days later) or `reopened` (resolved, and called since). Clients are in the order of the days with such calls, then of these calls, the most first:
    days count before calls, since one loud day is less than a habit. `messages` are what to write to the
    first ten clients of the rows.
    """
    return respond(request, db, now, asked, answers.todo, answers.TodoRow)
