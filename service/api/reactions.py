"""What clients did after notifications that the list of tools has changed."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from service import answers
from service.analysis.labels import LABELS
from service.api import parameters, schemas
from service.api.deps import Db, Now, Readable
from service.api.respond import respond

router = APIRouter(tags=["read"])

_SHARES = {
    "labels": dict.fromkeys(LABELS, 0) | {"refreshed": 31, "ignored": 8, "too_early": 1},
    "measured": 39,
    "refreshed": 31,
    "share": 0.7949,
    "share_low": 0.6447,
    "share_high": 0.8922,
    "background_n": 140,
    "background_listed": 14,
    "background_share": 0.1,
    "excess": 0.7721,
    "excess_low": 0.592,
    "excess_high": 0.8888,
    "watched": 40,
    "median_s": 0.174,
    "median_low_s": 0.174,
    "median_high_s": 0.174,
}
EXAMPLE = schemas.example(
    [
        {
            "server": "maps",
            "client": "claude-ai",
            "notifications": 52,
            "episodes": 40,
            "answered": 31,
            "ignored": 9,
            "stale_before": 6,
            "stale_after": 6,
            "change_pct": 0.0,
            "outcome": "mixed_no_effect",
            "in_flight": 2,
            "listed_elsewhere": 4,
            "versions": 3,
            "eras": ["stateful"],
            "channel": "unknown",
            "shares": _SHARES,
        }
    ],
    totals={
        "clients": 1,
        "notifications": 52,
        "episodes": 40,
        "in_flight": 2,
        "listed_elsewhere": 4,
        "shares": _SHARES
        | dict.fromkeys(
            ("share", "share_low", "share_high", "excess", "excess_low", "excess_high")
        ),
    },
    unattributed_notifications=1,
    excluded_notifications=0,
)
PAGE = schemas.page_of(
    "Reactions",
    answers.ReactionRow,
    totals=answers.ReactionTotals,
    unattributed_notifications=int,
    excluded_notifications=int,
)
_RESPONSES = schemas.documented(EXAMPLE, conflict=True)
_RESPONSES[200]["content"]["text/markdown"] = {"schema": {"type": "string"}}

LATENCY_EXAMPLE = schemas.example(
    [
        {
            "after_s": 0.174,
            "at_risk": 40,
            "events": 31,
            "listed": 0.775,
            "listed_low": 0.6374,
            "listed_high": 0.8885,
        }
    ],
    watched=40,
    listed=31,
    median_s=0.174,
    median_low_s=0.174,
    median_high_s=0.174,
)
LATENCY = schemas.page_of(
    "Latency",
    answers.LatencyRow,
    watched=int,
    listed=int,
    median_s=float | None,
    median_low_s=float | None,
    median_high_s=float | None,
)


@router.get(
    "/reactions",
    summary="What clients did after notifications",
    response_model=PAGE,
    responses=_RESPONSES,
    dependencies=[Readable],
)
def reactions(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Reactions, Query()]
) -> Response:
    """
    Every client that was notified in the range of a changed list of tools, by server and client
    (`by=version`, `by=era`: each version of it, or era of the protocol, by itself): whether its sessions
    listed the tools again, and its stale calls before and after. This describes; it is not adjusted for
    anything and names no cause.

    The range chooses the notifications; listings and calls around them are read beyond it, up to
    `as_of`. An episode is notifications to one session with gaps of at most the refresh window
    (`LASTCALL_REFRESH_WINDOW_S`); a listing of that session from the first of them to that window after
    the last answers it. Stale calls count in the compare window (`LASTCALL_COMPARE_WINDOW_S`) before
    and after, once for each episode. `outcome` is `answered_`, `ignored_` or `mixed_` (all, none or some
    episodes answered) with `reduced`, `no_effect` or `increased` (stale calls after against before), or
    `no_stale_calls`, or `too_early` while the windows of an episode are not over (an earlier `until`
    leaves it out). `unattributed_notifications` counts those that name neither client nor session,
    `excluded_notifications` those to clients that a rule of `exclusions` leaves out.

    `shares` says how many listed because they were told, and how sure that is; `totals` is the same over
    all rows. Each episode has one of the `labels`: `refreshed` at once, `came_back` later in the same
    session (without session ids `listed_within` the window, `listed_later`), `ignored` (three sessions or
    calls followed, and no listing of that session), `later_connect` (fewer, and a listing of another
    session), `silent` (nothing for seven days), `too_few`, `too_early`, or `no_channel` (the log tells who
    opened a stream, and this session had not), which no share is of. No share is shown of one episode, and
    in `totals` of one client. `format=md` is a report about all rows, with its method.
    """
    if asked.format != "md":
        return respond(request, db, now, asked, answers.reactions, answers.ReactionRow)
    headers = {"Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    text = answers.reaction_report(db, asked.query(), now)
    return Response(text.encode(), media_type="text/markdown; charset=utf-8", headers=headers)


@router.get(
    "/reactions/latency",
    summary="How long clients take to list again after a notification",
    response_model=LATENCY,
    responses=schemas.documented(LATENCY_EXAMPLE),
    dependencies=[Readable],
)
def latency(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Latency, Query()]
) -> Response:
    """
    The share that had listed the tools again, step by step over the seconds since the first notification of an
    episode, with a 95 % band: Kaplan and Meier's estimate, of all episodes that are asked for together. A
    session that did not list is watched to its last line (through the refresh window at least), its next episode or
    `as_of`; beyond the window the curve therefore speaks of sessions that were still heard. The medians are
    None where they are not reached.
    """
    return respond(request, db, now, asked, answers.latency, answers.LatencyRow)
