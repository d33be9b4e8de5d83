"""Releases of the servers: one row a version."""

from dataclasses import dataclass, replace

from service.answers.paging import Key, Order, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.errors import Conflict
from service.events import Release
from service.store import read_releases
from service.store.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRow:
    """
    One version of a server, and when it came. `source` is the way this became known: `rest`,
    `command` or `demo`.
    """

    server: str
    version: str
    at: Instant
    source: str


def releases(connection: Connection, query: Query, moment: Moment) -> Collection[ReleaseRow]:
    """
    Releases that came in the range, by time, then server and version.

    A range that is not given begins as everywhere with the first event; where there is none, with the
    first release.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: A release was moved since the first page.
    """
    limit = limit_asked(query)
    scope = _scope(connection, query, moment)
    servers = scope.servers_asked
    found = read_releases.releases(connection, servers, scope.start_us, scope.until_us)
    kept, last = page(found, _key, Order(), scope.after, limit)
    return scope.answer((_row(release) for release in kept), last)


def moved() -> Conflict:
    """The refusal of a cursor once a release stands in another place."""
    return Conflict(
        "a release was moved to another instant since the first page; begin again without cursor, "
        "or use a larger limit"
    )


def _scope(connection: Connection, query: Query, moment: Moment) -> Scope:
    try:
        version = read_releases.moves(connection)
        scope = scope_of(connection, query, moment, "releases", version=version)
    except Conflict:
        raise moved() from None
    if scope.since_us is not None or scope.place is not None:
        return scope
    servers = scope.servers_asked
    first = read_releases.first_release(connection, servers, scope.until_us)
    return scope if first is None else replace(scope, since_us=first)


def _key(release: Release) -> Key:
    return (release.at_us, release.server, release.version)


def _row(release: Release) -> ReleaseRow:
    return ReleaseRow(
        server=release.server,
        version=release.version,
        at=Instant(release.at_us),
        source=release.source,
    )
