"""What was told, changed or taken back, by whom, and when."""

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
            "at": "2026-10-05T21:03:00.000Z",
            "actor": "command",
            "action": "undo",
            "subject": "batch 7",
            "detail": {"server": "maps", "source": "files", "deleted": 12, "handed_over": 3},
        }
    ]
)
PAGE = schemas.page_of("Audit", answers.AuditRow)


@router.get(
    "/audit",
    summary="What was changed by hand, and taken back",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def audit(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """
    One line for each thing that was told, changed or taken back, the newest first; `since` and `until`
    are when. `detail` depends on the action; with `server`, only lines whose detail names that one.
    """
    return respond(request, db, now, asked, answers.audit, answers.AuditRow)
