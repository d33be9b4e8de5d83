"""What clients did after notifications that the list of tools has changed."""

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
            "client": "claude-ai",
            "notifications": 4,
            "episodes": 2,
            "answered": 2,
            "ignored": 0,
            "stale_before": 6,
            "stale_after": 6,
            "change_pct": 0.0,
            "outcome": "answered_no_effect",
        }
    ],
    unattributed_notifications=1,
)
PAGE = schemas.page_of("Reactions", answers.ReactionRow, unattributed_notifications=int)


@router.get(
    "/reactions",
    summary="What clients did after notifications",
    response_model=PAGE,
    responses=schemas.documented(EXAMPLE, conflict=True),
    dependencies=[Readable],
)
def reactions(
    request: Request, db: Db, now: Now, asked: Annotated[parameters.Reactions, Query()]
) -> Response:
    """
    Every client that was notified in the range of a changed list of tools, by server and client:
    whether its sessions listed the tools again, and its stale calls before and after. This describes;
    it is not adjusted for anything and names no cause.

    The range chooses the notifications; listings and calls around them are read beyond it, up to
    `as_of`. An episode is notifications to one session with gaps of at most the refresh window
    (`LASTCALL_REFRESH_WINDOW_S`); a listing of that session from the first of them to that window after
    the last answers it. Stale calls count in the compare window (`LASTCALL_COMPARE_WINDOW_S`) before
    and after, once for each episode. `outcome` is `answered_`, `ignored_` or `mixed_` (all, none or some
    episodes answered) with `reduced`, `no_effect` or `increased` (stale calls after against before), or
    `no_stale_calls`, or `too_early` while the windows of an episode are not over (an earlier `until`
    leaves it out). `unattributed_notifications` counts those that name neither client nor session.
    """
    return respond(request, db, now, asked, answers.reactions, answers.ReactionRow)
