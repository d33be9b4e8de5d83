"""The page that says how far numbers can be trusted, and the files that all pages load."""

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from dashboards.empty import no_arrivals
from dashboards.figures.records import FATES
from dashboards.pages.frame import EVENTS, METHODS, new_router, own_rows, shown
from dashboards.reading import arrivals, reading_of
from dashboards.templating import asset
from service import answers

router = new_router()


@router.api_route("/health", methods=METHODS)
def health_page(request: Request) -> HTMLResponse:
    """How far the numbers can be trusted: what arrived, from where, and what was not heard."""
    with reading_of(request, arrivals=True) as look:
        found = arrivals(look, **own_rows(look))
        return shown(
            request,
            look,
            "health.html",
            health=found.as_json(),
            fates=FATES,
            rejects=look.ask(answers.rejects, name=None, client=None, limit=EVENTS).as_json(),
            empty=no_arrivals(look, len(found.items)),
        )


@router.get("/static/{path:path}")
def static(path: str) -> Response:
    """The files that pages load."""
    body, media_type = asset(path)
    # A vendored file bears its version in its name.
    age = "max-age=31536000, immutable" if path.startswith("vendor/") else "max-age=300"
    headers = {"Cache-Control": f"private, {age}", "X-Content-Type-Options": "nosniff"}
    return Response(body, media_type=media_type, headers=headers)
