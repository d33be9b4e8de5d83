"""The form that adds a filter: it says field, word and value, and leads to the page that they make."""

from fastapi import Request
from fastapi.responses import RedirectResponse

from dashboards.filters import with_value, without_value
from dashboards.pages.frame import HEADERS, METHODS, address, new_router
from dashboards.state import read_state
from service.answers.query import FILTERS
from service.errors import BadParameter
from service.names import TEXT_LIMIT

OWN = ("page", "field", "is", "value")
WORDS = ("is", "not")
FILTERED = (
    *("/", "/name", "/todo", "/clients", "/client", "/effect", "/reactions"),
    *("/catalogue", "/health", "/told"),
)
"""Pages that have the form."""
router = new_router()


@router.api_route("/filter", methods=METHODS)
def add_filter(request: Request) -> RedirectResponse:
    """Go on to a page with one filter more; an empty client is what names none."""
    pairs = request.query_params.multi_items()
    own = {key: value for key, value in pairs if key in OWN}
    state = read_state((key, value) for key, value in pairs if key not in OWN)
    page, field, value = own.get("page", ""), own.get("field", ""), own.get("value", "").strip()
    for key, given, known in (("page", page, FILTERED), ("field", field, FILTERS)):
        if given not in known:
            raise BadParameter(key, f"must be one of {', '.join(known)}")
    if own.get("is", "is") not in WORDS:
        raise BadParameter("is", f"must be one of {', '.join(WORDS)}")
    if not value and field != "client":
        raise BadParameter("value", f"missing; write the {field} that is meant")
    if len(value) > TEXT_LIMIT:
        raise BadParameter("value", f"at most {TEXT_LIMIT} characters")
    change = without_value if own.get("is") == "not" else with_value
    changed = {field: change(getattr(state, field), value)}
    root = request.scope.get("root_path", "")
    return RedirectResponse(address(root, page, state, **changed), 303, HEADERS)
