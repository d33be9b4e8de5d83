"""
Take the records out of a body or a file of which nothing is known but its bytes.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies import jsoncut, multipart, otlp_lines, packed
from service.ingest.bodies.bounds import bounded, line_of
from service.ingest.bodies.compression import decode_body
from service.ingest.framing import framed
from service.ingest.jsontext import TooDeep, loads
from service.ingest.lines import BLANK, decoded
from service.ingest.records import Body, Limits, Parsed, Reader, Record

__all__ = ["decode_body", "is_json_array", "reader", "records", "records_of", "stream_records"]

_HEAD_BYTES: Final = 64 * 1024
_MARK_BYTES: Final = 32
_CHUNK_BYTES: Final = 64 * 1024
_ODD_BYTES: Final = 1024 * 1024
"""Of elements that are no objects so much is kept at most: each is a rejected record."""
_ODD_COST: Final = 32
_ODD_KEPT: Final = 4096
_MOST_MEMBERS: Final = 64
_MOST_FORMS: Final = 3

_ARRAY: Final = re.compile(rb"\[\s*(?:[{\[\"\]]|(?:null|true|false|-?\d[\d.eE+-]*)\s*[,\]])")
_FILE_ARRAY: Final = re.compile(rb"\s*\[\s*(?:[{\]]|$)")
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\],]', re.DOTALL)
_GLUED: Final = re.compile(rb"\}[ \t\0]*\{")
_LIST: Final = re.compile(rb'\[\s*[{"]')
_GLUE: Final = (b"}{", b"} {", b"}\t{", b"}\0{")
_NEWLINES: Final = bytes.maketrans(b"\r\n", b"  ")

_LISTS: Final = {
    "batch", "entries", "events", "lines", "logEntries", "logs", "messages", "records",
}  # fmt: skip
"""Where an object that is only a wrapper has its list of records."""
_OF_RECORDS: Final = {
    "MESSAGE", "body", "event", "level", "line", "log", "message", "method", "msg", "severity",
    "short_message", "text", "tool",
}  # fmt: skip
"""What has one of these is a record, not a wrapper of some."""


def reader(content_encoding: str | None) -> Reader:
    """Return the reader of the tolerant endpoint, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes)
        return Body(bounded(records_of(text, limits)), text)

    return read


def records_of(body: bytes, limits: Limits, *, level: int = 0) -> Iterable[bytes | Record]:
    """
    Return the records of a decompressed body of any kind: what `records` reads, msgpack, or a form
    each of whose parts is a body of its own, compressed or not. *level* is how many forms it lies in.

    Raises:
        BodyNotDecodable, BodyTooLarge: Here, or when it is found while records are taken.
    """
    if packed.looks_packed(body):
        return packed.records(body, limits)
    if (boundary := multipart.boundary_of(body)) is not None:
        if level == _MOST_FORMS:
            raise BodyNotDecodable(f"more than {_MOST_FORMS} forms, one within the other")
        return _of_parts(multipart.parts(body, boundary), limits, level + 1)
    return records(body, limits.line_bytes)


def _of_parts(parts: Iterable[bytes], limits: Limits, level: int) -> Iterator[bytes | Record]:
    left = limits.body_bytes
    for part in parts:
        text = decode_body(part, None, left)
        left -= len(text)
        yield from records_of(text, limits, level=level)


def records(body: bytes, max_line: int) -> Iterator[bytes | Record]:
    """
    Return the records of a decompressed text, in order: blocks of whole lines (see `framed`)
    and single records.

    A JSON array gives its elements, and so does an object that only wraps a list of records; objects
    that follow each other are one record each, with line breaks between or within them or without
    any; exports of OpenTelemetry's, one a line, give each of their records; anything else gives its lines.
    Records longer than *max_line* come marked.

    Raises:
        BodyNotDecodable: One array that is broken.
        BodyTooLarge: Too many of its elements are no objects; found while records are taken.
    """
    body = b"".join(decoded([body]))
    at = jsoncut.after_blank(body, 0)
    begins = body[at : at + 1]
    if begins == b"[":
        return _array(body, at, max_line)
    if begins == b"{":
        if otlp_lines.is_export(body[at : at + _MARK_BYTES]):
            return framed(otlp_lines.of_body(body[at:]), max_line)
        return _objects(body, at, max_line)
    return framed(_unglued(body), max_line)


