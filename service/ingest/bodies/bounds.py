"""What is the same for all bodies that are not lines: how records are made, and how many."""

import json
from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from service.errors import BodyTooLarge
from service.ingest.records import BARE, Line, Origin, Parsed, Record
from service.ingest.times import EARLIEST_NS, LATEST_NS, BadTime, parse_time

MOST: Final = 50_000
"""Records of one body that do not come as blocks of lines: all of them are in memory at once, and each
takes hundreds of bytes whatever it takes in the body."""

_HEAD_BYTES: Final = 4096


def bounded(records: Iterable[bytes | Record]) -> Iterator[bytes | Record]:
    """
    Pass on the records of a body.

    Raises:
        BodyTooLarge: There are more than `MOST` single ones among them.
    """
    single = 0
    for record in records:
        single += not isinstance(record, bytes)
        if single > MOST:
            raise BodyTooLarge(f"more than {MOST} records; send fewer at a time")
        yield record


def line_of(raw: bytes, max_line: int, origin: Origin = BARE) -> Line:
    """Return a text as the line that it is, without newlines at its end, marked where it is too long."""
    raw = raw.rstrip(b"\r\n")
    if len(raw) <= max_line:
        return Line(raw, origin=origin)
    head = raw.lstrip()[:_HEAD_BYTES]
    return Line(head, too_long=True, json_like=head.startswith(b"{"), origin=origin)


def record_of(value: object, max_line: int, origin: Origin = BARE) -> Record:
    """
    Return a parsed value as a record: text is a line as it is, an object one that is written again,
    since that is smaller and read faster than what was parsed; of anything else only that it is none.
    """
    if isinstance(value, str):
        return line_of(value.encode(errors="replace"), max_line, origin)
    if not isinstance(value, dict):
        return refused(value, origin)
    try:
        raw = compact(orjson.dumps(value))
    except TypeError:  # too deep, lone surrogates, or numbers beyond 64 bits
        try:
            # A lone surrogate becomes its escape, and nothing else is escaped: a line that came with
            # much text of other scripts stays about as long as it was.
            raw = json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace")
        except RecursionError:
            return refused("an object that is too deep", origin)
    return line_of(raw, max_line, origin)


def compact(raw: bytes) -> bytes:
    """Copy what orjson wrote: it writes into a kilobyte, which a text cut from it would keep in use."""
    return bytes(memoryview(raw))


def refused(value: object, origin: Origin = BARE, *, broken: bool = False) -> Parsed:
    """Return a record that is no object, or (*broken*) the text of what is no JSON; of something large only
    its kind and size."""
    if isinstance(value, list):
        value = f"a list of {len(value)}"
    return Parsed(value[:_HEAD_BYTES] if isinstance(value, str) else value, origin, broken)


def likely_time(value: object) -> object:
    """Return when a wrapper says that it was given a record; None where that cannot be a time."""
    try:
        return value if EARLIEST_NS <= parse_time(value) < LATEST_NS else None
    except BadTime:
        return None
