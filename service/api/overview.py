"""Every retired name with who still calls it, and whether that gets better."""

from dataclasses import fields, make_dataclass
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.analysis.stopped import WORDS
from service.answers.names import NameRow
from service.answers.overview_periods import CHANGE_DAYS, WINDOWS
from service.answers.overview_rows import Bucket
from service.answers.query import Absent
from service.api import names, parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])
MemberT = TypeVar("MemberT")

_COUNTS = {"stale_calls": 412, "clients": 9, "callers": 11}
_WINDOW = {"until": "2026-10-06T00:00:00.000Z", **_COUNTS, "covered_hours": 108}
_WINDOWS = [
    {"days": 7, "since": "2026-09-29T00:00:00.000Z", **_WINDOW, "hours": 168},
    {"days": 30, "since": "2026-09-06T00:00:00.000Z", **_WINDOW, "hours": 720},
    {"days": 90, "since": "2026-07-08T00:00:00.000Z", **_WINDOW, "hours": 2160},
]
_CHANGE = {
    "days": 28,
    "since": "2026-09-08T00:00:00.000Z",
    "until": "2026-10-06T00:00:00.000Z",
    "before_since": "2026-08-11T00:00:00.000Z",
    "stale_calls": 412,
    "stale_calls_before": 0,
    "clients": 9,
    "clients_before": 0,
    "covered_hours": 108,
    "hours": 672,
    "covered_hours_before": 0,
    "hours_before": 672,
    "matched_hours": 0,
    "matched_calls": 0,
    "matched_calls_before": 0,
    "word": "cannot_compare",
    "why": "short_history",
    "pct": None,
}
EXAMPLE = schemas.example(
    [
        {
            **names.EXAMPLE["items"][0],
            **_COUNTS,
            "unattributed_calls": 31,
            "retired_at": "2026-10-01T08:19:32.793Z",
            "last_call_ever": "2026-10-05T21:02:11.090Z",
            "state": "called",
            "quiet_hours": 2,
            "quiet_covered_hours": 2,
            "windows": _WINDOWS,
            "change": _CHANGE,
            "top_client": {
                "client": "claude-code",
                "stale_calls": 120,
                "cure": {
                    "verdict": "still calling",
                    "word": "refresh",
                    "do": "Ask whoever runs it to connect anew, so that it fetches the list.",
                },
            },
            "spark": [
                {
                    "start": "2026-10-01T00:00:00.000Z",
                    "label": "2026-10-01",
                    "value": 90,
                    "covered": True,
                    "notifications": 2,
                }
            ],
            "verdict": {
                "word": "still calling",
                "reason": None,
                "because": "Called on 61 days. Quiet for 1 day, and a caller paused for up to 9 before.",
                "probability": 0.125,
                "interval": [0.0838, 0.3751],
                "wait_days": 48.3,
            },
        }
    ],
    bucket="day",
    excluded_calls=2,
    totals={
        "names": 1,
        "state": {"called": 1, "quiet": 0, "not_heard": 0},
        **_COUNTS,
        "unattributed_calls": 31,
        "windows": [{**window, "names": 1} for window in _WINDOWS],
        "change": {**_CHANGE, "names": 1, "names_before": 0},
        "verdict": dict.fromkeys(WORDS, 0) | {"still calling": 1},
    },
)
PAGE = schemas.page_of(
    "Overview",
    answers.OverviewRow,
    bucket=Bucket,
    totals=answers.OverviewTotals,
    excluded_calls=int,
)

_SINGLE = (
    *(member.name for member in fields(NameRow)),
    "retired_at",
    "last_call_ever",
    "state",
    "quiet_hours",
    "quiet_covered_hours",
)
_IN_VERDICT = {"verdict": "word", "because": "because", "wait_days": "wait_days"}
"""Column → member of a verdict; empty where no detail is asked for."""
_IN_WINDOW = ("stale_calls", "clients", "callers", "covered_hours", "hours")
_IN_CHANGE = ("stale_calls", "clients", "covered_hours", "hours", "matched_calls")


