"""Which release each caller's copy of the list dates from."""

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
            "server": "maps",
            "release": "1.9",
            "client": "openai-mcp",
            "callers": 16,
            "stale_calls": 18,
            "names": ["tomtom-ev-routing"],
            "first_call": "2026-10-01T08:19:32.793Z",
            "last_call": "2026-10-05T21:02:11.090Z",
            "client_calls": 235,
            "client_failed_calls": 37,
            "client_stale_share": 0.7568,
        }
    ],
    releases=["1.9"],
    excluded_calls=2,
)
PAGE = schemas.page_of("Vintage", answers.VintageRow, releases=tuple[str, ...], excluded_calls=int)


@router.get(
    "/vintage",
    summary="Which release each copy of the list dates from",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def vintage(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Vintage, Query()]
) -> Response:
    """
    The callers of retired names, grouped by the release that their copy of the list dates from: a copy
    that holds a name whose last release was R is from R or before, and of several names the least R bounds
    it. Releases are text, and stand in the order of versions: 1.6.10, 1.9, 1.10; `releases` holds those of
    all rows in that order.
    """
    return respond(request, db, now, asked, answers.vintage, answers.VintageRow)
