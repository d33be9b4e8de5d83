"""
Databases to ask questions of, made from a seed and written straight into the tables.

    python3 -m benchmarks.databases --mix A --events 1000000 --seed 1 --url sqlite:///million.db

Mix A: 300 days, 12 retired names, 200 clients; 1 % of the events are stale calls and 0.5 % of the
rarer kinds. Mix B: 10 % stale calls, 1,000 clients. The database must be new. What is derived from
the rows (sessions, roll-ups) is what the product would have derived, as `lastcall db check` proves.
"""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks.traffic import MIXES, Column, Table, Traffic
from service.clock import DAY_US, QUARTER_US
from service.events import Kind
from service.store import migrate, schema
from service.store.dialect import is_sqlite
from service.store.engine import Connection, driver_of, make_engine, writing
from service.store.writer import raise_data_version

ROWS = 200_000
"""Rows that are objects at once."""
_LARGE = ("event", "call_day", "activity")
_AFTERWARDS = ("event", "session")
"""Tables whose indexes are made once their rows are there."""


def main() -> None:
    """Make the database that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--mix", choices=sorted(MIXES), default="A")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--until", help="the end, as an instant; now, if not given")
    parser.add_argument("--url", required=True, help="of a new database")
    asked = parser.parse_args()
    start = time.perf_counter()
    until = datetime.fromisoformat(asked.until) if asked.until else datetime.now(UTC)
    make(asked.url, asked.mix, asked.events, asked.seed, int(until.timestamp()) * 1_000_000)
    print(f"{asked.events:,} events in {time.perf_counter() - start:.1f} s")


def make(url: str, mix: str, events: int, seed: int, until_us: int) -> Traffic:
    """
    Fill a database that has no events yet; one without tables gets them.

    Returns:
        What it was filled with; `tables` now holds all of its rows.
    """
    traffic = Traffic(MIXES[mix], events, seed, until_us)
    traffic.tables["session"] = sessions(traffic)
    traffic.tables["call_day"], traffic.tables["activity"] = roll_ups(traffic.tables)
    engine = make_engine(url)
    migrate.ensure_ready(engine, auto_upgrade=True)
    with writing(engine) as connection:
        fill(connection, traffic.tables)
        raise_data_version(driver_of(connection))
    if engine.dialect.name == "postgresql":  # as its autovacuum would, sooner or later
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")
    engine.dispose()
    return traffic


def sessions(traffic: Traffic) -> Table:
    """The sessions that have an event: what each says of its client, and from when to when it was."""
    event = traffic.tables["event"]
    session, time_us, client = (
        np.asarray(event[c]) for c in ("session_id", "time_us", "client_id")
    )
    order = np.argsort(session, kind="stable")  # within a session by time and key
    order = order[np.searchsorted(session[order], 1) :]
    ids, starts = np.unique(session[order], return_index=True)
    first, last = order[starts], order[np.append(starts[1:], order.size) - 1]
    size = int(ids[-1]) + 1
    of = ids - 1
    hello = _firsts(session, (np.asarray(event["kind"]) == int(Kind.HELLO)) & (client > 0), size)
    named = _firsts(session, client > 0, size)
    unnamed = np.bincount(session[client == 0], minlength=size)

    def told(rows: Column, column: str) -> list[int | None]:
        """A column of the first such row of each session; None where there is none."""
        values = np.asarray(event[column])[rows[ids]]
        return [
            v if at >= 0 and v else None
            for at, v in zip(rows[ids].tolist(), values.tolist(), strict=True)
        ]

    return {
        "id": ids,
        "server_id": traffic.server[of] + 1,
        "digest": [traffic.digest[n] for n in of.tolist()],
        "hello_us": told(hello, "time_us"),
        "hello_client_id": told(hello, "client_id"),
        "hello_version_id": told(hello, "version_id"),
        "named_us": told(named, "time_us"),
        "named_client_id": told(named, "client_id"),
        "first_us": time_us[first],
        "last_us": time_us[last],
        "unnamed": unnamed[ids],
    }


def _firsts(session: Column, wanted: Any, size: int) -> Column:
    """The first of the wanted rows of each session, by id; -1 where there is none. Rows are in order."""
    rows = np.flatnonzero(wanted)[::-1]
    found = np.full(size, -1, dtype=np.int64)
    found[session[rows]] = rows  # of several, the last to be written stays
    return found


def roll_ups(tables: Mapping[str, Table]) -> tuple[Table, Table]:
    """`call_day` and `activity`, by sorting packed keys."""
    event = {name: np.asarray(column) for name, column in tables["event"].items()}
    hello = np.zeros(int(event["session_id"].max()) + 1, dtype=np.int64)
    greeted = tables["session"]
    hello[np.asarray(greeted["id"])] = [client or 0 for client in greeted["hello_client_id"]]
    client = np.where(event["client_id"] > 0, event["client_id"], hello[event["session_id"]])
    time_us, server, kind = event["time_us"], event["server_id"], event["kind"]
    quarter = time_us // QUARTER_US
    (cells, starts, ends) = _groups([server, client, kind, quarter])[1:]
    activity = {
        "server_id": server[cells],
        "client_id": client[cells],
        "kind": kind[cells],
        "quarter": quarter[cells],
        "events": ends - starts,
    }
    calls = np.flatnonzero((kind <= int(Kind.CALL)) & (event["tool_id"] > 0))
    server, tool, kind, client, time_us = (
        each[calls] for each in (server, event["tool_id"], kind, client, time_us)
    )
    day = time_us // DAY_US
    order, cells, starts, ends = _groups([server, tool, kind, day, client])
    call_day = {
        "server_id": server[cells],
        "tool_id": tool[cells],
        "client_id": client[cells],
        "kind": kind[cells],
        "day": day[cells],
        "calls": ends - starts,
        "first_us": time_us[order[starts]],
        "last_us": time_us[order[ends - 1]],
    }
    return call_day, activity


def _groups(columns: Sequence[Column]) -> tuple[Column, Column, Column, Column]:
    """
    Rows sorted by columns, equal ones in their order.

    Returns:
        The order; the first row of each group; and where in the order each begins and ends.
    """
    packed = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        low = int(column.min())
        packed = packed * (int(column.max()) - low + 1) + (column - low)
    order = np.argsort(packed, kind="stable")
    sorted_ = packed[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_[1:] != sorted_[:-1]]))
    ends = np.append(starts[1:], order.size)
    return order, order[starts], starts, ends


# ----------------------------------------------------------------------------- writing


def fill(connection: Connection, tables: Mapping[str, Table]) -> None:
    """Write rows into their tables; the indexes of the large ones are made afterwards."""
    later = [index for name in _AFTERWARDS for index in schema.metadata.tables[name].indexes]
    if not is_sqlite(connection):
        connection.exec_driver_sql("ALTER TABLE event DROP CONSTRAINT pk_event")
    for index in later:
        index.drop(connection)
    for table in schema.metadata.sorted_tables:
        if table.name in tables:
            columns = tables[table.name]
            if is_sqlite(connection):
                _fill_sqlite(connection, table, columns)
            elif table.name in _LARGE:
                _copy_numbers(connection, table, columns)
            else:
                _copy(connection, table, columns)
    if not is_sqlite(connection):
        connection.exec_driver_sql(
            "ALTER TABLE event ADD CONSTRAINT pk_event PRIMARY KEY (time_us, key)"
        )
    for index in sorted(later, key=lambda index: str(index.name)):
        index.create(connection)


def _rows(columns: Table) -> Iterator[list[tuple[Any, ...]]]:
    """Rows as tuples, some thousands at a time."""
    size = len(next(iter(columns.values())))
    for start in range(0, size, ROWS):
        part = (column[start : start + ROWS] for column in columns.values())
        yield list(
            zip(*(c.tolist() if isinstance(c, np.ndarray) else c for c in part), strict=True)
        )


def _may_be_none(table: sa.Table, name: str) -> bool:
    """Whether an id of 0 is written as NULL; in roll-ups it stays."""
    column = table.c[name]
    return bool(column.nullable) and isinstance(column.type, sa.Integer)


def _fill_sqlite(connection: Connection, table: sa.Table, columns: Table) -> None:
    driver: Any = connection.connection.driver_connection
    places = ("NULLIF(?, 0)" if _may_be_none(table, name) else "?" for name in columns)
    sql = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join(places)})"
    for part in _rows(columns):
        driver.executemany(sql, part)


def _copy(connection: Connection, table: sa.Table, columns: Table) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor:
        with cursor.copy(f"COPY {table.name} ({', '.join(columns)}) FROM STDIN") as copy:
            for part in _rows(columns):
                for row in part:
                    copy.write_row(row)
        if "id" in columns:  # the next id follows those that were given
            cursor.execute(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"
            )


def _copy_numbers(connection: Connection, table: sa.Table, columns: Table) -> None:
    """As binary, without an object a value: into a table of big integers, and from there."""
    driver: Any = connection.connection.driver_connection
    names = list(columns)
    form = [("fields", ">i2")]
    for name in names:
        form += [(f"{name}_size", ">i4"), (name, ">i8")]
    with driver.cursor() as cursor:
        wide = ", ".join(f"{name} bigint" for name in names)
        cursor.execute(f"CREATE TEMP TABLE staging ({wide}) ON COMMIT DROP")
        with cursor.copy(f"COPY staging ({', '.join(names)}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            size = len(columns[names[0]])
            for start in range(0, size, ROWS):
                rows = np.empty(min(ROWS, size - start), dtype=form)
                rows["fields"] = len(names)
                for name in names:
                    rows[f"{name}_size"] = 8
                    rows[name] = columns[name][start : start + ROWS]
                copy.write(rows.tobytes())
            copy.write(b"\xff\xff")
        values = (f"NULLIF({n}, 0)" if _may_be_none(table, n) else n for n in names)
        cursor.execute(
            f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(values)} FROM staging"
        )
        cursor.execute("DROP TABLE staging")


if __name__ == "__main__":
    main()
