"""What the servers list: snapshots, what changed between two of them, and who calls what still works."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from service import answers
from service.answers.query import Instant, instant_asked, iso
from service.api import parameters, schemas
from service.api.admission import read_body
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.told import body_of, text_of
from service.cataloguing import Cataloguing
from service.entries import Kept, Snapshot, tools_of
from service.visitors import actor_of

router = APIRouter()

_SNAPSHOT: dict[str, Any] = {
    "id": 2,
    "server": "maps",
    "at": "2026-10-05T10:15:02.000Z",
    "version": "1.7.0",
    "protocol_version": "2025-11-25",
    "tools": 11,
    "source": "stdio",
    "actor": "command",
}
EXAMPLE = schemas.example([_SNAPSHOT])
PAGE = schemas.page_of("Snapshots", answers.SnapshotRow)
_LISTED = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-route-planner",
            "listed": True,
            "calls": 5120,
            "clients": 9,
            "active_days": 5,
            "top_clients": ["claude-code"],
            "unattributed_calls": 31,
            "first_call": "2026-10-01T00:00:04.020Z",
            "last_call": "2026-10-05T21:14:11.090Z",
        }
    ],
    excluded_calls=12,
)
_LISTED_PAGE = schemas.page_of("Listed", answers.ListedRow, excluded_calls=int)
_DIFF = schemas.example(
    [
        {
            "server": "maps",
            "rule": "name_lost",
            "weight": "breaks",
            "tool": "tomtom-ev-routing",
            "argument": None,
            "before": "listed",
            "after": None,
            "why": "whoever holds the old list goes on calling this name, and is told that there is "
            "no such tool",
        }
    ],
    before={**_SNAPSHOT, "id": 1, "at": "2026-10-01T09:00:00.000Z", "version": "1.6.10"},
    after=_SNAPSHOT,
    lost=["tomtom-ev-routing"],
    gained=["tomtom-route-planner"],
    proposals=[
        {
            "server": "maps",
            "name": "tomtom-ev-routing",
            "last_release": "1.6.10",
            "retired_at": "2026-10-05T10:15:02.000Z",
            "maybe": [],
        }
    ],
)


_DIFF_PAGE = schemas.page_of(
    "Changes",
    answers.ChangeRow,
    before=answers.SnapshotRow | None,
    after=answers.SnapshotRow | None,
    lost=tuple[str, ...],
    gained=tuple[str, ...],
    proposals=tuple[answers.ProposalRow, ...],
)


@router.get(
    "/snapshots",
    tags=["read"],
    summary="When which server listed how many tools",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def snapshots(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """Every snapshot, by server and time, whatever the range."""
    return respond(request, db, now, asked, answers.snapshots, answers.SnapshotRow)


@router.get(
    "/catalogue/diff",
    tags=["read"],
    summary="What changed between two snapshots",
    response_model=_DIFF_PAGE,
    responses=schemas.documented(_DIFF),
    dependencies=[Readable],
)
def diff(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Compared, Query()]
) -> Response:
    """
    What clients with a copy of the earlier list do not know, by rule, tool and argument: names lost,
    arguments that must be given now, arguments and annotations that mean something else, and
    descriptions that tell of their day. Compared are the last two snapshots of the server, or those that
    `before` and `after` name; where there are not two, nothing is. `proposals` are entries for lost names that the catalogue does not have.
    """
    return respond(request, db, now, asked, answers.diff, answers.ChangeRow)


@router.get(
    "/listed",
    tags=["read"],
    summary="Who calls the names that still work",
    response_model=_LISTED_PAGE,
    responses=schemas.documented(_LISTED, conflict=True),
    dependencies=[Readable],
)
def listed(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Listed, Query()]
) -> Response:
    """
    Names that the latest snapshot lists or that ordinary calls name, and that are not retired, by server
    and name: what to know before one of them is retired. `sort` takes any column but `listed`,
    `top_clients` and `unattributed_calls`.
    """
    return respond(request, db, now, asked, answers.listed, answers.ListedRow)


# ----------------------------------------------------------------------------- keeping one

_TOLD: dict[str, Any] = {
    "server": "maps",
    "tools": [{"name": "tomtom-route-planner", "inputSchema": {"type": "object"}}],
    "version": "1.7.0",
    "protocol_version": "2025-11-25",
    "at": "2026-10-05T10:15:02Z",
}
_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_BODY = {
    "type": "object",
    "required": ["server", "tools"],
    "additionalProperties": False,
    "properties": {
        "server": {"type": "string", "minLength": 1},
        "tools": {
            "description": "the tools, or the result of tools/list that holds them",
            "anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}],
        },
        "version": _TEXT,
        "protocol_version": _TEXT,
        "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
    },
}


class KeptSnapshot(BaseModel):
    """The snapshot as it is kept, and what that changed."""

    server: str
    at: schemas.InstantText
    version: str | None
    protocol_version: str | None
    tools: int
    source: str
    outcome: Kept


@router.post(
    "/snapshots",
    tags=["ingest"],
    summary="Keep what a server lists",
    openapi_extra=schemas.body(_BODY, _TOLD),
    response_model=KeptSnapshot,
    responses=schemas.kept(
        {
            **{name: _SNAPSHOT[name] for name in KeptSnapshot.model_fields if name != "outcome"},
            "source": "rest",
            "outcome": Kept.CREATED,
        }
    ),
)
async def keep(request: Request) -> dict[str, Any]:
    """
    Keep a list of tools: now, if `at` is not given. The same list as in the snapshot before is
    `unchanged`. A version that was not known becomes a release of that instant.
    """
    body = body_of(await read_body(request), _TOLD)
    tools = tools_of(body.get("tools"))
    at = text_of(body, "at")
    at_us = None if at is None else instant_asked("at", at, ZoneInfo("UTC"))
    cataloguing: Cataloguing = request.app.state.cataloguing
    with request.app.state.outages.writing.watching():
        kept, outcome = await run_in_threadpool(
            cataloguing.snapshot,
            text_of(body, "server"),
            tools,
            at_us,
            version=text_of(body, "version"),
            protocol_version=text_of(body, "protocol_version"),
            source="rest",
            actor=actor_of(request, "rest"),
        )
    return _shown(kept, outcome)


def _shown(kept: Snapshot, outcome: Kept) -> dict[str, Any]:
    return {
        "server": kept.server,
        "at": iso(Instant(kept.at_us)),
        "version": kept.version,
        "protocol_version": kept.protocol_version,
        "tools": len(kept.tools),
        "source": kept.source,
        "outcome": outcome,
    }
