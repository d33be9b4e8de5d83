"""What happened beside the calls, by time."""

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
            "at": "2026-10-05T10:15:02.000Z",
            "kind": "catalogue",
            "server": "maps",
            "text": "tomtom-ev-routing entered",
            "number": 1,
            "actor": "rest",
        }
    ]
)
PAGE = schemas.page_of("Annotations", answers.AnnotationRow)


@router.get(
    "/annotations",
    summary="What happened beside the calls",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def annotations(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Marks, Query()]
) -> Response:
    """
    Releases, changes of the catalogue, lists of tools and notes in the range, by time, of the servers that the
    question is about: what figures over time mark.
    """
    return respond(request, db, now, asked, answers.annotations, answers.AnnotationRow)
