"""`POST /pubsub`: a push subscription of Google Cloud Pub/Sub, sinks of Cloud Logging among them."""

from typing import Final

from fastapi import APIRouter, Request, Response

from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, in_text, takes
from service.ingest.bodies import cloud
from service.refusals import route_class

router = APIRouter(tags=["receivers"], route_class=route_class(in_text))

_EXAMPLE: Final = {
    "message": {
        "data": "eyJtc2ciOiJTZXJ2ZXIgc3RhcnRlZCJ9",
        "messageId": "2070443601311540",
        "publishTime": "2026-10-05T10:15:02.114Z",
    },
    "subscription": "projects/p/subscriptions/s",
}


@router.post(
    "/pubsub",
    summary="Store a message that Pub/Sub pushes",
    status_code=204,
    response_class=Response,
    responses=answers(204, "Everything is stored"),
    openapi_extra=takes("application/json", {}, _EXAMPLE, required=False),
)
async def pubsub(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take one message, wrapped or not, whose data is a LogEntry of Cloud Logging or anything that `/ingest`
    takes. What is not understood is rejected and kept rather than refused, since it would come again.
    """
    read = cloud.pubsub(request.headers.get("content-encoding"))
    await deliver(request, read, server=server, source=source, protocol="pubsub")
    return Response(status_code=204)
