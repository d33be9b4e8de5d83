"""
Files to read: named, matched by a pattern, or standard input; plain or gzip.
"""

import glob
import io
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from gzip import BadGzipFile
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Final, Self, cast

from service.errors import UnreadableInput
from service.ingest.foreign import kind_of, said, undecided
from service.ingest.lines import BLOCK_BYTES

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

try:
    from isal.igzip_threaded import open as _open_gzip
    from isal.isal_zlib import decompressobj
    from isal.isal_zlib import error as _isal_error

    _BROKEN: tuple[type[Exception], ...] = (zlib.error, cast("type[Exception]", _isal_error))
except ImportError:  # no wheel for this platform: the standard library inflates too, slower
    from gzip import open as _open_gzip  # type: ignore[assignment]
    from zlib import decompressobj  # type: ignore[assignment]

    _BROKEN = (zlib.error,)

_SPOILT: tuple[type[Exception], ...] = (EOFError, BadGzipFile, *_BROKEN)

CHUNK_BYTES: Final = BLOCK_BYTES
"""How much of a file is read, and held, at a time."""

STDIN: Final = "-"
_GZIP: Final = b"\x1f\x8b"


def expand(paths: Sequence[str]) -> list[str]:
    """
    Return the files that *paths* name: names as they are, patterns by what they match (sorted),
    `-` as it is. Nothing is opened.

    Raises:
        UnreadableInput: A name or pattern without a file, or a directory; all are named.
    """
    found: list[str] = []
    wrong: list[str] = []
    for path in paths:
        if path == STDIN or Path(path).is_file():
            found.append(path)
        elif Path(path).is_dir():
            wrong.append(
                f"{path}: is a directory; name its files, such as {path.rstrip('/')}/*.log"
            )
        elif glob.has_magic(path):
            names = glob.glob(path, recursive=True)  # noqa: PTH207 - keeps the spelling given
            matches = sorted(name for name in names if Path(name).is_file())
            found.extend(matches)
            if not matches:
                wrong.append(f"{path}: no file matches")
        elif Path(path).exists():
            found.append(path)
        else:
            wrong.append(f"{path}: no such file")
    if wrong:
        raise UnreadableInput("; ".join(wrong))
    return found


def open_source(path: str) -> "Source":
    """
    Open a file, or standard input for `-`.

    Raises:
        UnreadableInput: It cannot be opened.
    """
    if path == STDIN:
        return Source("standard input", sys.stdin.buffer, None)
    try:
        file = Path(path).open("rb", buffering=0)  # noqa: SIM115 - the Source closes it
        size = Path(path).stat().st_size if Path(path).is_file() else None
    except OSError as error:
        raise _unreadable(path, error) from error
    return Source(path, file, size)


class Source:
    """
    One input. `consumed` counts the bytes read so far, before decompression, of `size` (None where
    that is not known), for a progress bar.
    """

    def __init__(self, name: str, file: BinaryIO, size: int | None) -> None:
        self.name = name
        self.size = size
        self.consumed = 0
        self._file = file
        # Of a pipe take what is there: `read` would wait until a whole chunk has come.
        self._take: Callable[[int], bytes | None] = getattr(file, "read1", file.read)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._file is not sys.stdin.buffer:
            self._file.close()

    def chunks(self) -> Iterator[bytes]:
        """
        Yield the content in pieces of at most `CHUNK_BYTES`; gzip is recognised by its first bytes
        and inflated, all of its members.

        Raises:
            UnreadableInput: It is no log, reading fails, or the gzip stream is cut or broken; what could be read
                was yielded before.
        """
        _keep_freed_memory()
        head = self._read()
        while head and (len(head) < len(_GZIP) or undecided(head)) and (more := self._read()):
            head += more
        if (kind := kind_of(head)) is not None:
            raise UnreadableInput(
                f"{self.name}: is {kind}, which cannot be read; name text, as it is or as gzip, "
                "or unpack it into `-`"
            )
        if head.startswith(_GZIP):
            yield from self._inflate(head) if self.size is None else self._inflate_beside(head)
            return
        while head:
            yield head
            head = self._read()

    def _read(self) -> bytes:
        try:
            data = self._take(CHUNK_BYTES) or b""
        except OSError as error:
            raise _unreadable(self.name, error) from error
        self.consumed += len(data)
        return data

    def _inflate_beside(self, head: bytes) -> Iterator[bytes]:
        """
        Inflate a file that can be read twice, in a thread of its own.

        The library hands out nothing of the megabyte in which a file breaks off, so the rest of such a
        file is inflated once more.
        """
        done = 0
        try:
            packed = _Packed(head, self._read)
            with _open_gzip(packed, "rb") as reader:  # type: ignore[no-untyped-call]
                while part := reader.read(CHUNK_BYTES):
                    done += len(part)
                    yield part
            return
        except _SPOILT:
            self._file.seek(0)
            self.consumed = 0
        for part in self._inflate(self._read()):
            if len(part) > done:
                yield part[done:]
            done = max(done - len(part), 0)

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        member = decompressobj(wbits=31)
        begun = False
        while data := data or self._read():
            if not begun and not (data := data.lstrip(b"\0")):
                continue
            begun = True
            try:
                part = member.decompress(data, CHUNK_BYTES)
            except _BROKEN as error:
                raise UnreadableInput(f"{self.name}: broken gzip ({said(error)})") from error
            if part:
                yield part
            data = member.unconsumed_tail
            if member.eof:
                data = member.unused_data
                member, begun = decompressobj(wbits=31), False
        if begun:
            raise UnreadableInput(f"{self.name}: the gzip stream ends too early; the file is cut")


class _Packed(io.RawIOBase):
    """The bytes of a gzip file, of which the first ones have been read."""

    def __init__(self, head: bytes, read: Callable[[], bytes]) -> None:
        self._left = memoryview(head)
        self._more = read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        room = memoryview(buffer).cast("B")
        self._left = self._left or memoryview(self._more())
        taken = min(len(room), len(self._left))
        room[:taken] = self._left[:taken]
        self._left = self._left[taken:]
        return taken


def _keep_freed_memory() -> None:
    """
    Let the allocator keep what is freed, up to some MiB, for the next block.

    glibc gives a large block back to the system at once, and page faults then cost as much as reading,
    until it has seen a larger one be freed (mallopt(3), M_MMAP_THRESHOLD). This one is never touched.
    """
    bytes(16 * CHUNK_BYTES)


def _unreadable(name: str, error: OSError) -> UnreadableInput:
    return UnreadableInput(f"{name}: {error.strerror or error}")
