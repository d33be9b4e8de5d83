"""
Join the lines that a container runtime has split: Docker at 16 KiB, Kubernetes where its tag says `P`.

The parts of a line follow each other in their stream, with lines of the other stream between them.
Blocks without any part pass as they are.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import orjson

from service.ingest.envelopes.cri import HEADER
from service.ingest.lines import BLANK, HEAD_BYTES, grouped
from service.ingest.records import Line

try:
    from stringzilla import count as _count
    from stringzilla import find as _find
except ImportError:  # no wheel for this platform: the standard library searches too, slower
    _count, _find = bytes.count, bytes.find

DOCKER_PART_BYTES: Final = 16_384
"""How much of a line Docker takes at a time: what is shorter or longer and has no newline was written by
somebody else, and is whole."""

_CUT_CHARACTERS: Final = 12
"""So much longer is a part in which Docker has replaced the bytes of characters that it has cut."""

_STREAM: Final = b"std"
"""Stands in each of these lines, and in hardly any other."""

_CRI: Final = (b" stdout ", b" stderr ")
_CRI_PARTS: Final = (b" stdout P", b" stderr P")
_DOCKER_HEAD: Final = b'{"log":"'
_DOCKER_TAIL: Final = b'","stream":"std'
_DOCKER_ENDED: Final = b'\\n","stream":"std'
_PADDING: Final = BLANK + b"\0"


class _Piece(NamedTuple):
    """A line of a container's log, or a part of one."""

    stream: bytes
    """Which one it belongs to."""
    head: bytes
    text: bytes
    tail: bytes
    last: bool


class _Open:
    """A line of which parts have come."""

    def __init__(self, piece: _Piece) -> None:
        self._head, self._tail = piece.head, piece.tail
        self._json_like = piece.head.startswith(b"{") and piece.text.startswith(b"{")
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, text: bytes, limit: int) -> None:
        """Add a part; of a line that is too long only the head is kept."""
        self._size += len(text)
        if self._size <= limit:
            self._parts.append(text)
        elif len(self._parts) != 1 or len(self._parts[0]) > HEAD_BYTES:
            self._parts = [b"".join([*self._parts, text])[:HEAD_BYTES]]

    def line(self, limit: int, *, unfinished: bool) -> bytes | Line:
        """Return the line, in the wrapper of its first part."""
        raw = b"".join((self._head, *self._parts, self._tail))
        if self._size > limit:
            return Line(raw[:HEAD_BYTES], unfinished, True, self._json_like)
        return Line(raw, True) if unfinished else raw


def joined(parts: Iterable[bytes | Line], max_line: int) -> Iterator[bytes | Line]:
    """Yield blocks and lines with the parts of each line joined, in the place of its last part."""
    waiting: dict[bytes, _Open] = {}
    for part in parts:
        if isinstance(part, Line):
            yield from _single(part, waiting, max_line)
        elif _find(part, _STREAM) < 0 or not _concerns(part, waiting):
            yield part
        else:
            yield from grouped(_lines(part, waiting, max_line))
    for each in waiting.values():
        yield each.line(max_line, unfinished=True)


def _concerns(block: bytes, waiting: dict[bytes, _Open]) -> bool:
    """Whether a block may hold a part, or what a line that is waiting goes on with."""
    if any(_find(block, sign) >= 0 for sign in (_CRI if waiting else _CRI_PARTS)):
        return True
    lines = _count(block, _DOCKER_TAIL)
    return lines > 0 and (bool(waiting) or lines != _count(block, _DOCKER_ENDED))


def _lines(block: bytes, waiting: dict[bytes, _Open], max_line: int) -> Iterator[bytes | Line]:
    for raw in block[:-1].split(b"\n"):
        found = _join(raw, waiting, max_line, unfinished=False)
        if found is not None:
            yield found


def _single(line: Line, waiting: dict[bytes, _Open], max_line: int) -> Iterator[Line]:
    """A line that came alone: one that is too long is no part, one without its newline may be."""
    found = None if line.too_long else _join(line.raw, waiting, max_line, unfinished=True)
    if line.too_long or found is line.raw:
        yield line
    elif isinstance(found, Line):
        yield found


def _join(
    raw: bytes, waiting: dict[bytes, _Open], max_line: int, *, unfinished: bool
) -> bytes | Line | None:
    """What a line comes to: itself, the line whose last part it is, or None where more follows."""
    piece = _piece(raw)
    if piece is None or (piece.last and piece.stream not in waiting):
        return raw
    line = waiting.setdefault(piece.stream, _Open(piece))
    line.add(piece.text, max_line)
    if not piece.last:
        return None
    del waiting[piece.stream]
    return line.line(max_line, unfinished=unfinished)


def _piece(raw: bytes) -> _Piece | None:
    raw = raw.lstrip(_PADDING).removesuffix(b"\r")
    if raw.startswith(_DOCKER_HEAD):
        text, stream, rest = raw[len(_DOCKER_HEAD) :].partition(_DOCKER_TAIL)
        if not stream or not rest.endswith(b"}"):
            return None
        return _Piece(b"docker " + rest[:3], _DOCKER_HEAD, text, stream + rest, not _goes_on(text))
    found = HEADER.match(raw)
    if found is None:
        return None
    head = b"%b %b F " % (found[1], found[2])
    return _Piece(b"cri " + found[2], head, raw[found.end() :], b"", found[3] == b"F")


def _goes_on(text: bytes) -> bool:
    """Whether a JSON string of Docker's, without its quotes, is a part that another one follows."""
    if len(text) < DOCKER_PART_BYTES:
        return False
    try:
        decoded = str(orjson.loads(b'"%b"' % text)).encode()
    except ValueError:
        return False
    over = len(decoded) - DOCKER_PART_BYTES
    return 0 <= over <= _CUT_CHARACTERS and not decoded.endswith(b"\n")
