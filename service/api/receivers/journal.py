"""`POST /upload`: what systemd-journal-upload sends."""

from fastapi import APIRouter, Request, Response

from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, in_text, takes
from service.ingest.bodies import journal
from service.refusals import route_class

router = APIRouter(tags=["receivers"], route_class=route_class(in_text))

_ENTRY = "__CURSOR=s=d;i=1\n__REALTIME_TIMESTAMP=1791195302114000\nMESSAGE=Server started\n\n"
_BODY = {"type": "string", "pattern": "^__(CURSOR|REALTIME_TIMESTAMP)="}


@router.post(
    "/upload",
    summary="Store entries of a systemd journal",
    response_class=Response,
    responses=answers(200, "Everything is stored", "text/plain"),
    openapi_extra=takes("text/plain", _BODY, _ENTRY, required=False),
)
async def upload(request: Request, server: Server = None, source: Source = None) -> Response:
    """Take entries in the journal's export format, or as JSON; each is told from its equals by its cursor."""
    read = journal.reader(request.headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="journal")
    return Response("OK.\n", media_type="text/plain")
