"""
msgpack: a list of records (Logtail), records one after the other, or what Fluent Bit and Fluentd write:
`[time, record]`, `[[time, metadata], record]`, `[tag, time, record]`, and of their forward protocol
`[tag, [[time, record], …]]` and `[tag, entries]`, where the entries are bytes, compressed or not.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import orjson

from service.errors import BodyNotDecodable
from service.ingest.bodies.bounds import compact, likely_time, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.jsontext import deeper_than
from service.ingest.records import Limits, Line, Origin, Record

WRAPPER: Final = "msgpack"

_MOST_INSIDE: Final = 10_000
"""Elements of a list or map within a record: room for as many as are claimed is made at once."""
_MOST_CONTAINERS: Final = 50_000
"""Lists and maps within a record: an empty one takes a byte here and seventy in memory."""
_DEEPEST: Final = 250
"""What is nested deeper cannot be written as JSON."""
_CONTAINERS: Final = re.compile(rb"[\x80-\x9f\xdc-\xdf]")
_EVENT_TIME: Final = 0
_LONGEST_MESSAGE: Final = 4
_HEAD_BYTES: Final = 2_048


def looks_packed(body: bytes) -> bool:
    """Say whether a body begins with a list or map of msgpack: no text does."""
    if not body:
        return False
    if body[0] in range(0x80, 0xA0):
        return True
    # The long forms are first bytes of UTF-8 too, but only before a byte of 0x80 and more.
    return body[0] in range(0xDC, 0xE0) and (len(body) < 2 or body[1] not in range(0x80, 0xC0))


def records(body: bytes, limits: Limits) -> Iterator[Record]:
    """
    Yield the records of a body; of each that is longer than a line may be, only that it is. Its length
    is that which it has here, not that of its JSON.

    Raises:
        BodyNotDecodable: It is no msgpack, or cut.
        BodyTooLarge: Its compressed entries are larger than a body may be.
    """
    left = limits.body_bytes
    for value in _top(body):
        parts = _parts(value)
        if parts is None:
            yield _record(value, None, limits.line_bytes)
            continue
        match [_kind(part) for part in parts]:
            case ["text", "list", *_]:
                for entry in _elements(parts[1]):
                    yield _entry(entry, limits.line_bytes)
            case ["text", "text", *_] if (packed := _content(parts[1])) is not None:
                entries = decode_body(packed, None, left)
                left -= len(entries)
                for entry in _values(entries):
                    yield _entry(entry, limits.line_bytes)
            case ["text", _, "map", *_]:
                yield _record(parts[2], _time(parts[1]), limits.line_bytes)
            case _:
                yield _entry(value, limits.line_bytes)


# ----------------------------------------------------------------------------- cutting


def _top(body: bytes) -> Iterator[bytes]:
    """The values that a body holds one after the other; of one that is a list of records, these."""
    for value in _values(body):
        parts = _parts(value, 2)
        kinds = [_kind(part) for part in parts or ()]
        if parts is None or kinds[:1] in (["text"], ["other"]):
            yield value  # a record, or a list that begins with a tag or a time: one message
        elif kinds == ["list", "map"] and _count(value) == 2:
            yield value  # [[time, metadata], record]
        else:
            yield from _elements(value)


def _values(data: bytes, count: int | None = None, at: int = 0) -> Iterator[bytes]:
    """
    The *count* values from *at* on, or all to the end.

    Raises:
        BodyNotDecodable: It is no msgpack, or cut.
    """
    import msgpack  # type: ignore[import-untyped]

    reading = msgpack.Unpacker(max_buffer_size=len(data) + 1)
    reading.feed(memoryview(data)[at:])
    start = at
    try:
        while start < len(data) if count is None else count:
            reading.skip()
            end = at + reading.tell()
            yield data[start:end]
            start = end
            count = None if count is None else count - 1
    except (msgpack.UnpackException, ValueError) as error:
        why = _why(error, data[start], start) if start < len(data) else "it is cut"
        raise BodyNotDecodable(f"the body begins like msgpack but is broken: {why}") from error


def _why(error: Exception, first: int, at: int) -> str:
    """What is wrong with the value that begins at a place with this byte."""
    import msgpack

    what = f"the value at byte {at} (0x{first:02x})"
    if isinstance(error, msgpack.FormatError):
        return f"{what} holds 0xc1, which means nothing"
    if isinstance(error, msgpack.StackError):
        return f"{what} is nested too deep"
    if isinstance(error, msgpack.OutOfData):
        return f"{what} does not end; the body is cut, or it is no msgpack"
    return f"{what} cannot be read ({error})"


def _elements(value: bytes) -> Iterator[bytes]:
    """The elements of a list."""
    return _values(value, _count(value), _header(value))


def _parts(value: bytes, most: int = _LONGEST_MESSAGE) -> list[bytes] | None:
    """The first elements of a list; None where it is none."""
    return list(islice(_elements(value), most)) if _kind(value) == "list" else None


def _header(value: bytes) -> int:
    """How many bytes come before the first element of a list or map, or the content of a text."""
    return {0xD9: 2, 0xC4: 2, 0xDA: 3, 0xC5: 3, 0xDB: 5, 0xC6: 5, 0xDC: 3, 0xDE: 3, 0xDD: 5,
            0xDF: 5}.get(value[0], 1)  # fmt: skip


def _count(value: bytes) -> int:
    """How many elements a list has."""
    return value[0] & 15 if value[0] < 0xA0 else int.from_bytes(value[1 : _header(value)], "big")


def _kind(value: bytes) -> str:
    """`list`, `map`, `text` (bytes too), `none` (nil and booleans) or `other`, by the first byte."""
    first = value[0] if value else 0
    if 0x90 <= first <= 0x9F or first in (0xDC, 0xDD):
        return "list"
    if 0x80 <= first <= 0x8F or first in (0xDE, 0xDF):
        return "map"
    if 0xA0 <= first <= 0xBF or first in (0xC4, 0xC5, 0xC6, 0xD9, 0xDA, 0xDB):
        return "text"
    return "none" if first in (0xC0, 0xC2, 0xC3) else "other"


def _content(value: bytes) -> bytes | None:
    """The entries that a text or bytes hold, compressed or not; None where they hold none."""
    inner = value[_header(value) :]
    return inner if inner[:2] in (b"\x1f\x8b", b"\x28\xb5") or _kind(inner) == "list" else None


# ----------------------------------------------------------------------------- records


def _entry(value: bytes, max_line: int) -> Record:
    """What `[time, record]` or `[[time, metadata], record]` is; or anything else."""
    parts = _parts(value)
    if parts is not None and len(parts) == 2 and _kind(parts[1]) == "map":
        stamp = parts[0]
        if _kind(stamp) == "list":
            stamp = next(_elements(stamp), b"\xc0")
        return _record(parts[1], _time(stamp), max_line)
    return _record(value, None, max_line)


def _time(value: bytes) -> object:
    """When an entry was, if that can be a time."""
    try:
        return likely_time(_unpacked(value)) if _kind(value) in ("other", "text") else None
    except (ValueError, TypeError):
        return None


def _record(value: bytes, time: object, max_line: int) -> Record:
    origin = Origin(time, None, (WRAPPER,))
    if len(value) > max_line:
        return _too_long(value[:_HEAD_BYTES], origin)
    if len(_CONTAINERS.findall(value)) > _MOST_CONTAINERS:
        return _too_long(b"a record with more than %d lists and maps" % _MOST_CONTAINERS, origin)
    try:
        record = _unpacked(value)
    except TypeError:
        return refused("a record with a list or a map as a key", origin)
    except ValueError as error:
        if "exceeds max" in str(error):
            return _too_long(b"a record with a list of more than %d" % _MOST_INSIDE, origin)
        return refused(f"a record that cannot be read: {error}", origin)
    if not isinstance(record, dict):
        return refused(_plain(record), origin)
    raw = _as_json(record)
    if raw is None:
        return refused("a record that is nested too deep", origin)
    return Line(compact(raw), origin=origin)


def _too_long(shown: bytes, origin: Origin) -> Line:
    return Line(shown, too_long=True, json_like=True, origin=origin)


def _as_json(record: Any) -> bytes | None:
    """A record as JSON; None where it is nested too deep for that."""
    option = orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(record, default=_plain, option=option)
    except TypeError:
        if deeper_than(record, _DEEPEST):
            return None
        # bytes as keys, or times that no 64 bits hold
        return orjson.dumps(_writable(record), default=_plain, option=option)


def _writable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(_writable(key)): _writable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return float(value)
    return value


def _unpacked(value: bytes) -> Any:
    """
    One value, parsed.

    Raises:
        TypeError: A key is a list or a map.
        ValueError: A list is too long, or a time is none.
    """
    import msgpack

    return msgpack.unpackb(
        value,
        unicode_errors="replace",
        strict_map_key=False,
        timestamp=2,  # ns
        ext_hook=_extension,
        max_array_len=_MOST_INSIDE,
        max_map_len=_MOST_INSIDE,
    )


def _extension(code: int, data: bytes) -> object:
    """Fluentd's EventTime in ns; of any other extension nothing."""
    if code != _EVENT_TIME or len(data) != 8:
        return None
    return int.from_bytes(data[:4], "big") * 1_000_000_000 + int.from_bytes(data[4:], "big")


def _plain(value: Any) -> Any:
    """What JSON has for it."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