# ----------------------------------------------------------------------------- one array


def _array(body: bytes, at: int, max_line: int) -> Iterator[bytes | Record]:
    end = jsoncut.end_of_objects(body, at) or jsoncut.end_of(body, at)
    if end is None:
        first, newline, _ = body[at : at + max_line].partition(b"\n")
        if _ARRAY.match(body, at) and not (newline and _is_json(first)):
            raise BodyNotDecodable(
                "the body begins like a JSON array but is not one; it may be cut"
            )
    elif jsoncut.after_blank(body, end) == len(body):
        return _elements(body, at, max_line, texts=False)
    return framed(_unglued(body), max_line)


def _elements(body: bytes, at: int, max_line: int, *, texts: bool) -> Iterator[bytes | Record]:
    """The elements of the closed array at *at*; *texts*: those that are text are lines."""
    if jsoncut.end_of_objects(body, at) is not None:
        return framed(_as_lines(body, jsoncut.elements(body, at + 1)), max_line)
    return _single(body, jsoncut.elements(body, at + 1), max_line, texts)


def _single(
    body: bytes, spans: Iterable[jsoncut.Span], max_line: int, texts: bool
) -> Iterator[Record]:
    left = _ODD_BYTES
    for start, end in spans:
        if body[start] == 0x7B:
            yield line_of(body[start:end], max_line)
            continue
        value = _odd(body[start : min(end, start + _ODD_KEPT)])
        if texts and body[start] == 0x22 and end - start <= 2 * max_line:
            text = _odd(body[start:end])
            if isinstance(text, str):
                yield line_of(text.encode(errors="replace"), max_line)
                continue
        left -= min(end - start, _ODD_KEPT) + _ODD_COST
        if left < 0:
            raise BodyTooLarge("too many elements of the array are no objects; send records")
        yield Parsed(value)


def _odd(element: bytes) -> object:
    """What an element is that is no object; where it is no JSON, its text."""
    try:
        return loads(element)
    except ValueError:
        return element.decode(errors="replace")


def _as_lines(body: bytes, spans: Iterable[jsoncut.Span]) -> Iterator[bytes]:
    """Parts of the text as lines; line breaks within one are white space between its values."""
    held: list[bytes] = []
    size = 0
    for start, end in spans:
        held.append(body[start:end].translate(_NEWLINES))
        size += end - start
        if size > _CHUNK_BYTES:
            held.append(b"")
            yield b"\n".join(held)
            held, size = [], 0
    held.append(b"")
    yield b"\n".join(held)


# ----------------------------------------------------------------------------- objects


def _objects(body: bytes, at: int, max_line: int) -> Iterator[bytes | Record]:
    newline = body.find(b"\n", at)
    alone = newline < 0 or jsoncut.after_blank(body, newline) == len(body)
    if alone or not body[at:newline].rstrip(BLANK).endswith(b"}"):
        end = jsoncut.end_of(body, at)
        if end is not None and jsoncut.after_blank(body, end) == len(body):
            inside = _wrapped(body, at)
            if inside:
                lists = (_elements(body, each, max_line, texts=True) for each in inside)
                return chain.from_iterable(lists)
        if not alone and end is not None and _are_objects(body, at, max_line):
            return framed(_as_lines(body, jsoncut.values(body, at)), max_line)
    return framed(_unglued(body), max_line)


