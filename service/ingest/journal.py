"""
systemd's journal in its export format, `journalctl -o export`: read as `journalctl -o json` writes it.

Entries of fields `KEY=value`, each entry ended by a blank line. A value that holds newlines follows its
key in the next line, after its length in eight bytes, little-endian.
"""

from collections.abc import Iterator
from typing import Final

import orjson

from service.ingest.lines import HEAD_BYTES
from service.ingest.records import Line
from service.ingest.stream import Stream

_BEGINNINGS: Final = (b"__CURSOR=", b"__REALTIME_TIMESTAMP=")
_KEPT: Final = frozenset({b"__CURSOR", b"__REALTIME_TIMESTAMP", b"MESSAGE"})
_KEY_BYTES: Final = 256


def begins(head: bytes) -> bool:
    """Say whether a stream that begins with *head* is an export."""
    return head.startswith(_BEGINNINGS)


def entries(stream: Stream, max_line: int) -> Iterator[bytes | Line]:
    """
    Yield the entries of an export as lines of JSON with cursor, time and message.

    An entry whose message is longer than *max_line* comes marked, and so does one without an end.
    """
    entry: dict[str, str] = {}
    too_long: Line | None = None
    while stream.peek(1):
        key, value, size, whole = _field(stream, max_line)
        if key:
            if key in _KEPT:
                entry[key.decode()] = value.decode(errors="replace")
            if key == b"MESSAGE" and size > max_line:
                too_long = Line(value[:HEAD_BYTES], False, True, value.startswith(b"{"))
            if whole:
                continue
        if too_long is not None:
            yield too_long
        elif entry:
            line = orjson.dumps(entry)
            yield line if whole else Line(line, unfinished=True)
        entry, too_long = {}, None
    if entry or too_long is not None:
        yield too_long or orjson.dumps(entry)


def _field(stream: Stream, max_line: int) -> tuple[bytes, bytes, int, bool]:
    """The next field: key, the first *max_line* bytes of the value, its size, whether it is whole; no
    key for the end of an entry."""
    line, size, ended = stream.line(_KEY_BYTES + max_line)
    key, equals, value = line.partition(b"=")
    if equals or not key:
        return key, value[:max_line], size - len(key) - len(equals), ended
    length = int.from_bytes(stream.take(8, 8), "little")
    value = stream.take(length, max_line)
    *_, ended = stream.line(0)
    return key, value, length, ended
