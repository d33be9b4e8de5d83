"""Calls that do not count: rules told here, listed with what they leave out, and taken back."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import GONE, REFUSALS, body, shown, take_back, taken
from service.events import Recorded
from service.telling import Telling
from service.told import Exclusion
from service.visitors import actor_of

router = APIRouter()

_RULE = {
    "server": "maps",
    "client": "mcp-probe*",
    "version": None,
    "network": None,
    "note": "our own checks",
}
EXAMPLE = schemas.example(
    [
        {
            "id": 1,
            **_RULE,
            "said_at": "2026-10-05T12:00:00.000Z",
            "actor": "rest",
            "stale_calls": 412,
            "names": 3,
            "clients": 1,
            "last_call": "2026-10-05T21:02:11.090Z",
        }
    ]
)
PAGE = schemas.page_of("Exclusions", answers.ExclusionRow)
_TOLD = {
    "server": "maps",
    "client": "mcp-probe*",
    "version": "0.0.0-test",
    "network": "203.0.113.0/24",
    "note": "our own checks",
}


class RecordedExclusion(BaseModel):
    """The rule as it is kept, and what telling it changed."""

    id: int
    server: str | None
    client: str | None
    version: str | None
    network: str | None
    note: str
    said_at: schemas.InstantText
    actor: str
    outcome: Recorded


@router.get(
    "/exclusions",
    tags=["read"],
    summary="Calls that do not count",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def exclusions(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """Every rule, the oldest first, with what it leaves out in the range."""
    return respond(request, db, now, asked, answers.exclusions, answers.ExclusionRow)


@router.post(
    "/exclusions",
    tags=["tell"],
    summary="Leave calls out",
    openapi_extra=body(
        _TOLD,
        (),
        server="only calls to this MCP server",
        client="only calls of this client, in any spelling; `*` stands for any text",
        version="only calls of this version",
        network="only calls from this range of addresses, such as 203.0.113.0/24",
        note="why, at most 1,000 characters",
    ),
    response_model=RecordedExclusion,
    responses={
        200: {
            "content": {
                "application/json": {
                    "example": {
                        "id": 1,
                        **_RULE,
                        "said_at": "2026-10-05T12:00:00.000Z",
                        "actor": "rest",
                        "outcome": "created",
                    }
                }
            }
        },
        **REFUSALS,
    },
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Leave calls out that have everything which the rule names: own tests, probes. Name a client, a version
    or a network at least. The calls stay, and every answer says how many it left out (`excluded_calls`);
    who calls otherwise, too, is still seen. The same rule again is `unchanged`.
    """
    rule, outcome = await taken(request, _TOLD, _exclude)
    return shown(rule, outcome=outcome)


def _exclude(telling: Telling, told: dict[str, str], actor: str) -> tuple[Exclusion, Recorded]:
    return telling.exclude(
        server=told.get("server"),
        client=told.get("client"),
        version=told.get("version"),
        network=told.get("network"),
        note=told.get("note"),
        actor=actor,
    )


@router.delete(
    "/exclusions/{id}",
    tags=["tell"],
    summary="Take a rule back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def include(
    request: Request, number: Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]
) -> Response:
    """What the rule left out counts again, in all answers."""
    return take_back(
        request, lambda telling: telling.include(number, actor=actor_of(request, "rest"))
    )
