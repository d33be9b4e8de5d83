"""
Loki's push: streams of entries, each a time in nanoseconds and a line, as JSON or as snappy protobuf.

Labels and metadata are what the shipper thinks of a line: neither its level nor its time is believed.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from service.errors import BodyNotDecodable
from service.ingest.bodies import jsoncut, wire
from service.ingest.bodies.bounds import bounded, likely_time, line_of, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.jsontext import loads
from service.ingest.records import Body, Limits, Line, Origin, Reader, Record

WRAPPER: Final = "loki"

_NUMBER: Final = re.compile(r"\d{1,20}", re.ASCII)
_ESCAPED: Final = 6
"""Bytes that one byte of a line takes at most when it is written as JSON."""


def reader(content_type: str | None, content_encoding: str | None) -> Reader:
    """Return the reader of a push, given the headers of those names."""
    is_json = "json" in (content_type or "").lower()
    is_named = (content_encoding or "identity").strip().lower() != "identity"

    def inflated(data: bytes, limit: int) -> bytes:
        if not is_json and not is_named:
            # Clients that send protobuf compress it with snappy and do not say so.
            with suppress(BodyNotDecodable):
                return decode_body(data, "snappy", limit)
        return decode_body(data, content_encoding, limit)

    def read(data: bytes, limits: Limits) -> Body:
        text = inflated(data, limits.body_bytes).removeprefix(BOM_UTF8)
        at = jsoncut.after_blank(text, 0)
        if text[at : at + 1] == b"{":
            found = _of_json(text, at, limits.line_bytes)
        else:
            found = _of_protobuf(text, limits.line_bytes)
        return Body(bounded(found), text)

    return read


# ----------------------------------------------------------------------------- JSON


def _of_json(text: bytes, at: int, max_line: int) -> Iterator[Record]:
    end = jsoncut.end_of(text, at)
    if end is None or jsoncut.after_blank(text, end) < len(text):
        raise BodyNotDecodable("the body is not one JSON object; it may be cut")
    lists = _lists(text, at, "streams")
    if not lists:
        raise BodyNotDecodable('the body has no list of "streams"')
    for streams in lists:
        for start, _ in jsoncut.elements(text, streams + 1):
            entries = _lists(text, start, "values")
            if not entries:
                yield refused("a stream without values")
            for values in entries:
                for begin, end in jsoncut.elements(text, values + 1):
                    yield _entry(text[begin:end], max_line)


def _lists(text: bytes, at: int, name: str) -> list[int]:
    """Where the list of this name in the object at *at* begins; each of them, where there are several."""
    if text[at] != 0x7B:
        return []
    named = [start for key, start, _ in jsoncut.members(text, at + 1) if key == name]
    return named if all(text[start] == 0x5B for start in named) else []


def _entry(raw: bytes, max_line: int) -> Record:
    """One of `[time, line]` and `[time, line, metadata]`."""
    if len(raw) > _ESCAPED * max_line:
        return Line(raw[:4096], too_long=True, json_like=b"{" in raw[:64], origin=_origin(None))
    try:
        entry = loads(raw)
    except ValueError:
        return refused(raw.decode(errors="replace"))
    if not isinstance(entry, list) or len(entry) < 2 or not isinstance(entry[1], str | dict):
        return refused(raw.decode(errors="replace"))
    return record_of(entry[1], max_line, _origin(entry[0]))


def _origin(time: object) -> Origin:
    if isinstance(time, str) and not _NUMBER.fullmatch(
        time
    ):  # "NaN", where a logger's time is text
        time = None
    return Origin(likely_time(time), None, (WRAPPER,))


# ----------------------------------------------------------------------------- protobuf


def _of_protobuf(text: bytes, max_line: int) -> Iterator[Record]:
    """PushRequest{streams = 1}, StreamAdapter{entries = 2}, EntryAdapter{timestamp = 1, line = 2}."""
    for number, stream in wire.fields(text):
        if number != 1 or not isinstance(stream, bytes):
            continue
        for name, entry in wire.fields(stream):
            if name == 2 and isinstance(entry, bytes):
                said = dict(wire.fields(entry))
                line, time = said.get(2, b""), said.get(1, b"")
                if isinstance(line, bytes) and isinstance(time, bytes):
                    yield line_of(line, max_line, _origin(_nanoseconds(time)))


def _nanoseconds(timestamp: bytes) -> int:
    """Timestamp{seconds = 1, nanos = 2}."""
    said = dict(wire.fields(timestamp))
    seconds, nanos = said.get(1, 0), said.get(2, 0)
    if isinstance(seconds, bytes) or isinstance(nanos, bytes):
        return 0
    return seconds * 1_000_000_000 + nanos
