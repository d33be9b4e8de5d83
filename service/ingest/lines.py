"""
Cut a stream of bytes into lines, in flat memory whatever a line's length.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

from service.ingest.records import Line

BLANK: Final = b" \t\n\r\v\f"
"""White space that may surround a record."""

BLOCK_BYTES: Final = 256 * 1024
"""How much of a stream is looked at together."""

HEAD_BYTES: Final = 4096
"""How much of a line that is too long is kept."""

_PADDING: Final = BLANK + b"\0"
_BOM: Final = codecs.BOM_UTF8


def split_lines(chunks: Iterable[bytes], max_line_bytes: int) -> Iterator[Line]:
    """
    Yield the lines of a stream, however it is cut into chunks.

    A byte order mark at the start is dropped, UTF-16 with a mark is read as such. White space and
    NUL in front of a line are dropped and do not count towards *max_line_bytes*, nor does the
    carriage return of a CRLF. Blank lines are left out.
    """
    for part in split_blocks(chunks, max_line_bytes):
        if isinstance(part, Line):
            yield part
        else:
            yield from lines_of(part)


def lines_of(block: bytes) -> Iterator[Line]:
    """Yield the lines of a block: of whole lines, none too long, the last one ended too."""
    for raw in block[:-1].split(b"\n"):
        if line := _whole(raw, len(block)):
            yield line


def split_blocks(chunks: Iterable[bytes], max_line_bytes: int) -> Iterator[bytes | Line]:
    """
    Yield a stream as blocks of whole lines as they stand, each ended by its newline, none too long.

    A line that is too long or unfinished comes alone, in its place. Where blocks begin and end
    depends on the stream alone, not on its chunks: each ends with the last line that ends within the
    next `BLOCK_BYTES` of the stream (or *max_line_bytes*, if that is less).
    """
    size = min(BLOCK_BYTES, max_line_bytes)
    tail = _Tail(max_line_bytes)
    for piece in pieces(decoded(chunks), size):
        end = piece.rfind(b"\n") + 1
        if not end:
            tail.add(piece)
            continue
        if tail.size + end <= max_line_bytes:
            # One copy of what is a gigabyte in the end, not two.
            yield b"".join((*tail.take(), memoryview(piece)[:end]))
        else:
            first, _, rest = piece[:end].partition(b"\n")
            tail.add(first)
            yield from tail.close(unfinished=False)
            if rest:
                yield rest
        tail.add(piece[end:])
    yield from tail.close(unfinished=True)


def grouped(lines: Iterable[bytes | Line]) -> Iterator[bytes | Line]:
    """Yield lines (without newline, none too long) as blocks; a `Line` comes alone, in its place."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        if isinstance(line, bytes):
            held.append(line)
            size += len(line) + 1
            if size < BLOCK_BYTES:
                continue
        if held:
            yield b"\n".join((*held, b""))
            held, size = [], 0
        if isinstance(line, Line):
            yield line
    if held:
        yield b"\n".join((*held, b""))


def pieces(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield a stream in pieces of exactly *size* bytes, the last one less."""
    held: list[bytes] = []
    room = size
    for chunk in chunks:
        at = 0
        while len(chunk) - at >= room:
            if held or at or len(chunk) > room:
                held.append(chunk[at : at + room])
                yield b"".join(held)
            else:
                yield chunk  # as it is: the usual case for files
            held.clear()
            at += room
            room = size
        if at < len(chunk):
            held.append(chunk[at:])
            room -= len(chunk) - at
    if held:
        yield b"".join(held)


def decoded(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a stream's chunks as UTF-8 without byte order mark."""
    source = iter(chunks)
    head = b""
    for chunk in source:
        head += chunk
        if len(head) >= len(_BOM):
            break
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
        yield decoder.decode(head).encode(errors="replace")
        for chunk in source:
            yield decoder.decode(chunk).encode(errors="replace")
        yield decoder.decode(b"", final=True).encode(errors="replace")
        return
    yield head.removeprefix(_BOM)
    yield from source


def _whole(raw: bytes, limit: int, *, unfinished: bool = False) -> Line | None:
    """The line that *raw* holds (without its newline), or None for a blank one."""
    if raw[:1] in _PADDING_SET:
        raw = raw.lstrip(_PADDING)
    if raw.endswith(b"\r"):
        raw = raw[:-1]
    if len(raw) > limit:
        if not raw.strip(_PADDING):
            return None
        return Line(raw[:HEAD_BYTES], unfinished, True, raw.startswith(b"{"))
    if not raw or (raw[0] in _PADDING and not raw.strip(_PADDING)):
        return None
    return Line(raw, unfinished)


_PADDING_SET: Final = frozenset(bytes([byte]) for byte in _PADDING)


class _Tail:
    """A line that is not complete yet; of one that is too long only the head is kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._too_long = False
        self.size = 0

    def add(self, part: bytes) -> None:
        if not self.size:
            part = part.lstrip(_PADDING)
        if not part:
            return
        self.size += len(part)
        if not self._too_long:
            self._parts.append(part)
            if self.size > self._limit + 1:
                self._too_long = True
                self._parts = [b"".join(self._parts)[:HEAD_BYTES]]

    def take(self) -> list[bytes]:
        """Return the parts of the line, which is not too long, and begin the next."""
        parts = self._parts
        self._parts, self.size = [], 0
        return parts

    def close(self, *, unfinished: bool) -> Iterator[Line]:
        """Yield the line, unless it is blank, and begin the next."""
        raw = b"".join(self._parts)
        if self._too_long:
            if len(raw) == self.size:
                raw = raw.removesuffix(b"\r")
            yield Line(raw, unfinished, True, raw.startswith(b"{"))
        elif line := _whole(raw, self._limit, unfinished=unfinished):
            yield line
        self._parts, self.size, self._too_long = [], 0, False
