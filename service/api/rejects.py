"""Records that could not be used, and why."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["operate"])

EXAMPLE = schemas.example(
    [
        {
            "arrived": "2026-10-05T21:03:00.000Z",
            "server": "maps",
            "source": "files",
            "batch": "ingest 2026-10-05T21:03:00Z 6f1d9a02",
            "position": 2,
            "reason": "missing_tool",
            "excerpt": '{"msg":"Retired tool called"}',
            "whole": True,
        }
    ]
)
PAGE = schemas.page_of("Rejects", answers.RejectRow)


@router.get(
    "/rejects",
    summary="Records that could not be used, and why",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def rejects(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Sources, Query()]
) -> Response:
    """Rejected records by time of arrival, the newest first."""
    return respond(request, db, now, asked, answers.rejects, answers.RejectRow)
