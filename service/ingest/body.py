"""
Decode a request's body, and take the records out of a body or a file.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.jsontext import TooDeep, loads
from service.ingest.lines import BLANK, decoded, split_blocks
from service.ingest.records import Body, Limits, Line, Parsed, Reader, Record

_GZIP: Final = b"\x1f\x8b"
_ACCEPTED: Final = "send it as it is or with Content-Encoding: gzip"
_HEAD_BYTES: Final = 64 * 1024
_CONTROL: Final = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_ARRAY: Final = re.compile(rb"\s*\[\s*(?:[{\[\"\]]|(?:null|true|false|-?\d[\d.eE+-]*)\s*[,\]])")
_FILE_ARRAY: Final = re.compile(rb"\s*\[\s*(?:[{\]]|$)")
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\],]', re.DOTALL)


def reader(content_encoding: str | None) -> Reader:
    """Return the reader of the tolerant endpoint, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes)
        return Body(records(text, limits.line_bytes), text)

    return read


def decode_body(data: bytes, content_encoding: str | None, limit: int) -> bytes:
    """
    Return a request's body as it was before compression, at most *limit* bytes.

    gzip is recognised by its first bytes whatever the header says, and may have several members.

    Raises:
        BodyTooLarge: More than *limit* bytes, before or after; no more than that is inflated.
        BodyNotDecodable: A broken gzip stream, or an encoding that is not accepted.
    """
    if data.startswith(_GZIP):
        return _gunzip(data, limit)
    named = (content_encoding or "identity").strip().lower()
    if named not in {"", "identity"} and not _looks_like_text(data):
        raise BodyNotDecodable(f"the body is not {named!r} that can be read here; {_ACCEPTED}")
    if len(data) > limit:
        raise _too_large(limit)
    return data


def _gunzip(data: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, left + 1)
        except zlib.error as error:
            raise BodyNotDecodable(f"broken gzip ({error}); {_ACCEPTED}") from error
        left -= len(part)
        if left < 0:
            raise _too_large(limit)
        if not member.eof:
            raise BodyNotDecodable(f"the gzip stream ends too early; {_ACCEPTED}")
        parts.append(part)
        data = member.unused_data.lstrip(b"\0")
    return b"".join(parts)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {limit} bytes; send fewer records at a time")


def _looks_like_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return _CONTROL.search(data) is None


def records(body: bytes, max_line: int) -> Iterator[bytes | Record]:
    """
    Yield the records of a decompressed body, in order: blocks of whole lines (see `split_blocks`) and
    single records.

    A JSON array gives its elements, one object written over several lines is one record, anything
    else gives its lines. Lines longer than *max_line* come marked.

    Raises:
        BodyNotDecodable: One array that is broken.
    """
    body = b"".join(decoded([body]))
    bare = body.strip(BLANK + b"\0")
    if bare.startswith(b"["):
        elements = _elements(bare)
        if elements is not None:
            return iter(elements)
        first, newline, _ = bare.partition(b"\n")
        if _ARRAY.match(bare) and not (newline and _is_json(first)):
            raise BodyNotDecodable(
                "the body begins like a JSON array but is not one; it may be cut"
            )
    elif bare.startswith(b"{") and bare.endswith(b"}"):
        first, newline, _ = bare.partition(b"\n")
        if newline and not first.rstrip(BLANK).endswith(b"}") and (found := _one_object(bare)):
            return iter(found)
    return split_blocks([body], max_line)


def stream_records(
    chunks: Iterable[bytes], max_line: int, max_array: int
) -> Iterator[bytes | Record]:
    """
    Yield the records of a file or stream, as `records` does: its lines, or the elements of the one
    JSON array it is.

    Raises:
        BodyTooLarge: An array of more than *max_array* bytes, which would have to be held whole.
        BodyNotDecodable: A broken array.
    """
    source = decoded(chunks)
    head = _head(source)
    if not is_json_array(head):
        yield from split_blocks(chain([head], source), max_line)
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
    except ValueError:
        return False
    return True


def _one_object(body: bytes) -> list[Record] | None:
    """The one object that is the whole body, or None."""
    try:
        value = loads(body)
    except TooDeep:
        return [Line(body)]
    except ValueError:
        return None
    return [Parsed(value)]


def _elements(body: bytes) -> list[Record] | None:
    """The elements of the array that is the whole body, or None where it is not one."""
    try:
        value = loads(body)
    except TooDeep:
        return _cut_elements(body)
    except ValueError:
        return None
    return [Parsed(item) for item in value] if isinstance(value, list) else None


def _cut_elements(body: bytes) -> list[Record] | None:
    """The elements of an array some of which are too deep to be parsed: those come as lines."""
    found: list[Record] = []
    level, start = 0, 1
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if mark in b"[{":
            level += 1
        elif mark in b"]}":
            level -= 1
        if (mark == b"," and level == 1) or (mark == b"]" and level == 0):
            element = body[start : token.start()].strip(BLANK)
            start = token.end()
            try:
                found.append(Parsed(loads(element)))
            except TooDeep:
                found.append(Line(element))
            except ValueError:
                return None
    return found if level == 0 and start == len(body) else None
