"""
A file that is followed: which file it is, whether it still begins with what was read of it, and where
its whole lines end.
"""

import glob
import os
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, Final, NamedTuple

from service.errors import UnreadableInput
from service.ingest import journal, octets, sources
from service.ingest.body import is_json_array
from service.ingest.gather import Feed, Gathering
from service.ingest.keys import Continued
from service.ingest.lines import BLANK, BLOCK_BYTES, split_blocks
from service.ingest.memory import Memory
from service.ingest.parts import joined
from service.ingest.records import Line

PRINT_BYTES: Final = 1024
"""How much of a file's beginning, and of what was read last, is looked at to know it again."""

PIECE_BYTES: Final = 8 * 1024 * 1024
"""About how much of a file is stored together."""

_NEWLINE: Final = 0x0A
GZIP: Final = b"\x1f\x8b"
"""What a compressed file begins with."""
_UTF16: Final = {b"\xff\xfe": b"\n\0", b"\xfe\xff": b"\0\n"}
"""Marks at the start of UTF-16, and a newline after each."""


class Print(NamedTuple):
    """What tells whether a file begins with the `size` bytes that were read of one, decompressed."""

    size: int = 0
    head: str = ""
    """Hash of the first 1 KiB of them."""
    tail: str = ""
    """Hash of the last 1 KiB of them; empty for a compressed file, where only `crc` is asked."""
    crc: int = 0
    """CRC-32 of them all."""


class Found(NamedTuple):
    """A file that a pattern matches."""

    path: str
    id: str
    """Device and inode: the same file under every name that it has or is given."""


def find(patterns: Sequence[str]) -> dict[str, Found]:
    """
    Return the files that *patterns* match now, by `id`; of a file with several names, one.

    A name that is no pattern is itself. What is no file, or cannot be looked at, is left out.
    """
    found: dict[str, Found] = {}
    for pattern in patterns:
        named = [pattern]
        if glob.has_magic(pattern) and not Path(pattern).is_file():
            named = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - keeps the spelling
        for path in named:
            try:
                about = Path(path).stat()
            except OSError:
                continue
            if S_ISREG(about.st_mode):
                one = Found(path, file_id(about))
                found.setdefault(one.id, one)
    return found


def file_id(about: os.stat_result) -> str:
    """Return what tells files of this machine apart."""
    return f"{about.st_dev}:{about.st_ino}"


class Content:
    """The bytes of one open file, as they are or inflated."""

    packed = False
    """Whether the file is compressed: then it is read once it is whole, and its end is the end."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def chunks(self, start: int, end: int | None = None) -> Iterator[bytes]:
        """
        Yield the bytes from *start* to *end*, or to where the file ends now.

        Raises:
            UnreadableInput: Reading fails.
        """
        while end is None or start < end:
            most = BLOCK_BYTES if end is None else min(BLOCK_BYTES, end - start)
            if not (data := self._at(start, most)):
                return
            yield data
            start += len(data)

    def head(self) -> bytes:
        """Return the first 1 KiB."""
        return self._at(0, PRINT_BYTES)

    def begins_with(self, known: Print) -> bool:
        """Whether the file's beginning, and what stands before the place, is what was read there."""
        return not known.size or known == self._printed(known)

    def print_at(self, size: int, crc: int) -> Print:
        """Return the print of the first *size* bytes, whose CRC-32 is known."""
        return self._printed(Print(size, crc=crc, tail="?"))

    def _printed(self, known: Print) -> Print:
        head = self._at(0, min(known.size, PRINT_BYTES))
        tail = ""
        if known.tail:
            length = min(known.size, PRINT_BYTES)
            tail = _hash(self._at(known.size - length, length))
        return Print(known.size, _hash(head), tail, known.crc)

    def _at(self, start: int, length: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), length, start)
        except OSError as error:
            raise UnreadableInput(f"{self._path}: {error.strerror or error}") from error


class Packed(Content):
    """The bytes of a gzip file, inflated on the way; going on where the last passage ended is cheap."""

    packed = True

    def __init__(self, path: str, file: BinaryIO) -> None:
        super().__init__(path, file)
        self._head = self._left = b""
        self._rewind()

    def chunks(self, start: int, end: int | None = None) -> Iterator[bytes]:
        """
        Yield the inflated bytes from *start* to *end*, or to the end.

        Raises:
            UnreadableInput: Reading fails, or the stream is broken or cut.
        """
        if self._position > start:
            self._rewind()
        while end is None or self._position < end:
            self._left = self._left or next(self._stream, b"")
            if not self._left:
                return
            skipped = start - self._position
            most = skipped if skipped > 0 else None if end is None else end - self._position
            part, self._left = self._left[:most], b"" if most is None else self._left[most:]
            self._position += len(part)
            if skipped <= 0:
                yield part

    def head(self) -> bytes:
        """Return the first 1 KiB."""
        self._head = self._head or b"".join(self.chunks(0, PRINT_BYTES))
        return self._head

    def begins_with(self, known: Print) -> bool:
        """Whether the whole of it begins with what was read."""
        return not known.size or bool(alike(self, [known]))

    def print_at(self, size: int, crc: int) -> Print:
        """Return the print of the first *size* bytes, whose CRC-32 is known."""
        return Print(size, _hash(self.head()[:size]), "", crc)

    def _rewind(self) -> None:
        self._file.seek(0)
        size = os.fstat(self._file.fileno()).st_size
        self._stream = sources.Source(self._path, self._file, size).chunks()
        self._position = 0
        self._left = b""


def open_file(path: str) -> BinaryIO:
    """Open a file. Raises UnreadableInput."""
    try:
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or error}") from error


