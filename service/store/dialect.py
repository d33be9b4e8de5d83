"""
What the two databases do differently. Everything else in this room is one SQL for both.

The hot path speaks to the driver itself: sets of rows go in and out by the thousand, as multi-row
VALUES on SQLite, as arrays or binary COPY on PostgreSQL.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, cast

import sqlalchemy as sa

from service.store.engine import Connection

Values = tuple[Any, ...]
PgType = Literal["int2", "int4", "int8", "text", "bool"]

_SQLITE_PARAMETERS = 30_000
"""Below the limit of 32,766 in every build of SQLite that has `RETURNING`."""
_SQLITE_ROWS = 250
_COPY_ROWS = 1_000
"""From this many rows on, COPY into a table of its own is cheaper than arrays."""


def is_sqlite(conn: Connection) -> bool:
    """Whether the database is the embedded one."""
    return conn.dialect.name == "sqlite"


def insert_many(
    conn: Connection,
    table: sa.Table,
    columns: Sequence[str],
    rows: Sequence[Values],
    *,
    conflict: str = "",
    returning: Sequence[str] = (),
) -> list[Values]:
    """
    Insert *rows* (one value a column, in the order given) and return what RETURNING gives.

    *conflict* is an `ON CONFLICT …` clause. Hand the rows over in key order: it keeps the inserts
    sequential, and locks in one order.
    """
    if not rows:
        return []
    tail = f" {conflict}" + (f" RETURNING {', '.join(returning)}" if returning else "")
    head = f"INSERT INTO {table.name} ({', '.join(columns)})"
    if is_sqlite(conn):
        return _insert_sqlite(conn, head, tail, len(columns), rows)
    types = [_pg_type(table.c[name]) for name in columns]
    if len(rows) < _COPY_ROWS:
        arrays = ", ".join(f"%s::{t}[]" for t in types)
        sql = f"{head} SELECT * FROM unnest({arrays}){tail}"
        return _fetch(
            _driver(conn).execute(sql, [list(column) for column in zip(*rows, strict=True)])
        )
    return _copy_postgres(conn, head, tail, list(zip(columns, types, strict=True)), rows)


def run_matching(
    conn: Connection, sql: str, types: Sequence[PgType], keys: Iterable[Values]
) -> list[Values]:
    """
    Run *sql* for all *keys* and return its rows, in no order.

    *sql* holds `{wanted}` where the keys belong, a table `wanted (column1, column2, …)`; *types* are
    the types of its columns. Write `FROM {wanted} CROSS JOIN thing AS t WHERE t.a = wanted.column1`:
    SQLite then goes from the keys to the index, where `(a, b, c) IN (…)` would scan the table.
    """
    rows = list(keys)
    found: list[Values] = []
    if not rows:
        return found
    if is_sqlite(conn):
        for chunk in chunks(rows, _SQLITE_PARAMETERS // len(types)):
            values = f"(VALUES {_tuples(len(types), len(chunk))}) AS wanted"
            flat = [value for row in chunk for value in row]
            found += _driver(conn).execute(sql.format(wanted=values), flat).fetchall()
        return found
    arrays = ", ".join(f"%s::{t}[]" for t in types)
    names = ", ".join(f"column{n}" for n in range(1, len(types) + 1))
    columns = [list(column) for column in zip(*rows, strict=True)]
    statement = sql.format(wanted=f"unnest({arrays}) AS wanted({names})")
    return _fetch(_driver(conn).execute(statement, columns))


def run_each(conn: Connection, sql: str, rows: Sequence[Values]) -> None:
    """Run *sql*, with a `?` for each value, once for every row; for few rows."""
    if rows:
        statement = sql if is_sqlite(conn) else sql.replace("?", "%s")
        _driver(conn).cursor().executemany(statement, rows)


def database_bytes(conn: Connection) -> int:
    """Bytes that the database takes on disk."""
    if is_sqlite(conn):
        return cast(
            int,
            conn.exec_driver_sql(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ).scalar_one(),
        )
    return cast(int, conn.scalar(sa.select(sa.func.pg_database_size(sa.func.current_database()))))


def chunks(items: Sequence[Values], size: int) -> Iterator[Sequence[Values]]:
    """Cut *items* into pieces of at most *size*."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _driver(conn: Connection) -> Any:
    """The driver's own connection, inside the transaction that *conn* has open."""
    return conn.connection.driver_connection


def _tuples(columns: int, rows: int) -> str:
    return ",".join([f"({','.join('?' * columns)})"] * rows)


def _insert_sqlite(
    conn: Connection, head: str, tail: str, columns: int, rows: Sequence[Values]
) -> list[Values]:
    run = _driver(conn).execute
    given: list[Values] = []
    for chunk in chunks(rows, min(_SQLITE_ROWS, _SQLITE_PARAMETERS // columns)):
        flat = [value for row in chunk for value in row]
        given += run(f"{head} VALUES {_tuples(columns, len(chunk))}{tail}", flat).fetchall()
    return given


def _copy_postgres(
    conn: Connection,
    head: str,
    tail: str,
    columns: list[tuple[str, PgType]],
    rows: Sequence[Values],
) -> list[Values]:
    """Insert by way of a table of its own, which lives as long as the call."""
    names = ", ".join(name for name, _ in columns)
    driver = _driver(conn)
    driver.execute(
        f"CREATE TEMP TABLE staging ({', '.join(f'{name} {t}' for name, t in columns)}) "
        "ON COMMIT DROP"
    )
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY staging ({names}) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types([t for _, t in columns])
        for row in rows:
            copy.write_row(row)
    given = _fetch(driver.execute(f"{head} SELECT {names} FROM staging{tail}"))
    driver.execute("DROP TABLE staging")
    return given


def _fetch(cursor: Any) -> list[Values]:
    return cast(list[Values], cursor.fetchall()) if cursor.description else []


def _pg_type(column: sa.Column[Any]) -> PgType:
    kind = column.type
    if isinstance(kind, sa.Boolean):
        return "bool"
    if isinstance(kind, sa.SmallInteger):
        return "int2"
    if isinstance(kind, sa.BigInteger):
        return "int8"
    if isinstance(kind, sa.Integer):
        return "int4"
    return "text"
