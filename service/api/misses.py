"""
What is answered where nothing is, or not by this method: to clients of Elasticsearch in its form, else as
problem+json that names the nearest path, and to a browser as a page that says the same.
"""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Final
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from service.api import addressed
from service.api.problems import documented, problem
from service.api.receivers import elasticsearch
from service.api.receivers.elasticsearch_answers import nothing_at, refusal, unsupported
from service.api.rooted import path_of, raw_path_of
from service.errors import LastCallError, NotFound

_TITLES: Final = {404: "Not found", 405: "Method not allowed"}
_PAGES: Final = (
    "/names", "/name", "/clients", "/client", "/todo", "/catalogue", "/told", "/health", "/docs",
)  # fmt: skip
_NEAR: Final = 0.75


Page = Callable[[Request, LastCallError], Response]


def install(app: FastAPI, page: Page) -> None:
    """Register the handler; *page* makes the page of a refusal."""
    app.add_exception_handler(HTTPException, lambda request, error: _http(request, error, page))


def _http(request: Request, error: Exception, page: Page) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - that is what it is registered for
    headers = dict(error.headers or {})
    detail = str(error.detail)
    raw = raw_path_of(request.scope)
    path = unquote(raw.decode("latin-1")) if raw else path_of(request.scope)
    before, path = addressed.split(path)
    if error.status_code in _TITLES and elasticsearch.concerns(path, request.headers):
        # An index is not there, whatever is done with it; a document may be put here, and no more.
        is_index = "/" not in path.removeprefix(elasticsearch.PREFIX).strip("/")
        missing = is_index or error.status_code == 404
        return refusal(request, nothing_at(request) if missing else unsupported(request))
    if error.status_code == 404:
        near = _nearest(request, path, addressed=bool(before))
        hint = f"did you mean {before}{near}?" if near else "see /docs for what is"
        detail = f"nothing is at {before}{path}; {hint}"
        if not before and _is_read_by_people(request, path):
            return page(request, NotFound(detail))
    elif error.status_code == 405 and "Allow" in headers:
        headers["Allow"] = _allowed(request, headers["Allow"])
        detail = f"{request.method} is not possible here; use {headers['Allow']}"
    title = _TITLES.get(error.status_code, detail)
    return problem(error.status_code, title, detail, headers=headers)


def _is_read_by_people(request: Request, path: str) -> bool:
    """Whether a browser asks for a page: what it loads for one, and programs, do not ask for HTML."""
    asked = request.headers.get("accept", "")
    return (
        request.method in {"GET", "HEAD"} and "text/html" in asked and not path.startswith("/api/")
    )


def _nearest(request: Request, path: str, *, addressed: bool) -> str | None:
    """The path that was meant, if one is like it. What answers questions is not for senders."""
    taking = [each for each in request.app.openapi()["paths"] if "{" not in each]
    known = [
        *(each for each in taking if not (addressed and each.startswith("/api/"))),
        *(() if addressed else _PAGES),
    ]
    return next(iter(get_close_matches(path.rstrip("/"), known, n=1, cutoff=_NEAR)), None)


def _allowed(request: Request, first: str) -> str:
    """The methods of every route at this path; the router itself names those of the *first* one only."""
    return ", ".join(
        sorted({*first.split(", "), *(method.upper() for method in documented(request))})
    )
