"""`POST /logplex`: an HTTPS drain of Heroku's."""

from fastapi import APIRouter, Request, Response

from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, in_text, takes
from service.ingest.bodies import logplex
from service.refusals import route_class

router = APIRouter(tags=["receivers"], route_class=route_class(in_text))

_LINE = "<40>1 2026-10-05T10:15:02.114Z host app web.3 - Server started"


@router.post(
    "/logplex",
    summary="Store what a Heroku drain delivers",
    status_code=204,
    response_class=Response,
    responses=answers(204, "Everything is stored"),
    openapi_extra=takes("text/plain", {}, f"{len(_LINE)} {_LINE}", required=False),
)
async def drain(request: Request, server: Server = None, source: Source = None) -> Response:
    """Take lines of syslog (RFC 5424), each with its length in front; what has none ends with its line."""
    read = logplex.reader(request.headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="logplex")
    return Response(status_code=204)
