"""
Syslog over TCP with octet counts (RFC 6587): `249 <14>1 …`, where a message may hold newlines.
"""

import re
from collections.abc import Iterator
from typing import Final

from service.ingest.lines import HEAD_BYTES
from service.ingest.records import Line
from service.ingest.stream import Stream

_COUNT: Final = re.compile(rb"(\d{1,9}) (?=<\d{1,3}>)")
_NEXT: Final = re.compile(rb"[\r\n\0 ]*+(?:(\d{1,9}) (?=<\d{1,3}>))?")
_LONGEST: Final = 16
_AFTER: Final = re.compile(rb"[\r\n\0 ]*(?:\d{1,9} ?(?:<|$)|<\d|$)")
_SPACES: Final = bytes.maketrans(b"\r\n", b"  ")


def begins(head: bytes) -> bool:
    """Say whether a stream that begins with *head* counts octets."""
    return _COUNT.match(head) is not None


def messages(stream: Stream, max_line: int) -> Iterator[bytes | Line]:
    """
    Yield the messages of a stream, one a line; newlines within, which in JSON are white space, become
    spaces.

    A count is believed where another message or the end follows; else the message ends with its line.
    """
    while stream.peek(1):
        yield from _held(stream, max_line)
        head = stream.peek(_LONGEST)
        if not head:
            return
        if head[0] in b"\r\n\0 ":
            stream.take(1, 0)
            continue
        counted = _COUNT.match(head)
        if counted is not None:
            size = int(counted[1])
            if size <= max_line and _fits(stream, counted.end(), size):
                stream.take(counted.end(), 0)
                yield stream.take(size, size).rstrip(b"\r\n\0").translate(_SPACES)
                continue
        raw, size, ended = stream.line(max_line + 1)
        if size > max_line:
            yield Line(raw[:HEAD_BYTES], not ended, True, raw.startswith(b"{"))
        elif ended:
            yield raw
        else:
            yield Line(raw, True)


def _held(stream: Stream, max_line: int) -> Iterator[bytes]:
    """The messages that lie whole in what is held, with enough behind them to see what follows: most,
    at a part of the cost."""
    text, at = stream.held()
    last = len(text) - 2 * _LONGEST
    try:
        while at < last:
            found = _NEXT.match(text, at)
            begin = found.end() if found else at
            if begin >= last:
                return
            if found and found[1]:
                end = begin + int(found[1])
                if end - begin <= max_line:
                    if end > last:
                        return
                    if _AFTER.match(text, end, end + _LONGEST):
                        at = end
                        yield text[begin:end].rstrip(b"\r\n\0").translate(_SPACES)
                        continue
                begin = found.start(1)
            end = text.find(b"\n", begin, begin + max_line + 1)
            if end < 0:
                return
            at = end + 1
            yield text[begin:end]
    finally:
        stream.go_to(at)


def _fits(stream: Stream, before: int, size: int) -> bool:
    ahead = stream.peek(before + size + _LONGEST)
    return len(ahead) >= before + size and _AFTER.match(ahead, before + size) is not None
