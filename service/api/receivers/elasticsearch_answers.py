"""What Elasticsearch's clients want an answer to look like."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from fastapi import Request, Response

from service.answers.query import dumps
from service.api.receivers.shared import headers_of, status_of
from service.errors import LastCallError, NotFound
from service.names import is_like

PRODUCT: Final = {"X-Elastic-Product": "Elasticsearch"}
"""Without it the official clients take no answer, not even one that everything is stored."""

ERRORS: Final = {
    400: "illegal_argument_exception",
    401: "security_exception",
    403: "security_exception",
    404: "resource_not_found_exception",
    405: "illegal_argument_exception",
    413: "content_too_long_exception",
    503: "es_rejected_execution_exception",
}
_ONLY_TAKEN: Final = "documents are only taken, at /_bulk and /{index}/_doc: there is no index to make, read or search"
_COMPATIBLE: Final = re.compile(
    r"application/vnd\.elasticsearch\+json\s*;\s*compatible-with=[789]\b"
)
_SEVERAL: Final = re.compile(r"(?<![^.])\*\*(?:\.\*\*)+(?=\.|$)")
_LONGEST_FILTER: Final = 1_000
"""Of a longer one the answer is whole: real ones are a tenth of it, and the work grows with their parts."""

_Paths = frozenset[tuple[str, ...]]
_ALL: _Paths = frozenset({(), ("**",)})


def answered(
    request: Request, content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """JSON of the type that the sender accepts; only what it filters, where it does."""
    wanted = request.query_params.get("filter_path")
    if wanted and status < 300 and len(wanted) <= _LONGEST_FILTER:
        content = chosen(content, wanted)
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
    return NotFound(f"nothing is at {request.url.path}; {_ONLY_TAKEN}")


def unsupported(request: Request) -> "Unsupported":
    """The error of a method that what is taken does not have."""
    return Unsupported(f"{request.method} is not possible here; {_ONLY_TAKEN}")


class Unsupported(LastCallError):
    """Documents cannot be handled so."""

    status = 405


def chosen(content: Any, paths: str) -> Any:
    """
    Return what of *content* lies at one of *paths* (`filter_path`), without what lies at those that begin
    with `-`; lists are seen through. `*` stands for any key or any part of one, `**` for any number of keys.

    >>> answer = {"took": 3, "items": [{"index": {"status": 201, "_id": "a"}}]}
    >>> chosen(answer, "errors,items.*.status")
    {'items': [{'index': {'status': 201}}]}
    >>> chosen(answer, "**._*"), chosen(answer, "**") == answer, chosen(answer, "-items")
    ({'items': [{'index': {'_id': 'a'}}]}, True, {'took': 3})
    """
    written = [path.strip() for path in paths.split(",")]
    wanted = _paths(path for path in written if not path.startswith("-"))
    unwanted = _paths(path[1:] for path in written if path.startswith("-"))
    found = _at(content, wanted) if wanted else content
    return _without(found, unwanted) if unwanted else found


def _paths(written: Iterable[str]) -> _Paths:
    """Several `**` in a row are one."""
    return frozenset(tuple(_SEVERAL.sub("**", path).split(".")) for path in written)


def _at(content: Any, paths: _Paths) -> Any:
    if not paths.isdisjoint(_ALL):
        return content
    if isinstance(content, list):
        return [_at(each, paths) for each in content]
    kept = {}
    for key, value in content.items():
        below = _below(paths, key)
        if () in below:
            kept[key] = value
        elif below and isinstance(value, dict | list):
            inner = _at(value, below)
            if inner or any(path[0] != "**" for path in below):  # else only looked into
                kept[key] = inner
    return kept


def _without(content: Any, paths: _Paths) -> Any:
    """What of *content* lies at none of *paths*."""
    if isinstance(content, list):
        return [_without(each, paths) for each in content]
    if not isinstance(content, dict):
        return content
    kept = {}
    for key, value in content.items():
        below = _below(paths, key)
        if below.isdisjoint(_ALL):
            kept[key] = _without(value, below) if below else value
    return kept


@lru_cache(maxsize=64)
def _below(paths: _Paths, key: str) -> _Paths:
    """What is left of the paths behind a key; nothing of those that it is not on. Equal rests are one, so
    there are never more of them than the paths have parts."""
    found = set()
    for path in paths:
        for at, name in enumerate(path):
            if name != "**":
                if is_like(key, name):
                    found.add(path[at + 1 :])
                break
            found.add(path[at:])
    return frozenset(found)
