"""Refusals in the words of a protocol, in place of problem+json."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from service.api.problems import RETRY_AFTER_S
from service.errors import LastCallError

Refuse = Callable[[Request, LastCallError], Response]
"""What a request is answered that came to this."""


def route_class(refuse: Refuse) -> type[APIRoute]:
    """Return the class of routes that answer known errors by *refuse*."""

    class Route(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def answer(request: Request) -> Response:
                try:
                    return await handler(request)
                except LastCallError as error:
                    return refuse(request, error)

            return answer

    return Route


def headers_of(error: LastCallError) -> dict[str, str]:
    """Return when to come again, where that helps."""
    return {"Retry-After": str(RETRY_AFTER_S)} if error.status == 503 else {}