def _there(member: MemberT | Absent | None) -> MemberT | None:
    """A member of a row, None where the row has none."""
    return None if isinstance(member, Absent) else member


def cells(row: answers.OverviewRow) -> dict[str, Any]:
    """
    A row as cells of a table: windows as columns such as `clients_7d`, the change as those of 28 days
    and the 28 before; without `spark`, whose values mean nothing without their coverage (`series` has
    both as rows).
    """
    found = {name: getattr(row, name) for name in _SINGLE}
    for window in row.windows:
        found |= {f"{name}_{window.days}d": getattr(window, name) for name in _IN_WINDOW}
    for name in _IN_CHANGE:
        found[f"{name}_{CHANGE_DAYS}d"] = getattr(row.change, name)
        found[f"{name}_{CHANGE_DAYS}d_before"] = getattr(row.change, f"{name}_before")
    found[f"matched_hours_{CHANGE_DAYS}d"] = row.change.matched_hours
    found |= {f"change_{name}": getattr(row.change, name) for name in ("word", "why", "pct")}
    found["windows_until"] = row.change.until
    found["top_client"] = row.top_client and row.top_client.client
    found["top_client_calls"] = row.top_client and row.top_client.stale_calls
    cure = None if row.top_client is None else _there(row.top_client.cure)
    found["top_client_cure"] = cure and cure.word
    verdict = _there(row.verdict)
    found |= {name: verdict and getattr(verdict, of) for name, of in _IN_VERDICT.items()}
    return found


_COLUMNS = (
    *_SINGLE,
    *(f"{name}_{days}d" for days in WINDOWS for name in _IN_WINDOW),
    *(f"{name}_{CHANGE_DAYS}d{half}" for name in _IN_CHANGE for half in ("", "_before")),
    f"matched_hours_{CHANGE_DAYS}d",
    *(f"change_{name}" for name in ("word", "why", "pct")),
    "windows_until",
    "top_client",
    "top_client_calls",
    "top_client_cure",
    *_IN_VERDICT,
)
Line = make_dataclass("Line", [(name, Any) for name in _COLUMNS], frozen=True)
"""A row of the table."""


@router.get(
    "/overview",
    summary="Every retired name with who still calls it, and whether that gets better",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def overview(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Overview, Query()]
) -> Response:
    """
    Every retired name known as of `as_of`, by server and name, with the counts of `names` for the same
    question and what looks back from `as_of` or now, whichever comes first: `windows` of the last 7, 30
    and 90 times 24 hours, `change` of the last 28 against the 28 before, and `state`.

    `state` is `called` (a call in the last 7 times 24 hours), `quiet` (none, and the server was watched in
    all of these hours) or `not_heard` (none, but it was not watched in all of them: silence proves
    nothing). `change` describes, before and after: it is not adjusted for anything and names no cause.
    It compares the hours that were heard in both periods, hour of the week matched: what was not heard in
    one is left out of the other too. There are `matched_hours` of 672, and the calls in them are
    `matched_calls` after `matched_calls_before`. Of these, `word` is `fewer`, `more`, `equal`, `none`, or
    `cannot_compare`, where fewer than 336 hours match (`why` is `gap`) or the log does not reach back so
    far (`short_history`); `pct` is null where either are fewer than 30. Its other counts are of all of
    each period.

    With `client`, all of it is about the calls of that client, of the names that it called in the range.
    `spark` has at most 100 buckets of the range; `bucket` says how long they are. `totals` are of the rows
    of all pages. `sort` takes any column of a single value but `message`.

    With `detail=true`, rows have the `verdict` of `stopped` on the clients asked for, in all time, with the reason
    in a sentence, `top_client` what would make that client stop, `spark` the notifications of the server, and
    `totals` how many names have each verdict. `sort=need` then puts first what needs doing: by verdict, from
    still calling to stopped, then by active days and by calls, the most first.

    The table has windows and
    change as columns, and no `spark`.
    """
    return respond(
        request, db, now, asked, answers.overview, Line, flat=lambda row: Line(**cells(row))
    )
