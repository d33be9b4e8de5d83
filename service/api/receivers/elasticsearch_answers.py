"""What Elasticsearch's clients want an answer to look like."""

import re
from typing import Any, Final

from fastapi import Request, Response

from service.answers.query import dumps
from service.api.receivers.own_words import headers_of
from service.api.receivers.shared import status_of
from service.errors import LastCallError, NotFound

PRODUCT: Final = {"X-Elastic-Product": "Elasticsearch"}
"""Without it the official clients take no answer, not even one that everything is stored."""

ERRORS: Final = {
    400: "illegal_argument_exception",
    404: "resource_not_found_exception",
    413: "content_too_long_exception",
    503: "es_rejected_execution_exception",
}
_COMPATIBLE: Final = re.compile(
    r"application/vnd\.elasticsearch\+json\s*;\s*compatible-with=[789]\b"
)


def answered(
    request: Request, content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """JSON of the type that the sender accepts; only what it filters, where it does."""
    wanted = request.query_params.get("filter_path")
    if wanted and status < 300:
        content = filtered(content, [path.split(".") for path in wanted.split(",")])
    named = _COMPATIBLE.search(request.headers.get("accept", ""))
    return Response(
        dumps(content),
        status,
        {**PRODUCT, **(headers or {})},
        media_type=named[0] if named else "application/json",
    )


def refusal(request: Request, error: LastCallError) -> Response:
    """What a known error answers."""
    status = status_of(error)
    said = {"type": ERRORS.get(status, "exception"), "reason": error.detail}
    return failed(request, said, status, headers_of(error))


def failed(
    request: Request, error: dict[str, Any], status: int, headers: dict[str, str] | None = None
) -> Response:
    """A whole request that failed for one reason."""
    content = {"error": {"root_cause": [error], **error}, "status": status}
    return answered(request, content, status, headers)


def nothing_at(request: Request) -> NotFound:
    """The error of a path that no sender of documents needs."""
    return NotFound(f"nothing is at {request.url.path}; documents are taken at /_bulk")


def filtered(content: Any, paths: list[list[str]]) -> Any:
    """
    Return what of *content* lies at one of *paths*; `*` stands for any key, lists are seen through.

    >>> answer = {"took": 3, "items": [{"index": {"status": 201, "_id": "a"}}]}
    >>> filtered(answer, [["errors"], ["items", "*", "status"]])
    {'items': [{'index': {'status': 201}}]}
    """
    if [] in paths:
        return content
    if isinstance(content, list):
        return [filtered(each, paths) for each in content]
    kept = {}
    for key, value in content.items():
        below = [path[1:] for path in paths if path[0] in (key, "*")]
        if [] in below or (below and isinstance(value, dict | list)):
            kept[key] = filtered(value, below)
    return kept
