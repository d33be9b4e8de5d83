"""What was said each Monday, and the word that stands."""

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
            "week": "2026-10-05T00:00:00.000Z",
            "question": "stopped",
            "server": "maps",
            "name": "tomtom-ev-routing",
            "word": "probably stopped",
            "strength": None,
            "figures": {
                "reason": None,
                "probability": 0.9612,
                "interval": [0.8204, 0.9971],
                "wait_days": 0.0,
                "active_days": 14,
                "silent_days": 31,
                "stale_calls": 62,
            },
            "standing": "probably stopped",
            "standing_since": "2026-10-05T00:00:00.000Z",
            "stood_before": "cannot tell",
            "changed": True,
            "written_at": "2026-10-05T00:10:00.412Z",
            "late": False,
        }
    ]
)
PAGE = schemas.page_of("Said", answers.SaidRow)


@router.get(
    "/said",
    summary="What was said each Monday",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def said(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Said, Query()]
) -> Response:
    """
    The weekly log, the newest Monday first: what `/stopped` (and `/effect`) said as of it, of each name, with
    `by=client` of each client that called one. `since` and `until` are Mondays.

    A word stands once two Mondays in a row agreed on it; until then the one before it stands. `changed` is
    true on the Monday on which another word took its place: ask for `changed=true` to be told of news and
    of nothing else. What was said stays as it was, whatever lines come later. `late` rows were asked after
    their Monday, with the lines that had come by then.
    """
    return respond(request, db, now, asked, answers.said, answers.SaidRow)
