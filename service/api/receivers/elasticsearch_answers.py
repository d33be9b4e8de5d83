"""What Elasticsearch's clients want an answer to look like."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from fastapi import Request, Response

from service.answers.query import dumps
from service.api.receivers.shared import headers_of, status_of
from service.errors import LastCallError, NotFound

PRODUCT: Final = {"X-Elastic-Product": "Elasticsearch"}
"""Without it the official clients take no answer, not even one that everything is stored."""

ERRORS: Final = {
    400: "illegal_argument_exception",
    404: "resource_not_found_exception",
    405: "illegal_argument_exception",
    413: "content_too_long_exception",
    503: "es_rejected_execution_exception",
}
_ONLY_TAKEN: Final = "documents are only taken, at /_bulk and /{index}/_doc: there is no index to make, read or search"
_COMPATIBLE: Final = re.compile(
    r"application/vnd\.elasticsearch\+json\s*;\s*compatible-with=[789]\b"
)


def answered(
    request: Request, content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """JSON of the type that the sender accepts; only what it filters, where it does."""
    wanted = request.query_params.get("filter_path")
    if wanted and status < 300:
        content = _chosen(content, [path.strip() for path in wanted.split(",")])
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


def _chosen(content: Any, paths: list[str]) -> Any:
    """What lies at *paths*, without what lies at those of them that begin with `-`."""
    wanted = [path.split(".") for path in paths if not path.startswith("-")]
    unwanted = [path[1:].split(".") for path in paths if path.startswith("-")]
    found = filtered(content, wanted) if wanted else content
    return _without(found, unwanted) if unwanted else found


def filtered(content: Any, paths: list[list[str]]) -> Any:
    """
    Return what of *content* lies at one of *paths*; lists are seen through. `*` stands for any key or any
    part of one, `**` for any number of keys.

    >>> answer = {"took": 3, "items": [{"index": {"status": 201, "_id": "a"}}]}
    >>> filtered(answer, [["errors"], ["items", "*", "status"]])
    {'items': [{'index': {'status': 201}}]}
    >>> filtered(answer, [["**", "_*"]]), filtered(answer, [["**"]]) == answer
    ({'items': [{'index': {'_id': 'a'}}]}, True)
    """
    if any(part == ["**"] * len(part) for part in paths):
        return content
    if isinstance(content, list):
        return [filtered(each, paths) for each in content]
    kept = {}
    for key, value in content.items():
        below = [rest for path in paths for rest in _below(path, key)]
        if [] in below:
            kept[key] = value
        elif below and isinstance(value, dict | list):
            inner = filtered(value, below)
            if inner or any(path[0] != "**" for path in below):  # else only looked into
                kept[key] = inner
    return kept


def _without(content: Any, paths: list[list[str]]) -> Any:
    """What of *content* lies at none of *paths*."""
    if isinstance(content, list):
        return [_without(each, paths) for each in content]
    if not isinstance(content, dict):
        return content
    kept = {}
    for key, value in content.items():
        below = [rest for path in paths for rest in _below(path, key)]
        if not any(part == ["**"] * len(part) for part in below):
            kept[key] = _without(value, below) if below else value
    return kept


def _below(path: list[str], key: str) -> Iterator[list[str]]:
    """What is left of a path behind a key; nothing where the key is not on it."""
    first, *rest = path
    if first == "**":
        yield path
        if rest:
            yield from _below(rest, key)
    elif _pattern(first).fullmatch(key):
        yield rest


@lru_cache(maxsize=256)
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", name))), re.DOTALL)
