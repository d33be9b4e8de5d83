"""
Whether what is derived still follows from the rows, and how it is derived again.

A difference means a fault of ours or a hand in the database: the writer keeps all of this up to
date in the transaction that stores the rows.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import Any

import sqlalchemy as sa

from service import names
from service.clock import QUARTER_US
from service.events import Kind
from service.store import derived, schema
from service.store.engine import Connection, driver_of
from service.store.writer import raise_data_version

_Said = Callable[[], str]
"""Puts a difference into words, for which it may have to look up names."""

SHOWN = 100
"""Differences that are told in words; further ones are only counted."""

_CLIENTS_AT_ONCE = 2_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLIENT_COLUMNS = ("key", "name", "via", "version")


def differences(conn: Connection) -> list[str]:
    """
    Tell, one sentence each, where the database does not follow from its rows; empty when it does.

    At most `SHOWN` sentences and then one that says how many more there are. Reads every row, in
    bounded memory.
    """
    every = _every_difference(conn)
    told = [say() for say in islice(every, SHOWN)]
    further = sum(1 for _ in every)
    return [*told, f"… and {further} more"] if further else told


def rebuild(conn: Connection) -> int:
    """
    Derive again, from the rows, what clients' spellings mean, what sessions say, which lines count
    and every roll-up, within the write transaction that *conn* has open.

    Returns:
        How many rows and cells differed; 0 when everything was right.
    """
    mended = _mend_clients(conn)
    mended += conn.execute(sa.text(derived.MEND_STRAY_SESSIONS)).rowcount
    mended += conn.execute(sa.text(derived.MEND_SESSIONS)).rowcount
    mended += conn.execute(sa.text(derived.MEND_COUNTED)).rowcount
    for table, difference, truth in (
        ("call_day", derived.CALL_DAY_DIFFERENCE, derived.CALL_DAY_TRUTH),
        ("activity", derived.ACTIVITY_DIFFERENCE, derived.ACTIVITY_TRUTH),
    ):
        wrong = conn.scalar(sa.text(f"SELECT count(*) FROM ({difference}) AS wrong"))
        if wrong:
            mended += int(wrong)
            conn.execute(sa.text(f"DELETE FROM {table}"))
            columns = ", ".join(schema.metadata.tables[table].c.keys())
            conn.execute(sa.text(f"INSERT INTO {table} ({columns}) {truth}"))
    if mended:
        raise_data_version(driver_of(conn))
    return mended


def _every_difference(conn: Connection) -> Iterator[_Said]:
    yield from _clients(conn)
    yield from _sessions(conn)
    yield from _counted(conn)
    yield from _call_days(conn)
    yield from _activity(conn)
    yield from _dangling(conn)


def _mend_clients(conn: Connection) -> int:
    """Read every spelling again; returns how many now read differently."""
    mended = 0
    for row, read in _misread_clients(conn):
        values = dict(zip(_CLIENT_COLUMNS, read, strict=True))
        conn.execute(schema.client.update().where(schema.client.c.id == row.id).values(values))
        mended += 1
    return mended


def _misread_clients(conn: Connection) -> Iterator[tuple[Any, tuple[str | None, ...]]]:
    """Client rows that differ from what their spelling says, with (key, name, via, version) of it."""
    client = schema.client
    last = 0
    while True:
        page = conn.execute(
            sa.select(client)
            .where(client.c.id > last)
            .order_by(client.c.id)
            .limit(_CLIENTS_AT_ONCE)
        ).all()
        for row in page:
            read = names.read_client(row.raw)
            if read is not None:
                said = (read.key, read.name, read.via, read.version)
                if said != (row.key, row.name, row.via, row.version):
                    yield row, said
        if len(page) < _CLIENTS_AT_ONCE:
            return
        last = page[-1].id


def _clients(conn: Connection) -> Iterator[_Said]:
    for row, said in _misread_clients(conn):
        for name, read in zip(_CLIENT_COLUMNS, said, strict=True):
            if getattr(row, name) != read:
                yield partial(_client, row, name, read)


def _client(row: Any, name: str, read: str | None) -> str:
    return f"client {row.raw!r}: {name} is {getattr(row, name)!r}, its spelling says {read!r}"


def _sessions(conn: Connection) -> Iterator[_Said]:
    for row in _stream(conn, derived.SESSION_DIFFERENCE + "ORDER BY session.id"):
        for name in derived.SESSION_COLUMNS:
            if getattr(row, name) != getattr(row, f"rows_{name}"):
                yield partial(_session, conn, row, name)


def _session(conn: Connection, row: Any, name: str) -> str:
    server = _name(conn, schema.server, row.server_id)
    return (
        f"session {row.digest} of server {server}: "
        f"{name} is {getattr(row, name)}, the rows say {getattr(row, f'rows_{name}')}"
    )


def _counted(conn: Connection) -> Iterator[_Said]:
    for row in _stream(conn, derived.COUNTED_DIFFERENCE):
        yield partial(_line, row)


def _line(row: Any) -> str:
    return (
        f"event at {_instant(row.time_us)} with key {row.key}: "
        f"counted is {row.stored}, the lines of its call say {row.counted}"
    )


def _call_days(conn: Connection) -> Iterator[_Said]:
    for row in _stream(conn, derived.CALL_DAY_DIFFERENCE + "ORDER BY 1, 2, 3, 4, 5"):
        yield partial(_call_day, conn, row)


def _call_day(conn: Connection, row: Any) -> str:
    tool = _name(conn, schema.tool, row.tool_id)
    day = (_EPOCH + timedelta(days=row.day)).date().isoformat()
    what = f"{int(row.calls)} calls, the rows say {int(row.rows_say)}"
    if row.calls == row.rows_say:
        what = (
            f"from {_instant(row.first_us)} to {_instant(row.last_us)}, the rows say "
            f"from {_instant(row.rows_first)} to {_instant(row.rows_last)}"
        )
    return f"call_day: {_cell(conn, row)}, tool {tool}, day {day}: {what}"


def _activity(conn: Connection) -> Iterator[_Said]:
    for row in _stream(conn, derived.ACTIVITY_DIFFERENCE + "ORDER BY 1, 2, 3, 4"):
        yield partial(_quarter, conn, row)


def _quarter(conn: Connection, row: Any) -> str:
    return (
        f"activity: {_cell(conn, row)}, quarter-hour {_instant(row.quarter * QUARTER_US)}: "
        f"{int(row.events)} events, the rows say {int(row.rows_say)}"
    )


def _dangling(conn: Connection) -> Iterator[_Said]:
    counts = conn.execute(sa.text(derived.DANGLING)).one()._asdict()
    for name, rows in counts.items():
        if rows:
            yield partial(str, f"event: {rows} rows point to a {name} that does not exist")
    if stray := conn.scalar(sa.text(derived.STRAY_EXTRA)):
        yield partial(str, f"event_extra: {stray} rows belong to no event")
    if stray := conn.scalar(sa.text(derived.STRAY_NATIVE)):
        yield partial(str, f"native: {stray} rows belong to no event")
    if stray := conn.scalar(sa.text(derived.STRAY_LINE)):
        yield partial(str, f"call_line: {stray} rows belong to no event of their session")
    if stray := conn.scalar(sa.text(derived.STRAY_SESSION)):
        yield partial(str, f"session: {stray} rows have no event")


def _stream(conn: Connection, sql: str) -> Iterator[Any]:
    """Rows of a query, a thousand in memory at a time."""
    yield from conn.execute(sa.text(sql), execution_options={"yield_per": 1_000})


def _cell(conn: Connection, row: Any) -> str:
    """What both roll-ups are about."""
    server = _name(conn, schema.server, row.server_id)
    client = "unattributed"
    if row.client_id:
        raw = conn.scalar(sa.select(schema.client.c.raw).where(schema.client.c.id == row.client_id))
        client = f"client {raw or f'number {row.client_id}, which does not exist'}"
    kinds = {int(kind): kind.word for kind in Kind}
    return f"server {server}, {client}, {kinds.get(row.kind, row.kind)}"


def _name(conn: Connection, table: sa.Table, number: int) -> str:
    found = conn.scalar(sa.select(table.c.name).where(table.c.id == number))
    return found or f"number {number}, which does not exist"


def _instant(time_us: int | None) -> str:
    if time_us is None:
        return "never"
    return (_EPOCH + timedelta(microseconds=int(time_us))).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
