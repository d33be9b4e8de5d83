"""Releases of the servers: told here by whoever makes them, and listed."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from service import answers, names
from service.answers.query import Instant, instant_asked, iso
from service.answers.releases import moved
from service.api import parameters, schemas
from service.api.admission import read_body
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import members_of
from service.cataloguing import Cataloguing
from service.events import Recorded
from service.visitors import actor_of

router = APIRouter()

EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "version": "1.7.0",
            "at": "2026-10-05T10:15:02.000Z",
            "source": "rest",
        }
    ]
)
PAGE = schemas.page_of("Releases", answers.ReleaseRow)
_MOVED = moved()
_CONFLICT = schemas.problem(
    "A release was moved to another instant since the first page",
    {
        "type": "about:blank",
        "title": _MOVED.title,
        "status": _MOVED.status,
        "detail": _MOVED.detail,
    },
)


@router.get(
    "/releases",
    tags=["read"],
    summary="Releases of the servers",
    response_model=PAGE,
    responses={**schemas.documented(EXAMPLE), 409: _CONFLICT},
    dependencies=[Readable],
)
def releases(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """
    Releases that came in the range, by time, then server and version. As everywhere the range begins
    with the first event if not given, so give `since` for releases from before the log; where there is
    no event at all, it begins with the first release.
    """
    return respond(request, db, now, asked, answers.releases, answers.ReleaseRow)


# ----------------------------------------------------------------------------- recording one

_TOLD = {"server": "maps", "version": "1.7.0", "at": "2026-10-05T10:15:02Z"}
_BODY = {
    "type": "object",
    "required": ["server", "version"],
    "additionalProperties": False,
    "properties": {
        "server": {
            "type": "string",
            "minLength": 1,
            "description": f"the MCP server, at most {names.FEED_LIMIT} characters",
        },
        "version": {"type": "string", "minLength": 1, "description": "the version that came"},
        "at": {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}],
            "description": "when it came; now, if not given",
        },
    },
}


class RecordedRelease(BaseModel):
    """The release as it is kept, and what recording it changed."""

    server: str
    version: str
    at: schemas.InstantText
    source: str
    outcome: Recorded


@router.post(
    "/releases",
    tags=["ingest"],
    summary="Record a release",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": _BODY, "example": _TOLD}},
        }
    },
    response_model=RecordedRelease,
    responses={
        200: {
            "content": {
                "application/json": {"example": {**EXAMPLE["items"][0], "outcome": "created"}}
            }
        },
        413: schemas.problem("The body is too large; nothing was stored"),
        422: schemas.problem("The body cannot be read, or a member cannot be used"),
        503: schemas.problem("The database cannot take it now; nothing was stored, send it again"),
    },
)
async def record(request: Request) -> dict[str, Any]:
    """
    Say that a version of a server came: `{"server", "version", "at"}`, whatever the Content-Type says.
    Without `at` it came now.

    The same version again is the same release. `outcome` says what that changed: `created`, `unchanged`
    (the same instant), or `moved` to the instant that was said last.
    """
    told = members_of(await read_body(request), _TOLD)
    at = told.get("at")
    at_us = None if at is None else instant_asked("at", at, ZoneInfo("UTC"))
    cataloguing: Cataloguing = request.app.state.cataloguing
    with request.app.state.outages.writing.watching():
        release, outcome = await run_in_threadpool(
            cataloguing.release,
            told.get("server"),
            told.get("version"),
            at_us,
            source="rest",
            actor=actor_of(request, "rest"),
        )
    return {
        "server": release.server,
        "version": release.version,
        "at": iso(Instant(release.at_us)),
        "source": release.source,
        "outcome": outcome,
    }
