"""
Results of whole numbers as columns, without an object a number.

The database puts each column of a result together into one value; that is several times faster than
rows, which a driver makes tuples of.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from service.store.dialect import is_sqlite
from service.store.engine import Connection

Column = NDArray[np.int64]
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">i8")])
_NONE: Column = np.empty(0, dtype=np.int64)
BLOCK = 1_000_000
"""Rows that come in one value, of which PostgreSQL sends no more than a gigabyte."""
_HEADER = 20
"""Bytes before the first element of an array of one dimension, as PostgreSQL sends it."""


def columns(connection: Connection, query: "sa.Select[Any]", width: int) -> list[Column]:
    """The columns of a query that yields `width` whole numbers a row, none of them NULL; in no order."""
    named = [column.label(f"c{place}") for place, column in enumerate(query.selected_columns)]
    rows = query.with_only_columns(*named, maintain_column_froms=True).subquery()
    read: Callable[[Any], Column]
    if is_sqlite(connection):
        joined, read = sa.select(*map(_text, rows.c)), _read_text
    else:
        block = (sa.func.row_number().over() // BLOCK).label("block")
        numbered = sa.select(rows, block).subquery()
        every = [_array(numbered.c[column.name]) for column in rows.c]
        joined, read = sa.select(*every).group_by(numbered.c.block), _read_array
    found = [row for row in connection.execute(joined) if row[0] is not None]
    parts = [[read(value) for value in values] for values in zip(*found, strict=True)]
    return [np.concatenate(part) for part in parts] or [_NONE] * width


def _text(column: "sa.ColumnElement[Any]") -> "sa.ColumnElement[Any]":
    return sa.func.group_concat(column)


def _read_text(value: str) -> Column:
    return np.fromstring(str(value), dtype=np.int64, sep=",")


def _array(column: "sa.ColumnElement[Any]") -> "sa.ColumnElement[Any]":
    return sa.func.array_send(sa.func.array_agg(sa.cast(column, sa.BigInteger)))


def _read_array(value: bytes) -> Column:
    return np.frombuffer(value, _ELEMENT, offset=_HEADER)["value"].astype(np.int64)
