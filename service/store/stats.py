"""What a database holds, for `lastcall db stats`."""

from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from service.events import Kind
from service.store import read_batches, schema
from service.store.dialect import is_sqlite
from service.store.engine import Connection

NEWEST_BATCHES = 50
_EVER = (None, 2**62)
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


def stats(conn: Connection, batches: int = NEWEST_BATCHES) -> dict[str, Any]:
    """
    Count what is stored; reads the kind of every event, so give it seconds on millions.

    Returns:
        `events` by kind (all stored rows, also those that another line of their call stands for),
        `first_us` and `last_us` (None without events), `dimensions` (rows by table), `bytes` on
        disk, `releases`, `quarantined`, and `batches`: so many of the newest, newest first, each with
        `records` by fate.
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
        "batches": [
            asdict(each) for each in read_batches.batches(conn, _EVER, None, None, None, batches)
        ],
    }


def _rows(conn: Connection, table: sa.Table) -> int:
    return conn.scalar(sa.select(sa.func.count()).select_from(table)) or 0


def _bytes(conn: Connection) -> int:
    """Bytes that the database takes on disk."""
    sql = "SELECT pg_database_size(current_database())"
    if is_sqlite(conn):
        sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    return int(conn.execute(sa.text(sql)).scalar_one())
