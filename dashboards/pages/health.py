"""The page that says how far numbers can be trusted, and the files that all pages load."""

from fastapi import Request, Response

from dashboards.empty import no_arrivals
from dashboards.figures.records import FATES
from dashboards.pages.frame import EVENTS, METHODS, new_router, own_rows, shown
from dashboards.reading import arrivals, reading_of
from service import answers

router = new_router()


@router.api_route("/health", methods=METHODS)
def health_page(request: Request) -> Response:
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
