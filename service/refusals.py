"""Routes that answer known errors in their own words, in place of problem+json: receivers and pages."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from service.errors import LastCallError

Refuse = Callable[[Request, LastCallError], Response]
"""What a request is answered that came to this."""


def refuse_of(route: object) -> Refuse | None:
    """In which form a route refuses; None where that is problem+json."""
    found: Refuse | None = getattr(route, "refuses", None)
    return found


def route_class(refuse: Refuse) -> type[APIRoute]:
    """Return the class of routes that answer known errors by *refuse*."""

    class Route(APIRoute):
        refuses = staticmethod(refuse)

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def answer(request: Request) -> Response:
                try:
                    return await handler(request)
                except LastCallError as error:
                    return refuse(request, error)

            return answer

    return Route
