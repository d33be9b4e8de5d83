"""
Conditions on sets of ids of any size.

A database takes a few ten thousand parameters in one statement, and a stranger can send more spellings
than that. A short list is written out, which a planner judges best; a long one is one parameter.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects.postgresql import ARRAY

from service.store.dialect import is_sqlite
from service.store.engine import Connection
from service.store.read_columns import Column

ValueT = TypeVar("ValueT", int, str)

LISTED = 1_000
"""Up to this many ids are written out."""


@dataclass(frozen=True, slots=True)
class Chosen(Generic[ValueT]):
    """Some values, or (`outside`) all but these."""

    values: frozenset[ValueT]
    outside: bool = False

    def __contains__(self, value: object) -> bool:
        return (value in self.values) is not self.outside

    def mask(self, column: Column) -> NDArray[np.bool_]:
        """Of each value of a column whether it is among them."""
        return np.isin(column, sorted(self.values), invert=self.outside)


Ids: TypeAlias = Collection[int] | Chosen[int]


def among(
    connection: Connection,
    column: "sa.ColumnElement[Any]",
    ids: Ids,
) -> "sa.ColumnElement[bool]":
    """Whether a column that is never NULL holds one of these ids."""
    if isinstance(ids, Chosen):
        met = among(connection, column, ids.values)
        return sa.not_(met) if ids.outside else met
    if len(ids) <= LISTED:
        return column.in_(sorted(ids))
    values = sorted(ids)
    if is_sqlite(connection):
        each = sa.func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(sa.select(each.c.value))
    return column.in_(sa.select(sa.func.unnest(_array(values))))


def text_among(
    column: "sa.ColumnElement[Any]", texts: Chosen[str] | None
) -> "sa.ColumnElement[bool]":
    """Whether a column that is never NULL holds one of these few texts; always where they are None."""
    if texts is None:
        return sa.true()
    values = sorted(texts.values)
    return column.not_in(values) if texts.outside else column.in_(values)


def pairs_among(
    embedded: bool,
    columns: "tuple[sa.ColumnElement[Any], sa.ColumnElement[Any]]",
    pairs: Collection[tuple[int, int]],
) -> "sa.ColumnElement[bool]":
    """Whether two columns hold one of these pairs of whole numbers; on SQLite where *embedded*."""
    both = sa.tuple_(*columns)
    values = sorted(pairs)
    if len(values) <= LISTED:
        return both.in_(values)
    listed = table_of(embedded, values)
    return both.in_(sa.select(*listed.c))


def table_of(embedded: bool, rows: Collection[tuple[int, ...]]) -> "sa.Subquery":
    """Rows of whole numbers, one at least, as a table with the columns `c0`, `c1` …; on SQLite where *embedded*."""
    values = sorted(rows)
    places = range(len(values[0]))
    if embedded:
        each = sa.func.json_each(json.dumps(values)).table_valued("value")
        members = [sa.func.json_extract(each.c.value, f"$[{place}]") for place in places]
    else:  # several of them in one SELECT go side by side
        members = [sa.func.unnest(_array([row[place] for row in values])) for place in places]
    return sa.select(*(each.label(f"c{place}") for place, each in enumerate(members))).subquery()


def _array(values: list[int]) -> "sa.ColumnElement[Any]":
    return sa.bindparam(None, values, type_=ARRAY(sa.BigInteger))
