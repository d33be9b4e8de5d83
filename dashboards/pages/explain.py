"""What is made of one pasted line. The line is in no address, and is neither stored nor logged."""

from secrets import token_bytes

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from dashboards.pages.form import read_form
from dashboards.pages.frame import HEADERS, METHODS, framed, new_router
from dashboards.state import State, read_state
from service.answers.arrivals import REMEDIES
from service.events import Rejected
from service.ingest.explain import Explanation, explain
from service.ingest.keys import Hasher, Secrets
from service.pipeline import recogniser

router = new_router()


@router.api_route("/explain", methods=METHODS)
def explain_page(request: Request) -> HTMLResponse:
    """A field for a line."""
    return _page(request, read_state(request.query_params.multi_items()), "", None)


@router.post("/explain", response_model=None)
async def explain_line(request: Request) -> HTMLResponse:
    """Show each wrapper, the profile, the fields and the outcome of a line, as `lastcall explain` does."""
    form = await read_form(request)
    line = (form.one("line") or "").strip("\n")
    found = await run_in_threadpool(_explained, request, line.partition("\n")[0])
    return _page(request, State(), line, found)


def _explained(request: Request, line: str) -> Explanation:
    passing = Hasher(Secrets(key=token_bytes(32), identity=token_bytes(32)))
    reads = recogniser(request.app.state.settings, passing, request.app.state.clock)
    return explain(line.encode("utf-8", "replace"), reads)


def _page(request: Request, state: State, line: str, found: Explanation | None) -> HTMLResponse:
    outcome = found.outcome if found else None
    return framed(
        request,
        state,
        "explain.html",
        headers={**HEADERS, "Cache-Control": "no-store"},
        line=line,
        found=found.as_json() if found else None,
        matched=next((tried.profile for tried in found.tried if tried.why_not is None), None)
        if found
        else None,
        remedy=REMEDIES[outcome.reason] if isinstance(outcome, Rejected) else None,
    )
