"""Counting over columns of integers: groups, firsts and lasts, and how many differ."""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]
_SMALL = 50_000


def codes(column: Column) -> tuple[Column, Column]:
    """The values that occur, ascending, and for each row the place of its value among them."""
    if column.size == 0:
        return column, column
    if int(column.min()) >= 0 and int(column.max()) < max(_SMALL, 8 * column.size):
        # ids: a table is faster than sorting
        present = np.zeros(int(column.max()) + 1, dtype=bool)
        present[column] = True
        table = np.cumsum(present, dtype=np.int64) - 1
        return np.flatnonzero(present).astype(np.int64), table[column]
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    fresh = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    places = np.empty(column.size, dtype=np.int64)
    places[order] = np.cumsum(fresh) - 1
    return ordered[fresh], places


def distinct(columns: Sequence[Column]) -> list[Column]:
    """The distinct rows of several columns of equal length, sorted by the first column first."""
    lows = [int(column.min(initial=0)) for column in columns]
    widths = [int(c.max(initial=0)) - low + 1 for c, low in zip(columns, lows, strict=True)]
    if prod(widths) < 1 << 62:  # one number a row: sorted once
        whole = np.zeros(columns[0].size, dtype=np.int64)
        for column, low, width in zip(columns, lows, widths, strict=True):
            whole = whole * width + (column - low)
        whole.sort()
        whole = whole[np.concatenate([[True], whole[1:] != whole[:-1]])] if whole.size else whole
        found = []
        for low, width in zip(lows[::-1], widths[::-1], strict=True):
            whole, rest = np.divmod(whole, width)
            found.append(rest + low)
        return found[::-1]
    kept: list[Column] = []
    packed: Column = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        values, places = codes(column)
        if packed.size and int(packed.max()) > 2**62 // max(values.size, 1):
            packed = codes(packed)[1]
        packed = packed * values.size + places
    fresh, places = codes(packed)
    first = np.zeros(fresh.size, dtype=np.int64)
    first[places[::-1]] = np.arange(packed.size - 1, -1, -1)
    kept.extend(column[first] for column in columns)
    return kept


def count_distinct(group: Column, value: Column, groups: int) -> Column:
    """How many distinct values each group (0 to `groups` - 1) has."""
    (pairs, _) = distinct([group, value])
    return np.bincount(pairs, minlength=groups).astype(np.int64)
