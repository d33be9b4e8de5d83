"""What would make each caller of a retired name stop."""

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
            "via": [],
            "cure": "rescan",
            "do": "In ChatGPT, open the connector's settings and press Refresh (Scan Tools).",
            "why": [
                "28 calls on 5 days from 26 callers.",
                "28 calls came without a session, so that no listing belongs to them.",
                "It never lists, though 310 listings of others are logged.",
                "ChatGPT: keeps a snapshot of the list until a person rescans it.",
            ],
            "product": "ChatGPT",
            "vendor": "OpenAI",
            "kind": "product",
            "behaviour": "frozen",
            "reports": [
                "Any version: keeps a snapshot of the list until a person rescans it. (2026-08)",
            ],
            "refs": ["openai/tunnel-client#42"],
            "stale_calls": 28,
            "again_calls": 0,
            "old_calls": 0,
            "unlisted_calls": 28,
            "callers": 26,
            "active_days": 5,
            "sessions": 0,
            "listings": 0,
            "notifications": 0,
            "versions": ["1.0.0"],
            "version_count": 1,
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "inferred_calls": 0,
            "status": "contacted",
            "marked_at": "2026-10-05T12:00:00.000Z",
            "open_calls": 28,
            "open_days": 5,
            "verdict": "still calling",
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Cures", answers.CureRow, excluded_calls=int)


@router.get(
    "/cures",
    summary="What would make each caller stop",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def cures(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Rows, Query()]
) -> Response:
    """
    What would make every client stop that called a retired name in the range, by server, name and
    client. `cure` is a guess, with its numbers beside it.

    `unattributed`: add the client's name to the log. `exclude`: a probe or test. `gateway`: ask who runs
    it to pass the client's name on. `hard_coded`: the name is written down in a script, workflow or
    permission list. `rescan`: it keeps a snapshot of the list. `client_fault`: it listed again in the same
    session since the name is known as retired, and called it all the same. `refresh`: it goes on with a
    list from before. `cannot_tell`: `do` says what would tell.

    `why` are sentences with numbers, `do` is what to do. `behaviour` is what the product is known to do
    about a changed list at its last version: `honours`, `ignores`, `frozen`, `cached`, `unreliable` or
    `unknown`; `reports` and `refs` say where that is known from. What the log shows goes first.
    """
    return respond(request, db, now, asked, answers.cures, answers.CureRow)
