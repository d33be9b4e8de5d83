"""Results of whole numbers as columns, without an object a row."""

from itertools import chain
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from service.store.engine import Connection

Column = NDArray[np.int64]
SIZE = 50_000
"""Rows turned into columns at a time, so that no more of them are objects at once."""


def columns(connection: Connection, query: "sa.Select[Any]", width: int) -> list[Column]:
    """The columns of a query that yields `width` whole numbers a row, none of them NULL."""
    result = connection.execute(query)
    cursor: Any = result.cursor
    parts = []
    while rows := cursor.fetchmany(SIZE):
        flat = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=len(rows) * width)
        parts.append(flat.reshape(-1, width))
    result.close()
    table = np.concatenate(parts) if parts else np.empty((0, width), dtype=np.int64)
    return [np.ascontiguousarray(table[:, i]) for i in range(width)]
