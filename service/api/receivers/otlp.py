"""`POST /v1/logs`: OpenTelemetry's logs over HTTP, as protobuf or JSON."""

from typing import Final

from fastapi import APIRouter, Request, Response

from service.answers.query import dumps
from service.api.deliver import deliver
from service.api.receivers.shared import Server, Source, answers, headers_of, status_of
from service.errors import LastCallError
from service.events import Receipt
from service.ingest.bodies import otlp
from service.refusals import route_class

_JSON: Final = "application/json"
_PROTOBUF: Final = "application/x-protobuf"
_RPC_CODES: Final = {400: 3, 401: 16, 403: 7, 413: 8, 503: 14}
"""google.rpc.Code by status: invalid argument, unauthenticated, permission denied, resource exhausted,
unavailable."""
_INTERNAL: Final = 13


def _refusal(request: Request, error: LastCallError) -> Response:
    """A google.rpc.Status in the type of the request; as JSON, which people read, where that is neither."""
    status = status_of(error)
    code = _RPC_CODES.get(status, _INTERNAL)
    if "protobuf" in request.headers.get("content-type", "").lower():
        content = _status(code, error.detail.encode(errors="replace"))
        return Response(content, status, headers_of(error), media_type=_PROTOBUF)
    content = dumps({"code": code, "message": error.detail})
    return Response(content, status, headers_of(error), media_type=_JSON)


router = APIRouter(tags=["receivers"], route_class=route_class(_refusal))

_BODY: Final = {"type": "object"}
_RECORD: Final = {
    "timeUnixNano": "1791195302114000000",
    "body": {"stringValue": '{"level":"info","msg":"Server started"}'},
}
_EXAMPLE: Final = {"resourceLogs": [{"scopeLogs": [{"logRecords": [_RECORD]}]}]}


@router.post(
    "/v1/logs",
    summary="Store an export of OpenTelemetry's logs",
    response_class=Response,
    responses=answers(200, "Everything is stored but what is told as a partial success", _JSON),
    openapi_extra={
        "requestBody": {
            "required": False,
            "content": {_JSON: {"schema": _BODY, "example": _EXAMPLE}},
        }
    },
)
async def logs(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take an ExportLogsServiceRequest as JSON or protobuf, and answer in the same.

    What was rejected is told as a partial success, and must not be sent again. The text of a body is the
    log line; the fields of a message are its attributes.
    """
    headers = request.headers
    read = otlp.reader(headers.get("content-type"), headers.get("content-encoding"))
    delivered = await deliver(request, read, server=server, source=source, protocol="otlp")
    media_type = _media_type(request)
    return Response(_answer(delivered.receipt, media_type == _JSON), media_type=media_type)


def _media_type(request: Request) -> str:
    """The type of the answer: that of the request, where it says one of the two."""
    is_json = otlp.is_json(request.headers.get("content-type", _JSON))
    return _JSON if is_json else _PROTOBUF


def _answer(receipt: Receipt, as_json: bool) -> bytes:
    """An ExportLogsServiceResponse."""
    if not receipt.rejected:
        return b"{}" if as_json else b""
    reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(receipt.reasons.items()))
    message = (
        f"{receipt.rejected} of {receipt.received} records were rejected: {reasons}; "
        "they are kept, see /api/v1/rejects"
    )
    if as_json:
        said = {"rejectedLogRecords": receipt.rejected, "errorMessage": message}
        return dumps({"partialSuccess": said})
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as service

    partial = service.ExportLogsPartialSuccess(
        rejected_log_records=receipt.rejected, error_message=message
    )
    answer = service.ExportLogsServiceResponse(partial_success=partial)
    return bytes(answer.SerializeToString())


def _status(code: int, message: bytes) -> bytes:
    """A google.rpc.Status as protobuf: field 1 a number below 128, field 2 a text."""
    size, length = len(message), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([8, code, 18, *length, size]) + message
