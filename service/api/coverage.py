"""When the servers were watched, and when not."""

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
            "source": "files",
            "since": "2026-10-03T02:00:00.000Z",
            "until": "2026-10-03T14:00:00.000Z",
        }
    ],
    sources=[
        {
            "server": "maps",
            "source": "files",
            "heard_hours": 96,
            "first_heard": "2026-10-01T08:00:00.000Z",
            "last_heard": "2026-10-05T22:00:00.000Z",
            "retired": False,
        }
    ],
)
PAGE = schemas.page_of("Coverage", answers.GapRow, sources=tuple[answers.SpanRow, ...])


@router.get(
    "/coverage",
    summary="When the servers were watched, and when not",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def coverage(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """Every gap that meets the range, by start; beside them the span of each source."""
    return respond(request, db, now, asked, answers.coverage, answers.GapRow)
