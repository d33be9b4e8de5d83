"""What to write to whoever runs a client."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.errors import NotFound

router = APIRouter(tags=["read"])

_TEXT = """Hello,

your MCP client `openai-mcp` called 1 retired tool of our server `maps` between 2026-10-01 and 2026-10-05 (UTC), \
also in the last 30 days. We counted 28 such calls, the last on 2026-10-05 21:02. They came from version `1.0.0`.

- `tomtom-ev-routing` (retired since 2026-10-01; last in release `1.6.10`): 28 calls on 5 days, the last on \
2026-10-05. Please call `tomtom-route-planner` instead.

Your client keeps a copy of the list of tools until somebody renews it. In ChatGPT, open the connector's \
settings and press Refresh (Scan Tools).

Thank you!
"""
EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-ev-routing",
            "replaced_by": ["tomtom-route-planner"],
            "no_replacement": False,
            "stale_calls": 28,
            "open_calls": 28,
            "open_days": 5,
            "callers": 26,
            "active_days": 5,
            "versions": ["1.0.0"],
            "version_count": 1,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "retired_at": "2026-10-01T00:00:00.000Z",
            "last_release": "1.6.10",
            "cure": "rescan",
            "status": "open",
            "marked_at": None,
        }
    ],
    client="openai-mcp",
    to="Whoever uses ChatGPT, by OpenAI (openai-mcp)",
    subject="openai-mcp called retired tools of maps",
    text=_TEXT,
    about=[{"server": "maps", "name": "tomtom-ev-routing"}],
    excluded_calls=0,
)
PAGE = schemas.page_of(
    "Contact",
    answers.ContactRow,
    client=str,
    to=str,
    subject=str,
    text=str,
    about=tuple[answers.About, ...],
    excluded_calls=int,
)
_RESPONSES = schemas.documented(EXAMPLE)
_RESPONSES[404] = schemas.problem("Nothing to write: the client called no retired name that counts")
_RESPONSES[200]["content"]["text/markdown"] = {"schema": {"type": "string"}, "example": _TEXT}


@router.get(
    "/contact",
    summary="What to write to whoever runs a client",
    response_model=PAGE,
    responses=_RESPONSES,
    dependencies=[Readable],
)
def contact(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Contact, Query()]
) -> Response:
    """
    The retired names that one client called in the range, and `text`, a message as Markdown that says
    which they are, what to call instead and how to fetch the list again. In it, whatever a stranger chose
    stands in code spans and stays text. It leaves out what is known or resolved. With `format=md` there
    must be something to write about: whoever called nothing is 404.
    """
    if asked.format != "md":
        return respond(request, db, now, asked, answers.contact, answers.ContactRow)
    found = answers.contact(db, asked.query(), now)
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    text = str(found.more["text"])
    if not text:
        raise _nothing(asked.client[0], found.more["excluded_calls"])
    return Response(text.encode(), media_type="text/markdown; charset=utf-8", headers=headers)


def _nothing(client: str, left_out: int) -> NotFound:
    if left_out:
        why = f"rules leave {left_out:,} of its calls out; excluded=count writes about them"
    else:
        why = "it called no retired name in this range; `clients` names who did"
    return NotFound(f"nothing to write to {client!r}: {why}")
