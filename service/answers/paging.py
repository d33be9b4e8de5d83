"""
Pages that neither skip nor repeat a row, whatever is written between them.

A cursor holds values only: the instants that the first page fixed, and the place of its last row in
the order. The next page holds what comes after that place. Where the order is by a value that changes
as lines arrive, there is no such place once something has been written: then the cursor also holds
the version of the data, and another version is refused.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from service.answers.query import Query
from service.errors import BadParameter, Conflict

Key = tuple[Any, ...]
RowT = TypeVar("RowT")

_FORM = {"limit", "cursor"}
_SETTLED = (None, "server", "name")
"""Columns by which an order never changes; None for the order of rows that nobody sorted."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended, and the range that its first page fixed."""

    as_of_us: int
    since_us: int | None
    until_us: int | None
    key: Key
    version: str | None = None
    """The version of the data, where the order depends on it."""


def _fingerprint(collection: str, query: Query) -> str:
    asked = {f.name: getattr(query, f.name) for f in fields(query) if f.name not in _FORM}
    text = json.dumps([collection, asked], sort_keys=True, default=asdict)
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


def write_cursor(collection: str, query: Query, place: Place) -> str:
    """Make a cursor for the page after *place*."""
    values = [_fingerprint(collection, query), place.as_of_us, place.since_us, place.until_us]
    text = json.dumps([*values, list(place.key), place.version], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def read_cursor(collection: str, query: Query) -> Place | None:
    """
    Read the cursor of a query; None where it has none, or an empty one.

    Raises:
        BadParameter: The cursor is damaged, or belongs to another question.
    """
    if not query.cursor:
        return None
    try:
        raw = query.cursor.encode("ascii")
        text = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
        fingerprint, as_of_us, since_us, until_us, key, version = json.loads(text)
        ints = [at for at in (as_of_us, since_us, until_us) if at is not None]
        good = as_of_us is not None and isinstance(key, list) and all(type(i) is int for i in ints)
    except (ValueError, TypeError, RecursionError):
        good = False
    if not good:
        raise BadParameter("cursor", "not a cursor; use next_cursor of the page before, unchanged")
    if fingerprint != _fingerprint(collection, query):
        raise BadParameter(
            "cursor", "belongs to another question; repeat that one, or leave the cursor out"
        )
    return Place(as_of_us, since_us, until_us, tuple(key), version)


def whole_number(value: object) -> int:
    """
    A member of a cursor that is an instant or an id.

    Raises:
        BadParameter: It is none.
    """
    if type(value) is not int or abs(value) > 2**61:
        raise bad_cursor()
    return value


def bad_cursor() -> BadParameter:
    """The refusal of a cursor whose values do not fit its question."""
    return BadParameter("cursor", "damaged; leave it out to begin with the first page")


def data_changed() -> Conflict:
    """The refusal of a cursor into an order that has changed since."""
    return Conflict(
        "the data changed since the first page, and with it the order of the rows; begin again "
        "without cursor, use a larger limit, or sort by name (as it is without sort)"
    )


@dataclass(frozen=True, slots=True)
class Order:
    """By the first member of a key, None last, then by the rest, which ascends."""

    descending: bool = False
    column: str | None = None
    """The column that the first member comes from; None where it is of no column."""

    @property
    def changes(self) -> bool:
        """Whether lines that arrive can move a row that was there before."""
        return self.column not in _SETTLED

    def follows(self, key: Key, other: Key) -> bool:
        """Whether *key* comes after *other*."""
        (value, *rest), (other_value, *other_rest) = key, other
        if value == other_value:
            return rest > other_rest
        if value is None or other_value is None:
            return value is None
        return bool((value < other_value) is self.descending)


def page(
    rows: Iterable[RowT],
    key: Callable[[RowT], Key],
    order: Order,
    after: Key | None,
    limit: int,
) -> tuple[tuple[RowT, ...], Key | None]:
    """
    Sort rows, drop those up to *after*, keep *limit*.

    `key` gives the sort value of a row, then its identity (texts).

    Returns:
        The page, and the key of its last row where more rows follow.
    """
    keyed = [(key(row), row) for row in rows]
    if after is not None:
        try:
            keyed = [(k, row) for k, row in keyed if order.follows(k, after)]
        except (TypeError, ValueError):
            raise bad_cursor() from None
    keyed.sort(key=lambda pair: pair[0][1:])
    valued = [pair for pair in keyed if pair[0][0] is not None]
    valued.sort(key=lambda pair: pair[0][0], reverse=order.descending)
    keyed = valued + [pair for pair in keyed if pair[0][0] is None]
    kept = keyed[:limit]
    return tuple(row for _, row in kept), kept[-1][0] if len(keyed) > limit else None


def order_asked(query: Query, columns: Sequence[str]) -> Order:
    """
    Read `sort`: a column, with `-` before it for descending; no column for the default order.

    Raises:
        BadParameter: No such column.
    """
    if not query.sort:
        return Order()
    column = query.sort.removeprefix("-")
    if column not in columns:
        raise BadParameter("sort", f"use one of {', '.join(columns)}, with - before it to descend")
    return Order(query.sort.startswith("-"), column)
