"""The page of what is to be done: whom to reach, about what, with which words."""

from fastapi import Request, Response

from dashboards.empty import emptiness
from dashboards.pages.frame import METHODS, new_router, shown
from dashboards.reading import reading_of
from service import answers

ROWS = 40
router = new_router()


@router.api_route("/todo", methods=METHODS)
def todo_page(request: Request) -> Response:
    """Whom to reach, the most pressing first, with messages ready to copy."""
    with reading_of(request) as look:
        found = look.ask(answers.todo, show=look.state.show, limit=ROWS, cursor=look.state.cursor)
        return shown(
            request,
            look,
            "todo.html",
            todo=found.as_json(),
            left_out=found.more["excluded_calls"],
            empty=emptiness(look, found.more["totals"].rows, found),
        )
