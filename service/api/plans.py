"""Roll-outs in two waves: planned here before anybody is told, read afterwards, and taken back."""

from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from service import answers
from service.analysis.waves.snippets import Language
from service.answers.query import instant_asked, iso, plain
from service.api import parameters, schemas
from service.api.admission import read_body
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.telling import GONE, REFUSALS, body, members_of
from service.told import Plan
from service.visitors import actor_of

router = APIRouter()

_TOLD = {
    "server": "maps",
    "wave_1_at": "2026-10-12T00:00:00Z",
    "wave_2_at": "2026-10-26T00:00:00Z",
    "note": "does list_changed help?",
}
_KEPT = {
    "id": 1,
    "server": "maps",
    "wave_1_at": "2026-10-12T00:00:00.000Z",
    "wave_2_at": "2026-10-26T00:00:00.000Z",
    "note": "does list_changed help?",
    "made_at": "2026-10-05T12:00:00.000Z",
    "actor": "rest",
}
_COUNTS = {"clients": 2, "wave_1": 1, "wave_2": 1}
_KEY = "9f0c" * 16
_CLIENTS = [{"client": "claude-code", "wave": 1}, {"client": "cursor", "wave": 2}]
EXAMPLE = schemas.example([{**_KEPT, "status": "planned", **_COUNTS}])
PAGE = schemas.page_of("Plans", answers.PlanRow)
_WAVE = {"clients": 12, "told": 12, "early": 0, "untold": 0, "share": 1.0}
_READ = {
    "plan": {**_KEPT, "status": "over", **_COUNTS},
    "key": _KEY,
    "clients": _CLIENTS,
    "reading": {
        "verdict": "reduced",
        "because": True,
        "reason": None,
        "sentence": "Because they were told, clients changed: the first wave made 120 stale calls "
        "where 240 were expected (-50 %, 95 % interval -66 % to -29 %).",
        "rate_ratio": 0.5,
        "interval": [0.34, 0.71],
        "p_value": 0.0006,
        "splits": 10_000,
        "exact": False,
        "observed": 120,
        "expected": 240.0,
        "avoided": 120.0,
        "clients_used": [12, 12],
        "no_baseline": 0,
        "left_out": [],
        "wave_1": _WAVE,
        "wave_2": {**_WAVE, "told": 0, "untold": 12},
        "exposure": "sessions",
        "covered_days": 42,
        "days": 42,
    },
    "as_of": "2026-10-27T00:00:00.000Z",
    "generated_at": "2026-10-27T00:00:00.000Z",
}
_MISSING: dict[int | str, dict[str, Any]] = {404: schemas.problem("There is no such plan")}
Number = Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]


class PlannedClient(BaseModel):
    """A client (its key) and its wave."""

    client: str
    wave: int


class MadePlan(BaseModel):
    """The plan as it is kept. `key` is that of the hash which says the wave of any client."""

    id: int
    server: str
    wave_1_at: schemas.InstantText
    wave_2_at: schemas.InstantText
    note: str
    made_at: schemas.InstantText
    actor: str
    key: str
    clients: list[PlannedClient]


@router.get(
    "/plans",
    tags=["read"],
    summary="Roll-outs that were planned",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def plans(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Paged, Query()]
) -> Response:
    """Every plan, the oldest first, whatever the range; withdrawn ones too."""
    return respond(request, db, now, asked, answers.plans, answers.PlanRow)


@router.post(
    "/plans",
    tags=["tell"],
    summary="Plan a roll-out",
    openapi_extra=body(
        _TOLD,
        ("server",),
        server="the MCP server",
        wave_1_at="from when the first wave is told; the next midnight in UTC, if not given",
        wave_2_at="from when the second wave is told; two weeks later, if not given",
        note="at most 1,000 characters",
    ),
    response_model=MadePlan,
    responses={
        200: {
            "content": {
                "application/json": {"example": {**_KEPT, "key": _KEY, "clients": _CLIENTS}}
            }
        },
        **REFUSALS,
    },
)
async def make(request: Request, db: Db, now: Now) -> dict[str, Any]:
    """
    Split the clients that made stale calls in the last 28 days into two waves by lot, before anybody is
    told. `GET /plans/{id}/snippet` is the code by which whoever sends notifications keeps to it.
    """
    told = members_of(await read_body(request), _TOLD)
    instants = {
        f"{member}_us": instant_asked(f"{member}_at", at, ZoneInfo("UTC"))
        if (at := told.get(f"{member}_at")) is not None
        else None
        for member in ("wave_1", "wave_2")
    }
    asked = answers.Query.of(server=told.get("server"))
    clients = await run_in_threadpool(answers.to_split, db, asked, now)
    with request.app.state.outages.writing.watching():
        plan: Plan = await run_in_threadpool(
            request.app.state.planning.plan,
            told.get("server"),
            clients,
            **instants,
            note=told.get("note"),
            actor=actor_of(request, "rest"),
        )
    return {
        "id": plan.id,
        "server": plan.server,
        "wave_1_at": iso(plan.wave_1_us),
        "wave_2_at": iso(plan.wave_2_us),
        "note": plan.note,
        "made_at": iso(plan.made_us),
        "actor": plan.actor,
        "key": plan.key.hex(),
        "clients": [{"client": client, "wave": wave} for client, wave in plan.waves.items()],
    }


@router.get(
    "/plans/{id}",
    tags=["read"],
    summary="One plan, and what came of it",
    response_model=schemas.model_of(answers.PlanRead),
    responses={
        200: {"content": {"application/json": {"example": _READ}}},
        **_MISSING,
        **schemas.PROBLEMS,
    },
    dependencies=[Readable],
)
def read(
    db: Db, now: Now, number: Number, asked: Annotated[parameters.Plan, Query()]
) -> dict[str, Any]:
    """
    The clients of each wave, and `reading`: the stale calls of the first wave between the two instants
    against the second's, each client against its own four weeks before, by randomisation inference.
    There is a verdict from the second instant on. With `because` the change is an effect of the
    notifications and `sentence` says so; without, the waves did not keep to the plan. `interval` is of
    95 %, a high end of null has no bound.
    """
    query = answers.Query(as_of=asked.as_of)
    found: dict[str, Any] = plain(answers.plan(db, query, now, number))
    return found


class Asked(BaseModel):
    """The language of a snippet."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: Annotated[Language, Field(description="of the code")] = "typescript"


@router.get(
    "/plans/{id}/snippet",
    tags=["read"],
    summary="Code that keeps to a plan",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **_MISSING,
        **schemas.PROBLEMS,
    },
    dependencies=[Readable],
)
def snippet(db: Db, now: Now, number: Number, asked: Annotated[Asked, Query()]) -> Response:
    """
    For whoever sends notifications: the wave of a client from the name in its `clientInfo`, also of one
    never seen before, and whether it may be told by now. Without dependencies.
    """
    text = answers.plan_snippet(db, answers.Query(), now, number, asked.language)
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    return Response(text.encode(), media_type="text/plain; charset=utf-8", headers=headers)


@router.delete(
    "/plans/{id}",
    tags=["tell"],
    summary="Take a plan back",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def take_back(request: Request, number: Number) -> Response:
    """It stays, withdrawn: nothing is read of it any more, and another may be made."""
    with request.app.state.outages.writing.watching():
        request.app.state.planning.withdraw(number, actor=actor_of(request, "rest"))
    return Response(status_code=204)
