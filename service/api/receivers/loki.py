"""`POST /loki/api/v1/push`: what Promtail, Alloy, Docker's driver and loggers send to Grafana Loki."""

from typing import Final

from fastapi import APIRouter, Request, Response

from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, in_text, takes
from service.ingest.bodies import loki
from service.refusals import route_class

router = APIRouter(tags=["receivers"], route_class=route_class(in_text))

_BODY: Final = {
    "type": "object",
    "required": ["streams"],
    "properties": {"streams": {"type": "array"}},
}
_EXAMPLE: Final = {
    "streams": [
        {
            "stream": {"app": "mcp"},
            "values": [["1791195302114000000", '{"level":"info","msg":"Server started"}']],
        }
    ]
}


@router.post(
    "/loki/api/v1/push",
    summary="Store what is pushed to Loki",
    status_code=204,
    response_class=Response,
    responses=answers(204, "Everything is stored"),
    openapi_extra=takes("application/json", _BODY, _EXAMPLE, required=False),
)
async def push(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take a push as JSON, or as protobuf (compressed with snappy, as usual).

    The time of an entry counts where its line has none; labels and metadata do not count. Bad lines never
    fail their neighbours.
    """
    headers = request.headers
    read = loki.reader(headers.get("content-type"), headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="loki")
    return Response(status_code=204)


@router.get("/ready", summary="Whether Loki's senders may begin", response_class=Response)
async def ready() -> Response:
    """Say `ready`, as Loki does."""
    return Response("ready\n", media_type="text/plain")