def content_of(path: str, file: BinaryIO) -> Content:
    """Return the content of an open file by what it begins with now. Raises UnreadableInput."""
    plain = Content(path, file)
    return Packed(path, file) if plain.head().startswith(GZIP) else plain


def alike(content: Content, known: Iterable[Print]) -> list[int]:
    """
    Return which of *known* (by their place in it) the content begins with, down to the last byte;
    those of most bytes first.

    Raises:
        UnreadableInput: Reading fails, or a gzip stream is broken or cut.
    """
    head = content.head()
    may = [
        (each.size, at, each)
        for at, each in enumerate(known)
        if each.size and each.head == _hash(head[: each.size])
    ]
    fitting: list[int] = []
    crc = size = 0
    chunks = content.chunks(0, max(may)[0]) if may else iter(())
    left = deque(sorted(may, key=lambda each: each[0]))
    for chunk in chunks:
        done = 0
        while left and left[0][0] <= size + len(chunk):
            wanted, at, each = left.popleft()
            crc = zlib.crc32(chunk[done : wanted - size], crc)
            done = wanted - size
            if crc == each.crc:
                fitting.append(at)
        crc = zlib.crc32(chunk[done:], crc)
        size += len(chunk)
    return fitting[::-1]


def piece_ends(
    chunks: Iterable[bytes], start: int, newline: bytes = b"\n", *, to_end: bool = False
) -> Iterator[int]:
    """
    Yield where the content can be cut: after whole lines, about every `PIECE_BYTES`, at last behind
    the last line that is whole, or (*to_end*) where the content ends.

    *chunks* begin at *start*. Nothing is held, however long a line is.
    """
    at = cut = last = start
    before = b""
    for chunk in chunks:
        data = before + chunk  # a newline of two bytes may lie across
        if found := _newline_end(data, newline, at - len(before)):
            last = at - len(before) + found
        at += len(chunk)
        before = data[-1:] if len(newline) > 1 else b""
        if last - cut >= PIECE_BYTES:
            cut = last
            yield cut
    if to_end:
        last = at
    if last > cut:
        yield last


def holds_text(chunks: Iterable[bytes]) -> bool:
    """Whether there is anything but white space and padding."""
    return any(chunk.strip(BLANK + b"\0") for chunk in chunks)


def _newline_end(data: bytes, newline: bytes, offset: int) -> int:
    """Where the last newline ends, 0 without one; of two bytes, one that begins at an even place."""
    end = len(data)
    while (found := data.rfind(newline, 0, end)) >= 0:
        if (offset + found) % len(newline) == 0:
            return found + len(newline)
        end = found + len(newline) - 1
    return 0


def newline_of(content: Content) -> tuple[bytes, bytes]:
    """Return how the content's lines end, and the mark that says so at its start, or nothing."""
    mark = content.head()[:2]
    return (_UTF16[mark], mark) if mark in _UTF16 else (b"\n", b"")


def settled(data: bytes, max_line: int) -> int:
    """
    Return how much of *data*, whole lines, can be read without what follows: none of its lines is a
    part, as a container runtime splits them, that others follow. 0 where that is nothing.
    """
    end, lines = len(data), 1
    while end and _waits(data[:end], max_line):
        for _ in range(lines):
            end = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        lines *= 2
    rest = data[end:]  # of which some may be readable after all
    ends = (at + 1 for at, byte in enumerate(rest) if byte == _NEWLINE)
    return end + max((size for size in ends if not _waits(rest[:size], max_line)), default=0)


def _waits(data: bytes, max_line: int) -> bool:
    ended = False

    def blocks() -> Iterator[bytes | Line]:
        nonlocal ended
        yield from split_blocks([data], max_line)
        ended = True

    return any(ended for _ in joined(blocks(), max_line))


def whole_lines(chunks: Iterable[bytes], mark: bytes, max_line: int) -> Iterator[bytes | Line]:
    """Yield what is read of a piece, as `framing.framed` does; *mark* is how its text is encoded."""
    return joined(split_blocks(chain([mark], chunks), max_line), max_line)


def refuse_no_lines(path: str, head: bytes) -> None:
    """Raise UnreadableInput for a file that begins like something else than lines."""
    if is_json_array(head) or octets.begins(head) or journal.begins(head):
        raise UnreadableInput(
            f"{path}: does not grow by lines (it is a JSON array, counts octets, or is an export of "
            "a journal); read it with `lastcall ingest`"
        )


class Piece(Gathering):
    """What came since of a delivery of which *records* records were stored before."""

    def __init__(
        self, reader: Memory, delivery: Continued, feed: Feed, now_us: int, records: int
    ) -> None:
        super().__init__(reader, delivery, feed, now_us)
        self._position = records

    @property
    def records(self) -> int:
        """Records of the delivery so far."""
        return self._position


class Passing:
    """Bytes on their way to be read, of which it is noted what they were."""

    def __init__(self, chunks: Iterable[bytes], crc: int) -> None:
        """*crc* is that of the bytes before them."""
        self._chunks = chunks
        self.crc = crc
        self.size = 0
        self.first = b""
        self.last = b""

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self.first = self.first or chunk[:PRINT_BYTES]
            self.last = chunk[-PRINT_BYTES:]
            self.crc = zlib.crc32(chunk, self.crc)
            self.size += len(chunk)
            yield chunk

    def still_in(self, content: Content, start: int) -> bool:
        """Whether the content, from *start* on, is what came by: nobody replaced it meanwhile."""
        end = start + self.size
        return (
            b"".join(content.chunks(start, start + len(self.first))) == self.first
            and b"".join(content.chunks(end - len(self.last), end)) == self.last
        )


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()
