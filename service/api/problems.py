"""Everything that goes wrong becomes one kind of answer: problem+json that says what would succeed."""

from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from service.answers.query import dumps
from service.api.parameters import HINTS
from service.errors import BadParameter, LastCallError


def install(app: FastAPI) -> None:
    """Register the handlers."""
    app.add_exception_handler(LastCallError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unknown)


def problem(
    status: int,
    title: str,
    detail: str,
    parameter: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """One refusal."""
    body: dict[str, Any] = {"type": "about:blank", "title": title, "status": status}
    body["detail"] = detail
    if parameter is not None:
        body["parameter"] = parameter
    return Response(dumps(body), status, headers, media_type="application/problem+json")


def _known(_request: Request, error: Exception) -> Response:
    assert isinstance(error, LastCallError)  # noqa: S101 - that is what it is registered for
    return refusal(error)


def refusal(error: LastCallError) -> Response:
    """What a known error answers; one that will pass says when to come again."""
    parameter = error.parameter if isinstance(error, BadParameter) else None
    headers = {"Retry-After": str(error.retry_after_s)} if error.status == 503 else None
    return problem(error.status, error.title, error.detail, parameter, headers)


def _invalid(request: Request, error: Exception) -> Response:
    """A value that the parameter's type refuses, or a parameter that nothing knows."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - see above
    first = error.errors()[0]
    place = [str(step) for step in first["loc"]]
    parameter = place[-1] if place else "request"
    if first["type"] == "extra_forbidden":
        known = ", ".join(_known_parameters(request))
        detail = f"unknown parameter; use {known}"
    elif parameter in HINTS:
        detail = f"must be {HINTS[parameter]}"
    else:
        detail = str(first["msg"])
    refusal = BadParameter(parameter, detail)
    return problem(refusal.status, refusal.title, refusal.detail, parameter)


def _known_parameters(request: Request) -> list[str]:
    """The parameters of the route, from the document that describes it."""
    verbs = documented(request)
    parameters = verbs.get(request.method.lower(), {}).get("parameters", [])
    return [parameter["name"] for parameter in parameters if parameter["in"] == "query"]


def documented(request: Request) -> dict[str, Any]:
    """What the document says of the route, by method; the route itself does not know its prefix."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    path = getattr(request.scope.get("route"), "path_format", request.url.path)
    exact = paths.get(path) or paths.get(request.url.path)
    return exact or next((said for name, said in paths.items() if name.endswith(path)), {})


def _unknown(_request: Request, _error: Exception) -> Response:
    return problem(
        500, "Internal error", "this is a fault of the service; its log says more under this time"
    )
