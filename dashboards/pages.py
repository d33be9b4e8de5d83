"""The pages of a running service."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from dashboards.templating import render, static_file
from service.answers.callers import callers
from service.answers.names import names
from service.answers.query import Query, moment_at
from service.store.engine import reading

router = APIRouter(include_in_schema=False)

ROWS = 200
"""Rows of a table before the page sends its reader to the API for the rest."""

CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'"


@router.api_route("/", methods=["GET", "HEAD"])
def names_page(request: Request) -> HTMLResponse:
    """Who still calls what, over everything that is stored."""
    state = request.app.state
    moment = moment_at(state.clock(), state.settings)
    with reading(state.engine) as connection:
        found = names(connection, Query(sort="-stale_calls", limit=ROWS), moment).as_json()
        who = callers(connection, Query(sort="-stale_calls", limit=ROWS), moment).as_json()
    html = render(
        "names.html",
        root=request.scope.get("root_path", ""),
        names=found,
        callers=who,
        range=found["range"],
        heard=found["range"]["since"] is not None,
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})


@router.get("/static/site.css")
def style() -> Response:
    """The style sheet."""
    return Response(static_file("site.css"), media_type="text/css")
