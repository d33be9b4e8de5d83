"""
`/_bulk` and single documents: log shippers that write to Elasticsearch write here.

All of it stands at the root and under `/es`. There is no index and nothing can be searched: a document is
a log record like any other.
"""

import time
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from service.api.deliver import deliver
from service.api.receivers import elasticsearch_handshake as handshake
from service.api.receivers.elasticsearch_answers import (
    ERRORS,
    answered,
    failed,
    nothing_at,
    refusal,
)
from service.api.receivers.shared import Server, Source, answers, takes
from service.errors import Busy
from service.events import Reason
from service.ingest.bodies.elasticsearch import Action, Bulk, Document
from service.ingest.records import Reader
from service.refusals import route_class

PREFIX: Final = "/es"

_WRITE: Final = ["POST", "PUT"]
_DONE: Final = {"index": "created", "create": "created", "update": "updated"}
_SHARDS: Final = {"total": 1, "successful": 1, "failed": 0}
_NO_INDEX: Final = frozenset(
    {"api", "docs", "es", "figures", "ingest", "loki", "services", "static", "to", "v1"}
)
"""What other paths begin with: a document there is a mistyped address, not one of an index of that name."""

_BODY: Final = {
    "type": "string",
    "pattern": r'^(\{"(create|index)":\{("_index":"[a-z]+")?\}\}\n\{[^\n]*\}\n)+$',
}
_EXAMPLE: Final = (
    '{"create":{"_index":"mcp"}}\n{"@timestamp":"2026-10-05T10:15:02.114Z","message":"started"}\n'
)


def concerns(path: str, headers: Headers) -> bool:
    """Say whether a request that nothing here answers was meant for Elasticsearch: by its path, or by the
    headers of the official clients."""
    first, *more = path.strip("/").split("/")
    if first == PREFIX.strip("/"):
        return True
    if first in _NO_INDEX:
        return False
    if first.startswith("_") or (more and more[0].startswith("_")):
        return True
    return "x-elastic-client-meta" in headers or "vnd.elasticsearch" in headers.get("accept", "")


_shown = APIRouter(tags=["receivers"], route_class=route_class(refusal))
_documents = APIRouter(route_class=route_class(refusal))


@_shown.post(
    "/_bulk",
    summary="Store what is sent to Elasticsearch in bulk",
    response_class=Response,
    responses=answers(200, "One item an action, in their order", "application/json"),
    openapi_extra=takes("application/x-ndjson", _BODY, _EXAMPLE),
)
async def bulk(request: Request, server: Server = None, source: Source = None) -> Response:
    """
    Take actions and documents, a line each; each document is a log record.

    What is stored, a duplicate or ignored is a success, what is rejected has status 400, and what cannot
    be stored now 429.
    """
    return await _bulk(request, "", server, source)


@_documents.put("/_bulk")
async def bulk_put(request: Request, server: Server = None, source: Source = None) -> Response:
    """Store a bulk request, as the Python client sends it."""
    return await _bulk(request, "", server, source)


@_documents.api_route("/{index}/_bulk", methods=_WRITE)
async def bulk_of_index(
    request: Request, index: str, server: Server = None, source: Source = None
) -> Response:
    """Store a bulk request whose actions need not name an index."""
    return await _bulk(request, index, server, source)


async def _bulk(request: Request, index: str, server: str | None, source: str | None) -> Response:
    begun = time.monotonic()
    read = Bulk(request.headers.get("content-encoding"), index)
    try:
        rejected = await _stored(request, read, server, source)
    except Busy as error:
        if not read.actions:
            raise
        items = [_item(action, *_too_busy(error)) for action in read.actions]
    else:
        items = [_item(action, *_outcome(action, rejected)) for action in read.actions]
    errors = any("error" in said for item in items for said in item.values())
    took = int((time.monotonic() - begun) * 1_000)
    return answered(request, {"took": took, "errors": errors, "items": items})


@_documents.api_route("/{index}/_doc", methods=["POST"])
@_documents.api_route("/{index}/_doc/{id_}", methods=_WRITE)
async def document(request: Request, index: str, id_: str | None = None) -> Response:
    """Store one document."""
    return await _single(request, "index", index, id_)


@_documents.api_route("/{index}/_create/{id_}", methods=_WRITE)
async def new_document(request: Request, index: str, id_: str) -> Response:
    """Store one document; one that is there already is answered as if it were new."""
    return await _single(request, "create", index, id_)


@_documents.api_route("/{index}/_update/{id_}", methods=["POST"])
async def changed_document(request: Request, index: str, id_: str) -> Response:
    """Store the document that an update holds."""
    return await _single(request, "update", index, id_)


_oldest = APIRouter(route_class=route_class(refusal))


@_oldest.api_route("/{index}/{kind}", methods=["POST"])
async def typed_document(request: Request, index: str, kind: str) -> Response:
    """Store one document at the path that it has where there are types still, as rsyslog does."""
    if index in _NO_INDEX:
        raise HTTPException(404)
    if index.startswith("_") or kind.startswith("_"):
        raise nothing_at(request)
    return await _single(request, "index", index, None)


async def _single(request: Request, operation: str, index: str, id_: str | None) -> Response:
    read = Document(request.headers.get("content-encoding"), operation, index, id_)
    feed = request.query_params
    rejected = await _stored(request, read, feed.get("server"), feed.get("source"))
    [action] = read.actions
    status, said = _outcome(action, rejected)
    if "error" in said:
        return failed(request, said["error"], status)
    return answered(request, {"_index": action.index, "_id": action.id, **said}, status)


async def _stored(
    request: Request, read: Reader, server: str | None, source: str | None
) -> dict[int, Reason]:
    """Store the records; returns why those at these positions were rejected."""
    delivered = await deliver(
        request, read, server=server, source=source, protocol="elasticsearch", read_first=True
    )
    return dict(delivered.rejected)


def _outcome(action: Action, rejected: dict[int, Reason]) -> tuple[int, dict[str, Any]]:
    """The status of an action, and what is said beside it. What is ignored or stored already is done."""
    if action.position is None:
        return 404, {"_version": 1, "result": "not_found", "_shards": _SHARDS}
    if (reason := rejected.get(action.position)) is not None:
        said = f"{reason.value}: rejected and kept, see /api/v1/rejects"
        return 400, {"error": {"type": "document_parsing_exception", "reason": said}}
    done = _DONE[action.operation]
    return 200 if done == "updated" else 201, {"_version": 1, "result": done, "_shards": _SHARDS}


def _too_busy(error: Busy) -> tuple[int, dict[str, Any]]:
    """Nothing is stored: of an answer with items more senders know to try again than of a 503."""
    return 429, {"error": {"type": ERRORS[503], "reason": error.detail}}


def _item(action: Action, status: int, said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = {"_index": action.index, "_id": action.id, **said, "status": status}
    return {action.operation: named}


router = APIRouter()
for _prefix in (PREFIX, ""):  # in this order, or `es` would be an index
    router.include_router(_shown, prefix=_prefix, include_in_schema=not _prefix)
    for _part in (_documents, handshake.router, _oldest):
        router.include_router(_part, prefix=_prefix, include_in_schema=False)
router.add_api_route(
    "/",
    handshake.banner,
    methods=handshake.READ,
    include_in_schema=False,
    route_class_override=handshake.ForSenders,
)
for _path in (PREFIX, f"{PREFIX}/"):
    router.add_api_route(
        _path,
        handshake.banner,
        methods=handshake.READ,
        include_in_schema=False,
        route_class_override=handshake.Handshake,
    )
