"""
A stream of bytes that is read by counts and lines, however it is cut into chunks.
"""

from collections.abc import Iterable, Iterator


class Stream:
    """Reads on demand; holds a chunk, and what was asked for."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._more: Iterator[bytes] = iter(chunks)
        self._held = b""
        self._at = 0

    def peek(self, size: int) -> bytes:
        """Return the next *size* bytes, less at the end of the stream, and stay before them."""
        if len(self._held) - self._at < size:
            parts = [self._held[self._at :]]
            have = len(parts[0])
            for chunk in self._more:
                parts.append(chunk)
                have += len(chunk)
                if have >= size:
                    break
            self._held, self._at = b"".join(parts), 0
        return self._held[self._at : self._at + size]

    def held(self) -> tuple[bytes, int]:
        """Return what is held and the place in it that is next: to look ahead without a copy."""
        return self._held, self._at

    def go_to(self, at: int) -> None:
        """Go to a place in what is held."""
        self._at = at

    def take(self, size: int, keep: int) -> bytes:
        """Go past *size* bytes, and return the first *keep* of them; less at the end."""
        kept = self.peek(min(size, keep))
        left = size
        while left > 0 and (there := len(self._held) - self._at or len(self.peek(1))):
            step = min(left, there)
            self._at += step
            left -= step
        return kept

    def line(self, keep: int) -> tuple[bytes, int, bool]:
        """
        Go past the next newline, or to the end.

        Returns:
            The first *keep* bytes of the line, its length without newline, and whether it has one.
        """
        parts: list[bytes] = []
        size = 0
        while self._at < len(self._held) or self.peek(1):
            end = self._held.find(b"\n", self._at)
            stop = len(self._held) if end < 0 else end
            if size < keep:
                parts.append(self._held[self._at : min(stop, self._at + keep - size)])
            size += stop - self._at
            self._at = stop if end < 0 else end + 1
            if end >= 0:
                return b"".join(parts), size, True
        return b"".join(parts), size, False

    def rest(self) -> Iterator[bytes]:
        """Yield what is left."""
        held, self._held = self._held[self._at :], b""
        self._at = 0
        if held:
            yield held
        yield from self._more