def _wrapped(body: bytes, at: int) -> list[int]:
    """Where the list begins around which the object at *at* is only a wrapper, or each of them where its
    key is repeated; empty where it is none."""
    lists: list[tuple[str, int]] = []
    try:
        for number, (key, start, _) in enumerate(jsoncut.members(body, at + 1)):
            if key in _OF_RECORDS or number == _MOST_MEMBERS:
                return []
            if _LIST.match(body, start) or (key in _LISTS and body[start] == 0x5B):
                lists.append((key, start))
    except ValueError:
        return []
    keys = {key for key, _ in lists}
    return [start for _, start in lists] if len(keys) == 1 and keys <= _LISTS else []


def _are_objects(body: bytes, at: int, max_line: int) -> bool:
    """Whether a text is objects, one after the other, at least one of them over several lines."""
    return all(
        body[start] == 0x7B and (end - start > max_line or _is_json(body[start:end]))
        for start, end in jsoncut.values(body, at)
    )


def _unglued(body: bytes) -> Iterator[bytes]:
    """
    The text with a line break between objects that follow each other on its only line.

    A sender that takes newlines out takes out all of them; among lines, two records on one of them are a
    broken line, as they are in a file.
    """
    if b"\n" in body.strip(BLANK):
        yield body
        return
    at = seen = 0
    for found in _GLUED.finditer(body) if any(mark in body for mark in _GLUE) else ():
        if found.start() < seen:
            continue
        start = body.rfind(b"\n", 0, found.start()) + 1
        end = body.find(b"\n", found.end())
        seen = len(body) if end < 0 else end + 1
        line = body[start:seen]
        first, second = [*islice(jsoncut.values(line), 2), (0, 0)][:2]
        if line[first[0]] == line[second[0]] == 0x7B and second[0]:
            yield body[at:start]
            yield from _as_lines(line, jsoncut.values(line))
            at = seen
    yield body[at:]


# ----------------------------------------------------------------------------- files


def stream_records(
    chunks: Iterable[bytes], max_line: int, max_array: int
) -> Iterator[bytes | Record]:
    """
    Yield the records of a file or stream, as `records` does: its lines, or the elements of the one
    JSON array it is; of a file of OpenTelemetry's exports each record by itself.

    Raises:
        BodyTooLarge: An array of more than *max_array* bytes, which would have to be held whole.
        BodyNotDecodable: A broken array.
    """
    source = decoded(chunks)
    head = _head(source)
    if not is_json_array(head):
        text = chain([head], source)
        if otlp_lines.is_export(head):
            text = chain(otlp_lines.single(text, max_array))
        yield from framed(text, max_line)
        return
    parts, size = [head], len(head)
    for chunk in source:
        parts.append(chunk)
        size += len(chunk)
        if size > max_array:
            break
    if size > max_array:
        raise BodyTooLarge(
            f"a JSON array of more than {max_array} bytes; write one record a line instead"
        )
    yield from records(b"".join(parts), max_line)


def _head(source: Iterator[bytes]) -> bytes:
    """The first pieces of a stream, enough to see whether it goes on after an array."""
    head = b""
    for chunk in source:
        if head or chunk.strip(BLANK + b"\0"):
            head += chunk
        if len(head) >= _HEAD_BYTES:
            break
    return head


def is_json_array(head: bytes) -> bool:
    r"""
    Say whether a file that begins with *head* is one JSON array, not a text log such as `[2026-…`.

    >>> is_json_array(b'[{"a": 1},\n'), is_json_array(b'[{"a": 1}] ready\n'), is_json_array(b"[]\n{")
    (True, False, False)
    """
    bare = head.lstrip(b"\0").removeprefix(b"\xef\xbb\xbf").lstrip(BLANK)
    if _FILE_ARRAY.match(bare) is None:
        return False
    level = 0
    for token in _TOKEN.finditer(bare):
        level += (token[0] in (b"[", b"{")) - (token[0] in (b"]", b"}"))
        if level == 0:  # the array is over: the file is one only where nothing follows
            return not bare[token.end() :].strip(BLANK + b"\0")
    return True


def _is_json(raw: bytes) -> bool:
    try:
        loads(raw)
    except TooDeep:
        return True
    except ValueError:
        return False
    return True
