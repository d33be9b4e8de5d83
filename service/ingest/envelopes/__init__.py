"""
Wrappers: what log shippers and container runtimes put around a record.

One file a wrapper. Each has a function for lines or one for parsed records that takes the wrapper off, or
returns None where it is not there. A wrapper is known by its shape alone and never by what is inside, so a
text that a user wrote into a log cannot pass for a record: JSON inside a string is taken out only of an
object that has the keys of a wrapper and no logger's own.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from service.ingest.records import Origin

MOST: Final = 6
"""So many wrappers are taken off at most."""


class Peeled(NamedTuple):
    """What is inside of one wrapper."""

    wrapper: str
    """Its name, as `lastcall explain` says it."""
    inner: object
    """bytes: a line that may have further wrappers; anything else: a parsed record."""
    time: object = None
    native_id: str | None = None


OfLine = Callable[[bytes], Peeled | None]
OfRecord = Callable[[dict[str, Any]], Peeled | None]

LINES: Final[tuple[OfLine, ...]] = ()
"""Asked in this order for a line that does not begin like a JSON object."""

RECORDS: Final[tuple[OfRecord, ...]] = ()
"""Asked in this order for a parsed record."""


def of_line(raw: bytes, origin: Origin) -> tuple[object, Origin] | None:
    """Take the outermost wrapper off a line that has something inside; None where there is none."""
    return _of(raw, LINES, origin)


def of_record(record: dict[str, Any], origin: Origin) -> tuple[object, Origin] | None:
    """Take the outermost wrapper off a record; None where there is none."""
    return _of(record, RECORDS, origin)


def _of(
    outer: Any, known: tuple[Callable[[Any], Peeled | None], ...], origin: Origin
) -> tuple[object, Origin] | None:
    if len(origin.wrappers) >= MOST:
        return None
    for peel in known:
        peeled = peel(outer)
        if peeled is not None:
            time = origin.time if peeled.time is None else peeled.time
            native_id = peeled.native_id or origin.native_id
            return peeled.inner, Origin(time, native_id, (*origin.wrappers, peeled.wrapper))
    return None
