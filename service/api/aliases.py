"""Clients that are one: told here, listed, and taken back."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from service import answers
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import GONE, REFUSALS, body, shown, take_back, taken
from service.events import Recorded
from service.telling import Telling
from service.told import Alias
from service.visitors import actor_of

router = APIRouter()

EXAMPLE = schemas.example(
    [
        {
            "client": "windsurf-client",
            "target": "Windsurf",
            "note": "same product",
            "said_at": "2026-10-05T12:00:00.000Z",
            "actor": "rest",
        }
    ]
)
PAGE = schemas.page_of("Aliases", answers.AliasRow)
_TOLD = {"client": "windsurf-client", "target": "Windsurf", "note": "same product"}


class RecordedAlias(BaseModel):
    """The alias as it is kept, and what telling it changed."""

    client: str
    target: str
    note: str
    said_at: schemas.InstantText
    actor: str
    outcome: Recorded


@router.get(
    "/aliases",
    tags=["read"],
    summary="Clients that are read as others",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def aliases(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """Every alias, by client."""
    return respond(request, db, now, asked, answers.aliases, answers.AliasRow)


@router.post(
    "/aliases",
    tags=["tell"],
    summary="Say that one client is another",
    openapi_extra=body(
        _TOLD,
        ("client", "target"),
        client="the client, in any spelling",
        target="the client that it is read as from now on, as it is to be shown",
        note="why, at most 1,000 characters",
    ),
    response_model=RecordedAlias,
    responses={
        200: {
            "content": {
                "application/json": {"example": {**EXAMPLE["items"][0], "outcome": "created"}}
            }
        },
        **REFUSALS,
    },
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Say that one client is another: `{"client", "target", "note"}`. All answers count its calls as the
    other's, those of the past as well, until it is taken back. A client has one alias; `outcome` is
    `created`, `moved` to another target or note, or `unchanged`.
    """
    alias, outcome = await taken(request, _TOLD, _alias)
    return shown(alias, outcome=outcome)


def _alias(telling: Telling, told: dict[str, str], actor: str) -> tuple[Alias, Recorded]:
    return telling.alias(told.get("client"), told.get("target"), told.get("note"), actor=actor)


@router.delete(
    "/aliases",
    tags=["tell"],
    summary="Take an alias back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("No client is named")},
    dependencies=[Readable],
)
def unalias(
    request: Request, client: Annotated[str, Query(description="the client, in any spelling")]
) -> Response:
    """The client's calls are its own again, in all answers."""
    return take_back(
        request, lambda telling: telling.unalias(client, actor=actor_of(request, "rest"))
    )
