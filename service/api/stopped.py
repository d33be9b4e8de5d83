"""Whether everyone has stopped calling a retired name."""

from collections.abc import Iterator
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.answers.query import ABSENT
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "name": "tomtom-static-map",
            "verdict": "still calling",
            "reason": None,
            "probability": 0.125,
            "interval": [0.0838, 0.3751],
            "wait_days": 48.3,
            "active_days": 36,
            "silent_days": 6,
            "last_call": "2026-10-27T22:14:12.131Z",
            "upper_bound_per_day": 0.5,
            "stale_calls": 59,
            "seen_since": 37,
            "silent_altogether": False,
            "longest_pause_days": 9,
            "covered": True,
            "gap_days": 0,
            "heard_until": "2026-11-03T00:00:00.000Z",
            "weakest": {"client": "n8n", "verdict": "still calling", "probability": 0.125},
            "clients": {"still calling": 1, "stopped": 1},
            "bounds": [0.125, 0.125],
            "unseen_chance": 0.0,
        }
    ],
    excluded_calls=2,
)
PAGE = schemas.page_of("Stopped", answers.StoppedRow, excluded_calls=int)

_NESTED: dict[str, type] = {
    "weakest": answers.WeakestClient,
    "second_opinions": answers.SecondOpinions,
}


def _columns() -> Iterator[tuple[str, str, str | None]]:
    """Each column of a table: its name, the member of a row, and the member of that, where it has some."""
    for member in fields(answers.StoppedRow):
        if member.name in _NESTED:
            for inner in fields(_NESTED[member.name]):
                yield f"{member.name}_{inner.name}", member.name, inner.name
        else:
            yield member.name, member.name, None


Line = make_dataclass(
    "Line", [(name, Any, field(default=ABSENT)) for name, *_ in _columns()], frozen=True
)
"""A row of the table."""


def line(row: answers.StoppedRow) -> Any:
    """A row with the weakest client and second opinions as columns."""
    cells = {}
    for column, name, inner in _columns():
        value = getattr(row, name)
        if inner is not None and value is not None and value is not ABSENT:
            value = getattr(value, inner)
        cells[column] = value
    return Line(**cells)


@router.get(
    "/stopped",
    summary="Has everyone stopped?",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def stopped(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Stopped, Query()]
) -> Response:
    """
    For every retired name known as of `as_of`, by server and name, whether everyone stopped calling it;
    with `by=client` for each client that called one.

    `verdict` is `still calling`, `cannot tell` (`wait_days` says how long to wait), `probably stopped`
    (95 %), `stopped` (95 % by four models), or `too few calls to judge` (fewer than four days with a call;
    no number). Everyone is every client that called the name in the range, and the calls that name none:
    one client with too few calls leaves everyone open, and `weakest` names the one it hangs on. Silence
    counts days that were heard; where some were not, nobody can say that everyone stopped (`reason` is
    `gap` or `not_heard`): ask with `since` to judge by what came after. Calls before somebody said it was
    fixed (`marks`) do not count, and the first one after reopens it. The range chooses the calls; the
    question is asked at `until`, `as_of` or now, whichever comes first.

    `upper_bound_per_day` is one-sided, at 95 %. What the words claim is in docs/guides/reading-verdicts.md,
    why so in docs/adr/0024-has-everyone-stopped.md.
    """
    return respond(request, db, now, asked, answers.stopped, Line, flat=line)
