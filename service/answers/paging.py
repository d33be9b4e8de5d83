"""
Pages that neither skip nor repeat a row, whatever is written between them.

A cursor holds values only: the instants that the first page fixed, and the place of its last row in
the order. The next page holds what comes after that place.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cmp_to_key
from typing import Any

from service.answers.query import Query
from service.errors import BadParameter

Key = tuple[Any, ...]

_FORM = {"limit", "cursor"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended, and the range that its first page fixed."""

    as_of_us: int
    since_us: int | None
    until_us: int | None
    key: Key


def _fingerprint(collection: str, query: Query) -> str:
    asked = {f.name: getattr(query, f.name) for f in fields(query) if f.name not in _FORM}
    text = json.dumps([collection, asked], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=9).hexdigest()


def write_cursor(collection: str, query: Query, place: Place) -> str:
    """Make a cursor for the page after *place*."""
    values = [_fingerprint(collection, query), place.as_of_us, place.since_us, place.until_us]
    text = json.dumps([*values, list(place.key)], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def read_cursor(collection: str, query: Query) -> Place | None:
    """
    Read the cursor of a query; None where it has none.

    Raises:
        BadParameter: The cursor is damaged, or belongs to another question.
    """
    if query.cursor is None:
        return None
    try:
        raw = query.cursor.encode("ascii")
        text = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
        fingerprint, as_of_us, since_us, until_us, key = json.loads(text)
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
    return Place(as_of_us, since_us, until_us, tuple(key))


def bad_cursor() -> BadParameter:
    """The refusal of a cursor whose values do not fit its question."""
    return BadParameter("cursor", "damaged; leave it out to begin with the first page")


@dataclass(frozen=True, slots=True)
class Order:
    """By one column, None last, then by the identity of a row."""

    column: int | None
    """Place of the column in a key, None for the identity alone."""
    descending: bool

    def compare(self, left: Key, right: Key) -> int:
        """Below, at or above 0 as *left* comes before, with or after *right*."""
        if self.column is not None:
            a, b = left[self.column], right[self.column]
            if (a is None) != (b is None):
                return 1 if a is None else -1
            if a != b:
                return 1 if (a < b) is self.descending else -1
        a, b = left[1:], right[1:]
        if a == b:
            return 0
        reverse = self.descending and self.column is None
        return 1 if (a < b) is reverse else -1


def page[RowT](
    rows: Sequence[RowT],
    key: Callable[[RowT], Key],
    order: Order,
    after: Key | None,
    limit: int,
) -> tuple[tuple[RowT, ...], Key | None]:
    """
    Sort rows, drop those up to *after*, keep *limit*.

    Args:
        key: The sort value of a row, then its identity (texts).

    Returns:
        The page, and the key of its last row where more rows follow.
    """
    by_key = cmp_to_key(lambda a, b: order.compare(key(a), key(b)))
    ordered = sorted(rows, key=by_key)
    if after is not None:
        try:
            ordered = [row for row in ordered if order.compare(key(row), after) > 0]
        except (TypeError, IndexError):
            raise bad_cursor() from None
    kept = tuple(ordered[:limit])
    return kept, key(kept[-1]) if len(ordered) > limit else None


def order_asked(query: Query, columns: Sequence[str], default: str = "") -> tuple[str | None, bool]:
    """
    Read `sort`: a column, with `-` before it for descending; None for the default order.

    Raises:
        BadParameter: No such column.
    """
    asked = query.sort or default
    if not asked:
        return None, False
    column = asked.removeprefix("-")
    if column not in columns:
        raise BadParameter("sort", f"use one of {', '.join(columns)}, with - before it to descend")
    return column, asked.startswith("-")


