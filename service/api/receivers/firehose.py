"""`POST /firehose`: Amazon Data Firehose with an HTTP endpoint, CloudWatch Logs through it among them."""

from typing import Final

from fastapi import APIRouter, Request, Response

from service.answers.query import dumps
from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, headers_of, status_of, takes
from service.errors import LastCallError
from service.ingest.bodies import cloud
from service.ingest.records import Body, Limits
from service.refusals import route_class

_ID: Final = "x-amz-firehose-request-id"
_BODY: Final = {
    "type": "object",
    "required": ["records"],
    "properties": {"records": {"type": "array"}},
}
_EXAMPLE: Final = {
    "requestId": "ed4acda5-034f-9f42-bba1-f29aea6d7d8f",
    "timestamp": 1791195302114,
    "records": [{"data": "eyJtc2ciOiJTZXJ2ZXIgc3RhcnRlZCJ9"}],
}


def _refusal(request: Request, error: LastCallError) -> Response:
    return _answer(request, None, status_of(error), error)


def _answer(
    request: Request, named: str | None, status: int = 200, error: LastCallError | None = None
) -> Response:
    """The one form that counts as an answer: any other is a failure, whatever its status."""
    content: dict[str, object] = {
        "requestId": request.headers.get(_ID) or named or "",
        "timestamp": request.app.state.clock() // 1_000,
    }
    if error is not None:
        content["errorMessage"] = error.detail
    headers = headers_of(error) if error else None
    return Response(dumps(content), status, headers, media_type="application/json")


router = APIRouter(tags=["receivers"], route_class=route_class(_refusal))


@router.post(
    "/firehose",
    summary="Store what Amazon Data Firehose delivers",
    response_class=Response,
    responses=answers(200, "Everything is stored", "application/json"),
    openapi_extra=takes("application/json", _BODY, _EXAMPLE),
)
async def firehose(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take a delivery. Each of its records is what a subscription of CloudWatch Logs sends, or anything that
    `/ingest` takes. Bad records never fail their neighbours.
    """
    within = cloud.firehose(request.headers.get("content-encoding"))
    named: list[str | None] = [None]

    def read(data: bytes, limits: Limits) -> Body:
        found = within(data, limits)
        named[0] = cloud.request_id(found.identity)
        return found

    await deliver(request, read, server=server, source=source, protocol="firehose")
    return _answer(request, named[0])
