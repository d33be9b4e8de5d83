"""Links that show one filter to whoever holds them: made here, listed and revoked."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from service.answers.query import iso
from service.api import schemas
from service.api.admission import read_body
from service.api.deps import Readable
from service.api.telling import GONE, REFUSALS, body, members_of
from service.shares import Share
from service.sharing import EXPIRES, Sharing
from service.visitors import actor_of

router = APIRouter(tags=["operate"])

_ASKED = {
    "server": "maps",
    "name": "tomtom-ev-routing",
    "client": "claude-code",
    "expires": EXPIRES,
    "embed": "https://wiki.example",
}
_KEPT = {
    "id": 3,
    "server": "maps",
    "name": "tomtom-ev-routing",
    "client": "claude-code",
    "embed": ["https://wiki.example"],
    "created_at": "2026-10-05T12:00:00.000Z",
    "actor": "anna",
    "expires_at": "2026-11-04T12:00:00.000Z",
    "last_used": None,
    "revoked_at": None,
    "revoked_by": None,
    "stands": True,
}
_MADE = {**_KEPT, "path": "/shared/lcs_…/"}


class SharedLink(BaseModel):
    """A link. Its secret is not known any more."""

    id: int
    server: str
    name: Annotated[str | None, Field(description="the retired name that it shows; null for any")]
    client: Annotated[
        str | None,
        Field(description="the client that it shows; null for any, empty for calls that name none"),
    ]
    embed: Annotated[list[str], Field(description="origins whose pages may frame it")]
    created_at: schemas.InstantText
    actor: str
    expires_at: Annotated[schemas.InstantText | None, Field(description="null: never")]
    last_used: schemas.InstantText | None
    revoked_at: schemas.InstantText | None
    revoked_by: str | None
    stands: Annotated[bool, Field(description="whether it shows anything now")]


class SharedLinks(BaseModel):
    """Every link."""

    items: list[SharedLink]


class MadeLink(SharedLink):
    """A link that was just made."""

    path: Annotated[
        str, Field(description="where it leads, below the address of the service; told this once")
    ]


@router.get(
    "/shares",
    summary="Links that show one filter",
    response_model=SharedLinks,
    responses={
        200: {"content": {"application/json": {"example": {"items": [_KEPT]}}}},
        503: schemas.problem("The database cannot be read now; ask again"),
    },
)
def shares(request: Request) -> dict[str, Any]:
    """Every link, the oldest first, those that have ended or were revoked too; not their secrets."""
    now_us = request.app.state.clock()
    with request.app.state.outages.reading.watching():
        return {"items": [plain_of(share, now_us) for share in _sharing(request).shares()]}


@router.post(
    "/shares",
    summary="Share one filter by a link",
    openapi_extra=body(
        _ASKED,
        ("server",),
        server="the MCP server that the link shows",
        name="only this retired name; any, if not given",
        client="only this client; any, if not given; empty: only calls that name none",
        expires=f"when it ends: hours, days or weeks such as `12h`, `30d`, `8w`, or `never`; {EXPIRES} if not given",
        embed="origins whose pages may frame it, with a space between them; none, if not given",
    ),
    response_model=MadeLink,
    responses={200: {"content": {"application/json": {"example": _MADE}}}, **REFUSALS},
)
async def share(request: Request) -> Response:
    """
    Whoever holds the link reads pages, figures, answers and tables of that filter below its `path`, without a token,
    and nothing else. `path` is told in this answer, and never again.
    """
    said = members_of(await read_body(request), _ASKED)
    with request.app.state.outages.writing.watching():
        made = await run_in_threadpool(
            _sharing(request).add,
            said.get("server"),
            said.get("name"),
            said.get("client"),
            expires=said.get("expires"),
            embed=said.get("embed", "").split(),
            actor=actor_of(request, "rest"),
        )
    kept = plain_of(made.share, request.app.state.clock())
    text = json.dumps({**kept, "path": made.path}, ensure_ascii=False, allow_nan=False)
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type="application/json", headers=headers)


@router.delete(
    "/shares/{id}",
    summary="End a link",
    status_code=204,
    responses={**GONE, 422: schemas.problem("The number cannot be used")},
    dependencies=[Readable],
)
def revoke(
    request: Request, number: Annotated[int, Path(alias="id", ge=1, le=2**31 - 1)]
) -> Response:
    """From now on it shows nothing; the audit keeps both."""
    with request.app.state.outages.writing.watching():
        _sharing(request).revoke(number, actor=actor_of(request, "rest"))
    return Response(status_code=204)


def plain_of(share: Share, now_us: int) -> dict[str, Any]:
    """A link as JSON."""
    times = {
        "created_at": share.created_us,
        "expires_at": share.expires_us,
        "last_used": share.used_us,
        "revoked_at": share.revoked_us,
    }
    return {
        "id": share.id,
        "server": share.bound.server,
        "name": share.bound.name,
        "client": share.bound.client,
        "embed": list(share.embed),
        "actor": share.actor,
        **{name: None if at_us is None else iso(at_us) for name, at_us in times.items()},
        "revoked_by": share.revoked_by,
        "stands": share.stands(now_us),
    }


def _sharing(request: Request) -> Sharing:
    sharing: Sharing = request.app.state.sharing
    return sharing
