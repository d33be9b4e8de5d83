"""
msgpack: a list of records (Logtail), records one after the other, or what Fluent Bit and Fluentd write,
`[time, record]`, `[[time, metadata], record]` and `[tag, time, record]`.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from service.errors import BodyNotDecodable
from service.ingest.bodies.bounds import compact, likely_time, line_of, refused
from service.ingest.records import Line, Origin, Record

WRAPPER: Final = "msgpack"

_MOST_INSIDE: Final = 10_000
"""Elements of a list or map within a record: room for as many as are claimed is made at once."""
_MOST_CONTAINERS: Final = 50_000
"""Lists and maps within a record: an empty one takes a byte here and seventy in memory."""
_CONTAINERS: Final = re.compile(rb"[\x80-\x9f\xdc-\xdf]")
_EVENT_TIME: Final = 0


def looks_packed(body: bytes) -> bool:
    """Say whether a body begins with a list or map of msgpack: no text does."""
    if not body:
        return False
    if body[0] in range(0x80, 0xA0):
        return True
    # The long forms are first bytes of UTF-8 too, but only before a byte of 0x80 and more.
    return body[0] in range(0xDC, 0xE0) and (len(body) < 2 or body[1] not in range(0x80, 0xC0))


def records(body: bytes, max_line: int) -> Iterator[Record]:
    """
    Yield the records of a body; of each that is longer than *max_line*, only that it is.

    Raises:
        BodyNotDecodable: It is no msgpack, or cut.
    """
    for start, end in _spans(body):
        inside = body[start:end]
        too_large = end - start > max_line or len(_CONTAINERS.findall(inside)) > _MOST_CONTAINERS
        value = _TOO_LARGE if too_large else _unpacked(inside)
        if value is _TOO_LARGE:
            yield Line(b"", too_long=True, json_like=True, origin=Origin(wrappers=(WRAPPER,)))
            continue
        for record, time in _entries(value):
            yield _record(record, time, max_line)


def _spans(body: bytes) -> Iterator[tuple[int, int]]:
    """Where each record begins and ends; the list around them, if there is one, is opened."""
    import msgpack  # type: ignore[import-untyped]

    reading = msgpack.Unpacker(max_buffer_size=len(body) + 1)
    reading.feed(body)
    try:
        while (start := reading.tell()) < len(body):
            if not _is_list(body[start]):
                reading.skip()
                yield start, reading.tell()
                continue
            count = reading.read_array_header()
            first = reading.tell()
            if (
                first < len(body) and count and not _holds_records(body[first])
            ):  # a tag or a time: this is one record
                for _ in range(count):
                    reading.skip()
                yield start, reading.tell()
                continue
            for number in range(count):
                begin = reading.tell()
                reading.skip()
                end = reading.tell()
                if (
                    number == 0
                    and count == 2
                    and _is_list(body[begin])
                    and _is_map(body[end : end + 1])
                ):
                    reading.skip()  # [[time, metadata], record]
                    yield start, reading.tell()
                    break
                yield begin, end
    except (msgpack.UnpackException, ValueError) as error:
        raise BodyNotDecodable(f"broken msgpack ({error or 'it is cut'})") from error


def _is_list(first: int) -> bool:
    return 0x90 <= first <= 0x9F or first in (0xDC, 0xDD)


def _is_map(first: bytes) -> bool:
    return bool(first) and (0x80 <= first[0] <= 0x8F or first[0] in (0xDE, 0xDF))


def _holds_records(first: int) -> bool:
    return _is_list(first) or _is_map(bytes([first])) or first in (0xC0, 0xC2, 0xC3)


_TOO_LARGE: Final = object()


def _unpacked(span: bytes) -> Any:
    import msgpack

    try:
        return msgpack.unpackb(
            span,
            unicode_errors="replace",
            strict_map_key=False,
            timestamp=2,  # ns
            ext_hook=_extension,
            max_array_len=_MOST_INSIDE,
            max_map_len=_MOST_INSIDE,
        )
    except (ValueError, TypeError, msgpack.UnpackException):
        return _TOO_LARGE


def _extension(code: int, data: bytes) -> object:
    """Fluentd's EventTime in ns; of any other extension nothing."""
    if code != _EVENT_TIME or len(data) != 8:
        return None
    return int.from_bytes(data[:4], "big") * 1_000_000_000 + int.from_bytes(data[4:], "big")


def _entries(value: Any) -> Iterator[tuple[Any, object]]:
    """(record, time) of each record that a value is."""
    match value:
        case [str(), list(entries), *_]:
            for each in entries:
                yield from _entries(each)
        case [str(), time, dict(record), *_]:
            yield record, time
        case [[time, *_], dict(record)] | [int() | float() as time, dict(record)]:
            yield record, time
        case _:
            yield value, None


def _record(record: Any, time: object, max_line: int) -> Record:
    origin = Origin(likely_time(time), None, (WRAPPER,))
    if not isinstance(record, dict):
        return refused(_plain(record), origin)
    try:
        raw = compact(orjson.dumps(record, default=_plain, option=orjson.OPT_NON_STR_KEYS))
    except TypeError:
        return refused("a record that is too deep or has keys that are no text", origin)
    return line_of(raw, max_line, origin)


def _plain(value: Any) -> Any:
    """What JSON has for it."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
