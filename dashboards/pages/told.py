"""What people told: aliases, exclusions, marks, notes; what arrived in batches; and who did what."""

from typing import Annotated

from fastapi import Path, Request, Response

from dashboards.pages.frame import METHODS, new_router, shown
from dashboards.reading import reading_of
from service import answers
from service.taking_back import TakingBack
from service.visitors import actor_of, visitor_of

ROWS = 30
"""Rows of each table; all of them are behind the address below it."""
AMONG = ("suppressed", "resend")
"""What is told of duplicates: no fate of a record, but of the same records again."""
router = new_router()


@router.api_route("/told", methods=METHODS)
def told_page(request: Request) -> Response:
    """Everything that changes what is counted, each with a way back."""
    with reading_of(request) as look:
        every = {"name": None, "client": None, "limit": ROWS}
        return shown(
            request,
            look,
            "told.html",
            aliases=look.ask(answers.aliases, server=None, **every).as_json(),
            exclusions=look.ask(answers.exclusions, **every).as_json(),
            marks=look.ask(answers.marks, limit=ROWS).as_json(),
            notes=look.ask(answers.notes, **every).as_json(),
            batches=look.ask(answers.batches, **every).as_json(),
            audit=look.ask(answers.audit, **every).as_json()
            if visitor_of(request).is_admin
            else None,
            empty=None,
        )


@router.api_route("/undo/{batch}", methods=METHODS)
def undo_page(request: Request, batch: Annotated[int, Path(ge=1, le=2**31 - 1)]) -> Response:
    """What taking a batch back would come to, before it is done."""
    taking_back: TakingBack = request.app.state.taking_back
    plan = taking_back.undo(batch, actor=actor_of(request, "page"), dry_run=True)
    fates = {word: number for word, number in plan.records.items() if word not in AMONG}
    beside = {word: plan.records[word] for word in AMONG if word in plan.records}
    with reading_of(request) as look:
        return shown(
            request, look, "undo.html", None, plan=plan.as_json(), records=fates, beside=beside
        )
