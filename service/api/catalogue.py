"""The catalogue of retired names: listed, told, hidden, and looked over."""

from collections.abc import Mapping
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import create_model

from service import answers
from service.answers.catalogue import entry_row
from service.answers.query import instant_asked, plain
from service.api import parameters, schemas
from service.api.admission import read_body
from service.api.deps import Db, Now, Readable
from service.api.respond import respond
from service.api.told import body_of, text_of
from service.cataloguing import Cataloguing
from service.entries import Entry, Kept, told
from service.errors import BadParameter
from service.visitors import actor_of

router = APIRouter()

_ROW = {
    "server": "maps",
    "name": "tomtom-ev-routing",
    "last_release": "1.6.10",
    "replaced_by": ["tomtom-route-planner"],
    "message": None,
    "retired_at": "2026-10-01T00:00:00.000Z",
    "hidden": False,
    "versions": 1,
    "source": "rest",
    "actor": "rest",
    "said_at": "2026-10-05T10:15:02.000Z",
}
EXAMPLE = schemas.example([_ROW])
PAGE = schemas.page_of("Catalogue", answers.EntryRow)
_FAULT = {
    "server": "maps",
    "name": "tomtom-ev-routing",
    "rule": "replacement_retired",
    "weight": "wrong",
    "others": ["tomtom-route-planner", "tomtom-router"],
    "says": "its replacement tomtom-route-planner is itself retired; name tomtom-router instead",
}
_LINT = schemas.example([_FAULT])
_LINT_PAGE = schemas.page_of("Faults", answers.FaultRow)
_KEPT = create_model("KeptEntry", __base__=schemas.model_of(answers.EntryRow), outcome=(Kept, ...))


@router.get(
    "/catalogue",
    tags=["read"],
    summary="What the catalogue says of each retired name",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def catalogue(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Named, Query()]
) -> Response:
    """Every entry, hidden ones too, by server and name, as it is told now, whatever the range."""
    return respond(request, db, now, asked, answers.catalogue, answers.EntryRow)


@router.get(
    "/catalogue/history",
    tags=["read"],
    summary="Every version of every entry",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE),
    dependencies=[Readable],
)
def history(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Named, Query()]
) -> Response:
    """By server and name, the first version first; `versions` counts up to each."""
    return respond(request, db, now, asked, answers.history, answers.EntryRow)


@router.get(
    "/catalogue/lint",
    tags=["read"],
    summary="What is wrong with the catalogue",
    response_model=_LINT_PAGE,
    responses=schemas.documented(_LINT),
    dependencies=[Readable],
)
def lint(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Named, Query()]
) -> Response:
    """
    By server, name and rule: replacements that are retired themselves, lead in a circle or are not
    known; messages that leave out a name; names that are still listed, not catalogued, never called, or
    missing from the list of all names.
    """
    return respond(request, db, now, asked, answers.lint, answers.FaultRow)


# ----------------------------------------------------------------------------- telling

_TOLD: dict[str, Any] = {
    "server": "maps",
    "name": "tomtom-ev-routing",
    "last_release": "1.6.10",
    "replaced_by": ["tomtom-route-planner"],
    "message": "Call tomtom-route-planner in place of tomtom-ev-routing.",
    "retired_at": "2026-10-01T00:00:00Z",
}
_NAMED: dict[str, Any] = {"server": "maps", "name": "tomtom-ev-routing"}
_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_PROPERTIES: dict[str, Any] = {
    "server": {"type": "string", "minLength": 1},
    "name": {"type": "string", "minLength": 1},
    "last_release": _TEXT,
    "replaced_by": {
        "description": "the names, or the only one",
        "anyOf": [{"type": "array", "items": {"type": "string"}}, *_TEXT["anyOf"]],
    },
    "message": _TEXT,
    "retired_at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
}


def _body(example: Mapping[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "required": ["server", "name"],
        "additionalProperties": False,
        "properties": {name: _PROPERTIES[name] for name in example},
    }
    return schemas.body(schema, example)


def _responses(outcome: Kept, **changed: Any) -> dict[int | str, dict[str, Any]]:
    return schemas.kept({**_ROW, **changed, "outcome": outcome})


@router.post(
    "/catalogue",
    tags=["ingest"],
    summary="Say that a name is retired, and what else is known of it",
    openapi_extra=_body(_TOLD),
    response_model=_KEPT,
    responses=_responses(Kept.CREATED),
)
async def tell(request: Request) -> dict[str, Any]:
    """
    Add a version of an entry, whatever the Content-Type says. A member that is absent stays as it was
    said before, null takes it back; an empty `replaced_by` says that nothing replaces the name.

    `outcome` is `created`, `changed`, or `unchanged` where the last version says the same.
    """
    body = body_of(await read_body(request), _TOLD)
    facts = ("last_release", "replaced_by", "message")
    said: dict[str, Any] = {name: body[name] for name in facts if name in body}
    if "retired_at" in body:
        at = text_of(body, "retired_at")
        said["retired_us"] = (
            None if at is None else instant_asked("retired_at", at, ZoneInfo("UTC"))
        )
    if body.get("name") is None:
        raise BadParameter("name", "missing; name the tool, such as tomtom-ev-routing")
    one = told(body["name"], **said)
    cataloguing: Cataloguing = request.app.state.cataloguing
    with request.app.state.outages.writing.watching():
        [kept] = await run_in_threadpool(
            cataloguing.entries,
            text_of(body, "server"),
            [one],
            source="rest",
            actor=actor_of(request, "rest"),
        )
    return _shown(*kept)


@router.post(
    "/catalogue/hide",
    tags=["ingest"],
    summary="Take a name out of all answers but the catalogue's",
    openapi_extra=_body(_NAMED),
    response_model=_KEPT,
    responses=_responses(Kept.CHANGED, hidden=True, versions=2),
)
async def hide(request: Request) -> dict[str, Any]:
    """For a mistyped or hostile name. Nothing of it is deleted, and it can be shown again."""
    return await _hide(request, hidden=True)


@router.post(
    "/catalogue/unhide",
    tags=["ingest"],
    summary="Show a hidden name again",
    openapi_extra=_body(_NAMED),
    response_model=_KEPT,
    responses=_responses(Kept.CHANGED, versions=3),
)
async def unhide(request: Request) -> dict[str, Any]:
    """With all that was said of it before and since."""
    return await _hide(request, hidden=False)


async def _hide(request: Request, *, hidden: bool) -> dict[str, Any]:
    body = body_of(await read_body(request), _NAMED)
    server, name = (text_of(body, member) for member in ("server", "name"))
    cataloguing: Cataloguing = request.app.state.cataloguing
    with request.app.state.outages.writing.watching():
        kept = await run_in_threadpool(
            cataloguing.hide, server, name, hidden=hidden, actor=actor_of(request, "rest")
        )
    return _shown(*kept)


def _shown(entry: Entry, outcome: Kept) -> dict[str, Any]:
    return {**plain(entry_row(entry)), "outcome": outcome}
