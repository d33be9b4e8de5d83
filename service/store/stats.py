"""What a database holds, for `lastcall db stats`."""

from typing import Any

import sqlalchemy as sa

from service.events import Kind
from service.store import schema
from service.store.dialect import is_sqlite
from service.store.engine import Connection

NEWEST_BATCHES = 50
_DIMENSIONS = (
    schema.server,
    schema.source,
    schema.client,
    schema.tool,
    schema.version,
    schema.caller,
    schema.session,
    schema.fact,
)


def stats(conn: Connection) -> dict[str, Any]:
    """
    Count what is stored; reads the kind of every event, so give it seconds on millions.

    Returns:
        `events` by kind (all stored rows, also those that another line of their call stands for),
        `first_us` and `last_us` (None without events), `dimensions` (rows by table), `bytes` on
        disk, `releases`, `quarantined`, and `batches`: the newest 50, newest first, each with `records`
        by fate.
    """
    event = schema.event
    kinds = conn.execute(sa.select(event.c.kind, sa.func.count()).group_by(event.c.kind))
    first, last = (
        conn.scalar(sa.select(event.c.time_us).order_by(order).limit(1))
        for order in (event.c.time_us, event.c.time_us.desc())
    )
    return {
        "events": {Kind(kind).word: rows for kind, rows in sorted(tuple(row) for row in kinds)},
        "first_us": first,
        "last_us": last,
        "dimensions": {table.name: _rows(conn, table) for table in _DIMENSIONS},
        "releases": _rows(conn, schema.release),
        "quarantined": _rows(conn, schema.reject),
        "bytes": _bytes(conn),
        "batches": _batches(conn),
    }


def _rows(conn: Connection, table: sa.Table) -> int:
    return conn.scalar(sa.select(sa.func.count()).select_from(table)) or 0


def _bytes(conn: Connection) -> int:
    """Bytes that the database takes on disk."""
    sql = "SELECT pg_database_size(current_database())"
    if is_sqlite(conn):
        sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    return int(conn.execute(sa.text(sql)).scalar_one())


def _batches(conn: Connection) -> list[dict[str, Any]]:
    """The newest batches, newest first, with their records by fate."""
    batch, source, server, tally = schema.batch, schema.source, schema.server, schema.tally
    rows = conn.execute(
        sa.select(
            batch.c.id,
            server.c.name.label("server"),
            source.c.name.label("source"),
            batch.c.kind,
            batch.c.label,
            batch.c.started_us,
        )
        .join_from(batch, source, source.c.id == batch.c.source_id)
        .join(server, server.c.id == source.c.server_id)
        .order_by(batch.c.id.desc())
        .limit(NEWEST_BATCHES)
    )
    batches = {row.id: {**row._asdict(), "records": {}} for row in rows}
    fates = conn.execute(
        sa.select(tally.c.batch_id, tally.c.fate, sa.func.sum(tally.c.records))
        .where(tally.c.batch_id.in_(list(batches)))
        .group_by(tally.c.batch_id, tally.c.fate)
        .order_by(tally.c.batch_id, tally.c.fate)
    )
    for number, fate, records in fates:
        batches[number]["records"][fate] = int(records)
    return list(batches.values())
