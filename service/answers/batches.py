"""Batches: what can be taken back as one."""

from dataclasses import dataclass

from service.answers.paging import Key, Order, bad_cursor, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.store import read_batches
from service.store.engine import Connection
from service.store.read_batches import Batch
from service.store.redelivery import KEPT_US


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """
    One batch: a run of `lastcall ingest`, a followed file's day, or a source's requests of one UTC hour.

    Records that arrived in it by what became of them. It can be taken back until `undo_until`.
    """

    batch: int
    server: str
    source: str
    kind: str
    label: str
    started: Instant
    undo_until: Instant
    accepted: int
    duplicates: int
    ignored: int
    rejected: int


def batches(connection: Connection, query: Query, moment: Moment) -> Collection[BatchRow]:
    """
    Batches, the newest first; `since` and `until` are their beginnings.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "batches")
    found = _read(scope, limit + 1)
    kept, last = page(found, lambda batch: (batch.id,), Order(descending=True), scope.after, limit)
    return scope.answer(map(_row, kept), last)


def _read(scope: Scope, limit: int) -> list[Batch]:
    # a default range begins with the first event, but a batch may have brought none
    since_us = None if scope.query.since is None else scope.start_us
    servers = scope.servers_asked
    return read_batches.batches(
        scope.connection,
        (since_us, scope.until_us),
        servers,
        scope.query.source,
        _before(scope.after),
        limit,
    )


def _before(after: Key | None) -> int | None:
    if after is None:
        return None
    if len(after) != 1 or type(after[0]) is not int or not 0 <= after[0] < 2**31:
        raise bad_cursor()
    return after[0]


def _row(batch: Batch) -> BatchRow:
    return BatchRow(
        batch=batch.id,
        server=batch.server,
        source=batch.source,
        kind=batch.kind,
        label=batch.label,
        started=Instant(batch.started_us),
        undo_until=Instant(batch.started_us + KEPT_US),
        accepted=batch.records.get("accepted", 0),
        duplicates=batch.records.get("duplicate", 0),
        ignored=batch.records.get("ignored", 0),
        rejected=batch.records.get("rejected", 0),
    )
