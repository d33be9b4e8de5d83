"""
What the two databases do differently. Everything else in this room is one SQL for both.

The hot path speaks to the driver itself: sets of rows go in and out by the thousand, as multi-row
VALUES on SQLite, as arrays or binary COPY on PostgreSQL.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import chain, islice
from operator import iconcat
from typing import TYPE_CHECKING, Any

from service.store.columns import COLUMNS, PgType
from service.store.driver import Connection, Values

if TYPE_CHECKING:
    import sqlalchemy as sa

_SIZES = (256, 64, 16, 4, 1)
"""Rows of one statement on SQLite. Few sizes make few statements, so that the driver has them ready."""
_COPY_ROWS = 1_000
"""From this many rows on, COPY is cheaper than arrays."""


def is_sqlite(conn: "sa.Connection") -> bool:
    """Whether the database is the embedded one."""
    return conn.dialect.name == "sqlite"


def insert_many(
    conn: Connection,
    table: str,
    rows: Iterable[Values],
    *,
    constant: Mapping[str, int | None] | None = None,
    conflict: str = "",
    returning: Sequence[str] = (),
) -> list[Values]:
    """
    Insert *rows*, each with the table's `COLUMNS` in their order, and return what RETURNING gives.

    Columns that have the same value in every row may be left out of the rows and stand in *constant*
    once. *conflict* is an `ON CONFLICT …` clause. Hand the rows over in key order: it keeps the
    inserts sequential, and locks in one order.
    """
    if isinstance(rows, list) and not rows:
        return []
    same = dict(constant or {})
    columns = _columns(table, tuple(same))
    tail = f" {conflict}" + (f" RETURNING {', '.join(returning)}" if returning else "")
    if conn.embedded:
        return _insert_sqlite(conn, table, columns, same, rows, tail)
    suffix = tuple(same.values())
    given = (row + suffix for row in rows) if suffix else iter(rows)
    return _insert_postgres(conn, table, (*columns, *same), given, tail)


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
    if conn.embedded:
        for chunk in _chunks(iter(rows)):
            statement = _matching_sqlite(sql, len(types), len(chunk))
            found += conn.raw.execute(statement, _flat(chunk)).fetchall()
        return found
    names = ", ".join(f"column{n}" for n in range(1, len(types) + 1))
    statement = sql.format(wanted=f"unnest({_arrays(types)}) AS wanted({names})")
    return _fetch(conn.raw.execute(statement, _turned(rows)))


def update_many(
    conn: Connection, table: str, columns: Sequence[str], rows: Sequence[Values]
) -> None:
    """Set *columns* of the rows with these ids: each of *rows* is an id and a value a column."""
    if not rows:
        return
    if conn.embedded:
        sets = ", ".join(f"{name} = ?{n}" for n, name in enumerate(columns, start=2))
        conn.raw.executemany(f"UPDATE {table} SET {sets} WHERE id = ?1", rows)
        return
    types = [COLUMNS[table][name] for name in ("id", *columns)]
    sets = ", ".join(f"{name} = wanted.column{n}" for n, name in enumerate(columns, start=2))
    sql = f"UPDATE {table} SET {sets} FROM {{wanted}} WHERE {table}.id = wanted.column1"
    run_matching(conn, sql, types, rows)


def new_ids(conn: Connection, table: str, number: int) -> list[int]:
    """So many ids that no row of *table* has or will be given; there is one writer."""
    if not number:
        return []
    if conn.embedded:
        [(last,)] = conn.rows(f"SELECT coalesce(max(id), 0) FROM {table}")
        return list(range(last + 1, last + 1 + number))
    sql = "SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)"
    return [value for (value,) in conn.rows(sql, (table, number))]


def run_each(conn: Connection, sql: str, rows: Sequence[Values]) -> None:
    """Run *sql*, with a `?` for each value, once for every row."""
    if rows:
        statement = sql if conn.embedded else sql.replace("?", "%s")
        conn.raw.cursor().executemany(statement, rows)


def _chunks(rows: Iterator[Values]) -> Iterator[list[Values]]:
    """Cut *rows* into pieces of few sizes, the largest first."""
    size, *smaller = _SIZES
    while len(chunk := list(islice(rows, size))) == size:
        yield chunk
    for size in smaller:
        while len(chunk) >= size:
            yield chunk[:size]
            chunk = chunk[size:]


def _flat(rows: list[Values]) -> list[Any]:
    """The values of all rows in one list."""
    flat: list[Any] = []
    return reduce(iconcat, rows, flat)


def _insert_sqlite(
    conn: Connection,
    table: str,
    columns: tuple[str, ...],
    same: dict[str, int | None],
    rows: Iterable[Values],
    tail: str,
) -> list[Values]:
    """Insert a piece of the rows at a time, as they come: they need not be in memory together."""
    found: list[Values] = []
    constant, suffix = tuple(same.items()), tuple(same.values())
    for chunk in _chunks(iter(rows)):
        if constant and len(chunk) < _SIZES[0]:
            # As literals they would make a statement of its own out of every small portion.
            columns, constant = (*columns, *same), ()
        if len(columns) > len(chunk[0]):
            chunk = [row + suffix for row in chunk]
        sql = _statement_sqlite(table, columns, constant, len(chunk), tail)
        found += conn.raw.execute(sql, _flat(chunk)).fetchall()
    return found


@lru_cache(maxsize=1_024)
def _columns(table: str, without: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in COLUMNS[table] if name not in without)


@lru_cache(maxsize=1_024)
def _statement_sqlite(
    table: str,
    columns: tuple[str, ...],
    same: tuple[tuple[str, int | None], ...],
    rows: int,
    tail: str,
) -> str:
    """The statement that inserts so many rows; what is the same in all of them stands in its text."""
    names = ", ".join((*columns, *(name for name, _ in same)))
    literals = ("NULL" if value is None else str(value) for _, value in same)
    row = f"({', '.join((*'?' * len(columns), *literals))})"
    return f"INSERT INTO {table} ({names}) VALUES {', '.join([row] * rows)}{tail}"


@lru_cache(maxsize=1_024)
def _matching_sqlite(sql: str, columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return sql.format(wanted=f"(VALUES {', '.join([row] * rows)}) AS wanted")


def _insert_postgres(
    conn: Connection, table: str, columns: Sequence[str], rows: Iterator[Values], tail: str
) -> list[Values]:
    """Insert the rows, many of them as they come: they need not be in memory together."""
    few = list(islice(rows, _COPY_ROWS))
    if not few:
        return few
    names = ", ".join(columns)
    types = [COLUMNS[table][name] for name in columns]
    if len(few) < _COPY_ROWS:
        sql = f"INSERT INTO {table} ({names}) SELECT * FROM unnest({_arrays(types)}){tail}"
        return _fetch(conn.raw.execute(sql, _turned(few)))
    rows = chain(few, rows)
    if not tail.strip():
        _copy(conn, table, names, types, rows)
        return []
    staging = ", ".join(f"{name} {kind}" for name, kind in zip(columns, types, strict=True))
    conn.raw.execute(f"CREATE TEMP TABLE staging ({staging}) ON COMMIT DROP")
    _copy(conn, "staging", names, types, rows)
    found = _fetch(
        conn.raw.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM staging{tail}")
    )
    conn.raw.execute("DROP TABLE staging")
    return found


def _copy(
    conn: Connection, table: str, names: str, types: Sequence[PgType], rows: Iterable[Values]
) -> None:
    with (
        conn.raw.cursor() as cursor,
        cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def _arrays(types: Sequence[PgType]) -> str:
    return ", ".join(f"%s::{kind}[]" for kind in types)


def _turned(rows: Sequence[Values]) -> list[list[Any]]:
    """Rows as columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def _fetch(cursor: Any) -> list[Values]:
    found: list[Values] = cursor.fetchall() if cursor.description else []
    return found
