"""Records that could not be used, and why."""

from dataclasses import dataclass

from service.answers.paging import Key, Order, page, whole_number
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_health
from service.store.engine import Connection
from service.store.read_health import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectRow:
    """One record in quarantine: its first 2 KiB, `whole` where that is all of it."""

    arrived: Instant
    server: str
    source: str
    batch: str
    position: int
    reason: str
    excerpt: str
    whole: bool


def rejects(connection: Connection, query: Query, moment: Moment) -> Collection[RejectRow]:
    """
    Rejected records by time of arrival, the newest first; `since` and `until` are arrivals too.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "rejects")
    found = _read(scope, limit + 1)
    kept, last = page(found, _key, Order(descending=True), scope.after, limit)
    rows = (
        RejectRow(
            arrived=Instant(row.arrived_us),
            server=row.server,
            source=row.source,
            batch=row.batch,
            position=row.position,
            reason=row.reason,
            excerpt=row.excerpt,
            whole=row.whole,
        )
        for row in kept
    )
    return scope.answer(rows, last)


def _key(row: Refused) -> Key:
    return (row.arrived_us, row.server, row.source, row.batch, row.position, row.id)


def _read(scope: Scope, wanted: int) -> list[Refused]:
    """Enough records for a page: all of the cursor's instant, and what came before it."""
    servers = scope.servers_asked
    where = (servers, scope.query.source)
    until_us = scope.until_us
    found: list[Refused] = []
    if scope.after is not None:
        at = whole_number(scope.after[0] if scope.after else None)
        found = read_health.refused(scope.connection, (at, at + 1), *where, at_least=1)
        until_us = min(until_us, at)
    return found + read_health.refused(
        scope.connection, (scope.asked_since_us, until_us), *where, wanted
    )
