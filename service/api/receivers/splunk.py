"""`/services/collector`: Splunk's HTTP Event Collector. Acknowledgements are not offered."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from service.answers.query import dumps
from service.api.deliver import deliver
from service.api.receivers.shared import Server, answers, headers_of, status_of, takes
from service.errors import LastCallError
from service.ingest.bodies import splunk
from service.refusals import route_class

_SUCCESS: Final = 0
_CODES: Final = {400: 6, 401: 3, 403: 4, 413: 27, 503: 9}
"""Splunk's own numbers of what went wrong: invalid data format, invalid authorization, invalid token, entity too
large, server is busy."""
_NO_DATA: Final = 5
_INVALID: Final = {splunk.BROKEN: 6, splunk.NO_EVENT: 12}
_HEALTHY: Final = 17

Source = Annotated[str | None, Query(description="the feed that sends it; if not given, `splunk`")]


def _refusal(_request: Request, error: LastCallError) -> Response:
    status = status_of(error)
    if isinstance(error, splunk.Invalid):
        said = {"text": error.detail, "code": _INVALID[error.detail]}
        content = dumps({**said, "invalid-event-number": error.number})
        return Response(content, status, media_type="application/json")
    code = _NO_DATA if isinstance(error, splunk.NoData) else _CODES.get(status, _CODES[400])
    return _said(error.detail, code, status, headers_of(error))


def _said(
    text: str, code: int, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    content = dumps({"text": text, "code": code})
    return Response(content, status, headers, media_type="application/json")


router = APIRouter(tags=["receivers"], route_class=route_class(_refusal))

_ANSWERS: Final = answers(200, "Everything is stored: code 0", "application/json")
_EXAMPLE: Final[dict[str, Any]] = {
    "time": 1791195302.114,
    "event": {"level": "info", "msg": "Server started"},
}


@router.post("/services/collector/event/1.0", include_in_schema=False)
@router.post("/services/collector/event", include_in_schema=False)
@router.post(
    "/services/collector",
    summary="Store Splunk events",
    response_class=Response,
    responses=_ANSWERS,
    openapi_extra=takes("application/json", {"type": "object"}, _EXAMPLE),
)
async def event(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take objects one after the other, each with an `event` that is a record, or the line of one.

    Also at `/services/collector/event` and `/services/collector/event/1.0`. The `time` of an event counts
    where its record has none. A body of which nothing is an event, or whose last one is cut, is refused.
    """
    read = splunk.events(request.headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="splunk")
    return _said("Success", _SUCCESS)


@router.post("/services/collector/raw/1.0", include_in_schema=False)
@router.post(
    "/services/collector/raw",
    summary="Store lines sent to Splunk",
    response_class=Response,
    responses=_ANSWERS,
    openapi_extra=takes(
        "text/plain", {"type": "string", "minLength": 1}, "Server started", required=True
    ),
)
async def raw(request: Request, server: Server = None, source: Source = None) -> Response:
    """Take what `/ingest` takes. Also at `/services/collector/raw/1.0`."""
    read = splunk.raw(request.headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="splunk")
    return _said("Success", _SUCCESS)


@router.get("/services/collector/health/1.0", include_in_schema=False)
@router.get(
    "/services/collector/health",
    summary="Whether Splunk's senders may begin",
    response_class=Response,
    responses={200: {"content": {"application/json": {"schema": {}}}}},
)
async def health() -> Response:
    """Say that all is well: code 17."""
    return _said("HEC is healthy", _HEALTHY)


@router.options("/services/collector/event/1.0", include_in_schema=False)
@router.options("/services/collector/event", include_in_schema=False)
@router.options("/services/collector", include_in_schema=False)
@router.options("/services/collector/raw", include_in_schema=False)
async def probe() -> Response:
    """Docker's driver asks this way whether somebody is there, before it starts a container."""
    return Response(headers={"Allow": "OPTIONS, POST"})
