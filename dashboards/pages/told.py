"""What people told: aliases, exclusions, marks; what arrived in batches; and who did what."""

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import HTMLResponse

from dashboards.pages.frame import METHODS, new_router, shown
from dashboards.reading import reading_of
from service import answers
from service.pipeline import Pipeline

ROWS = 30
"""Rows of each table; all of them are behind the address below it."""
router = new_router()


@router.api_route("/told", methods=METHODS)
def told_page(request: Request) -> HTMLResponse:
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
            batches=look.ask(answers.batches, **every).as_json(),
            audit=look.ask(answers.audit, **every).as_json(),
            empty=None,
        )


@router.api_route("/undo/{batch}", methods=METHODS)
def undo_page(request: Request, batch: Annotated[int, Path(ge=1, le=2**31 - 1)]) -> HTMLResponse:
    """What taking a batch back would come to, before it is done."""
    pipeline: Pipeline = request.app.state.pipeline
    plan = pipeline.undo(batch, actor="page", dry_run=True)
    with reading_of(request) as look:
        return shown(request, look, "undo.html", plan=plan.as_json(), empty=None)
