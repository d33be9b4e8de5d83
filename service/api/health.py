"""How the watching goes: accounts of records, sources, warnings, database."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.answers.health import ArrivalDay, Parallel, Share, Warned
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["operate"])

EXAMPLE = schemas.example(
    [
        {
            "day": "2026-10-05",
            "server": "maps",
            "source": "files",
            "received": 3,
            "accepted": 2,
            "duplicates": 0,
            "ignored": 0,
            "rejected": 1,
            "reasons": {"missing_tool": 1},
            "suppressed": 0,
            "resend": 0,
        }
    ],
    status="ok",
    days=[
        {
            "day": "2026-10-05",
            "received": 3,
            "accepted": 2,
            "duplicates": 0,
            "ignored": 0,
            "rejected": 1,
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
    unattributed=[
        {"server": "maps", "recent": 0.1, "recent_calls": 40, "before": 0.08, "before_calls": 160}
    ],
    parallel=[],
    warnings=[],
    database={"kind": "sqlite", "schema": "0002", "data_version": "42"},
)
PAGE = schemas.page_of(
    "Health",
    answers.HealthRow,
    status=Literal["ok", "warning"],
    days=tuple[ArrivalDay, ...],
    sources=tuple[answers.SpanRow, ...],
    unattributed=tuple[Share, ...],
    parallel=tuple[Parallel, ...],
    warnings=tuple[Warned, ...],
    database=dict[str, str | None],
)


@router.get(
    "/health",
    summary="How the watching goes",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def health(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Sources, Query()]
) -> Response:
    """
    Records by source and UTC day of arrival, the newest first. Also what to ask whether the service is
    up: it answers 200 as long as the database can be read. `status` is `warning` where there are
    warnings.
    """
    return respond(request, db, now, asked, answers.health, answers.HealthRow)
