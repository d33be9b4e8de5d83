"""
What each route needs of whoever asks: declared beside the router, found by the door before anything is read.

A route that declares nothing needs an admin; a path where nothing is, any token.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from re import Pattern
from typing import Any, Final

from fastapi.routing import APIRouter, RouteContext, iter_route_contexts
from starlette.routing import BaseRoute, Mount, compile_path

from service.refusals import Refuse, refuse_of
from service.tokens import Scope


class Need(StrEnum):
    """What is needed."""

    NOTHING = "nothing"
    """Whoever can reach the port may have it: it tells nothing but that the service is here."""
    ANY = "any token"
    INGEST = "ingest"
    READ = "read"
    ADMIN = "admin"


_MAY: Final[dict[Need, frozenset[Scope]]] = {
    Need.NOTHING: frozenset(Scope),
    Need.ANY: frozenset(Scope),
    Need.INGEST: frozenset({Scope.INGEST, Scope.ADMIN}),
    Need.READ: frozenset({Scope.READ, Scope.ADMIN}),
    Need.ADMIN: frozenset({Scope.ADMIN}),
}
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
SHOWING: Final = frozenset({"GET", "HEAD"})
"""By which a link can be followed."""
LONGEST_KEPT: Final = 256
"""Characters of a path and method whose place is remembered."""
_declared: Final[dict[tuple[Callable[..., Any], bool], Need]] = {}
"""By endpoint, and whether it is for reading."""
_Routes = APIRouter | Iterable[Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Shown:
    """
    What a link may show of a route: the filters that it heeds, which are forced upon it, and those of which it
    tells nothing anyway. A link that is bound to any other may not see it.
    """

    heeds: frozenset[str]
    beside: frozenset[str] = frozenset()


_shown: Final[dict[Callable[..., Any], Shown]] = {}
"""By endpoint. What is not here, no link shows."""


def satisfies(scope: Scope, need: Need) -> bool:
    """Whether a token of that scope will do."""
    return scope in _MAY[need]


def declare(routes: _Routes, *, reading: Need, writing: Need) -> None:
    """
    Declare what the routes of a router (or some endpoints) need: GET, HEAD and OPTIONS are for *reading*. What
    was declared before stands: so what is particular comes before what is general.
    """
    for endpoint in _endpoints(routes):
        _declared.setdefault((endpoint, True), reading)
        _declared.setdefault((endpoint, False), writing)


def show(routes: _Routes, *heeds: str, beside: Iterable[str] = ()) -> None:
    """
    Declare that a link may show these routes. Each *heeds* these filters of its query in all that it answers, and
    tells nothing of the filters *beside*: which names there are, say, where it only tells hours.
    """
    for endpoint in _endpoints(routes):
        _shown[endpoint] = Shown(frozenset(heeds), frozenset(beside))


def _endpoints(routes: _Routes) -> list[Callable[..., Any]]:
    if isinstance(routes, APIRouter):
        found = [each.endpoint for each in iter_route_contexts(routes.routes)]
        return [each for each in found if each is not None]
    return list(routes)


def needed(endpoint: Callable[..., Any] | None, method: str) -> Need:
    """What an endpoint needs."""
    if endpoint is None:
        return Need.ADMIN
    return _declared.get((endpoint, method in _READING), Need.ADMIN)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request leads to: what it needs there, and in which form it is refused."""

    need: Need
    refuse: Refuse | None
    path: str
    """As the route is written; empty where nothing is."""
    shown: Shown | None = None
    """What a link may show of it; None for nothing."""


_NOWHERE: Final = Place(Need.ANY, None, "")


@dataclass(frozen=True, slots=True)
class _Row:
    path: str
    pattern: Pattern[str]
    methods: frozenset[str]
    endpoint: Callable[..., Any] | None
    refuse: Refuse | None
    for_senders: bool


class Table:
    """Every route of the application, in the order in which they are asked."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        """*routes* is what the application will ask: all are included by now."""
        self.rows = tuple(_rows(routes, ""))
        self._known = lru_cache(maxsize=1024)(self._find)

    def place(self, method: str, path: str, is_sender: bool) -> Place:
        """Where a request leads to; *is_sender* of those that some routes are there for alone."""
        # What is longer is made up, and not worth the memory.
        find = self._known if len(path) + len(method) <= LONGEST_KEPT else self._find
        return find(method, path, is_sender)

    def _find(self, method: str, path: str, is_sender: bool) -> Place:
        for row in self.rows:
            if (
                method in row.methods
                and (is_sender or not row.for_senders)
                and row.pattern.match(path)
            ):
                need = needed(row.endpoint, method)
                return Place(need, row.refuse, row.path, _shown_of(row, method))
        return _NOWHERE


def _shown_of(row: _Row, method: str) -> Shown | None:
    """What is only asked can be shown, and nothing that is sent."""
    if row.endpoint is None or row.for_senders or method not in SHOWING:
        return None
    return _shown.get(row.endpoint)


def _rows(routes: Sequence[BaseRoute | RouteContext], prefix: str) -> Iterable[_Row]:
    for route in iter_route_contexts(routes):
        original = route.original_route
        if isinstance(original, Mount):
            yield from _rows(original.routes, prefix + original.path)
            continue
        path = prefix + (route.path or "")
        yield _Row(
            path=path,
            pattern=compile_path(path)[0],
            methods=frozenset(route.methods or ()),
            endpoint=route.endpoint,
            refuse=refuse_of(original),
            for_senders=getattr(original, "for_senders", False),
        )
