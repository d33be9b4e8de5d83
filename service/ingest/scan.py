"""
Find the few lines of a large block that matter, without looking at the others one by one.

Every line that is an event or is to be rejected is among them; the rest of a block's records are
ignored, and only counted.
"""

from collections.abc import Callable, Iterator
from typing import Final

from service.ingest.needles import Search

try:
    from stringzilla import count as _count
except ImportError:  # no wheel for this platform: the standard library counts too, slower

    def _count(text: bytes, part: bytes, start: int, end: int) -> int:
        return text.count(part, start, end)


Line = tuple[int, bytes]
"""(a place to ask `Block.number` for, the line without its newline)."""

DENSE: Final = 1 / 3
"""From this share of lines that matter on, looking at every line is cheaper than searching."""

_NOT_TEXT: Final = frozenset(b"{[ \t\r\v\f\0\xef")
"""First bytes of lines that may be JSON: any other line without a needle is ignored."""
_WINDOW: Final = 16_384
_BRACE, _RETURN = 0x7D, 0x0D


class Block:
    """A block of whole lines, the last one ended too."""

    def __init__(self, text: bytes, search: Search, *, dense: bool) -> None:
        """*dense* looks at every line. It is a matter of speed only."""
        self.text = text
        self.dense = dense
        self._search = search
        self._cut = text.split(b"\n") if dense else []
        self.newlines = len(self._cut) - 1 if dense else _count(text, b"\n", 0, len(text))

    def lines(self) -> Iterator[Line]:
        """
        Yield the lines that may be more than ignored, in order.

        A line that begins like JSON must end like it, else it is broken, whether it has a needle or
        not; blank lines come too, since they are no records.
        """
        if self.dense:
            yield from enumerate(self._cut[:-1])
            return
        text = self.text
        ours = set(self._with_needle())
        for start in sorted(ours.union(self._odd())):
            raw = text[start : text.index(b"\n", start)]
            if not raw or raw[0] in _NOT_TEXT or start in ours:
                yield start, raw

    def number(self, place: int) -> int:
        """Return the 0-based number of a line in the block, blank ones counted."""
        return place if self.dense else _count(self.text, b"\n", 0, place)

    def first(self, read: Callable[[bytes], int | None]) -> int | None:
        """Return what *read* makes of the first line of which it makes anything."""
        start = 0
        while start < len(self.text):
            end = self.text.index(b"\n", start)
            if (found := read(self.text[start:end])) is not None:
                return found
            start = end + 1
        return None

    def last(self, read: Callable[[bytes], int | None]) -> int | None:
        """Return what *read* makes of the last line of which it makes anything."""
        end = len(self.text) - 1
        while end >= 0:
            start = self.text.rfind(b"\n", 0, end) + 1
            if (found := read(self.text[start:end])) is not None:
                return found
            end = start - 1
        return None

    def each(self, read: Callable[[bytes], int | None]) -> Iterator[int | None]:
        """Yield what *read* makes of every line."""
        yield from map(read, self._cut or self.text.split(b"\n"))

    def _with_needle(self) -> Iterator[int]:
        """Starts of the lines that have a needle."""
        text = self.text
        end = -1
        for at in self._search.places(text):
            if at > end:
                yield text.rfind(b"\n", 0, at) + 1
                end = text.index(b"\n", at)

    def _odd(self) -> Iterator[int]:
        """Starts of the lines that do not end with a brace."""
        text = self.text
        closed = _count(text, b"}\n", 0, len(text))
        if closed == self.newlines:
            return
        returns = _count(text, b"}\r\n", 0, len(text))
        if closed + returns == self.newlines:
            return
        for start in range(0, len(text), _WINDOW):
            end = min(start + _WINDOW, len(text))
            closed = _count(text, b"}\n", max(start - 1, 0), end)
            if returns:
                closed += _count(text, b"}\r\n", max(start - 2, 0), end)
            if closed != _count(text, b"\n", start, end):
                yield from self._odd_within(start, end)

    def _odd_within(self, start: int, end: int) -> Iterator[int]:
        text = self.text
        at = text.find(b"\n", start, end)
        while at >= 0:
            before = text[at - 1] if at else 0
            if before == _RETURN and at > 1:
                before = text[at - 2]
            if before != _BRACE:
                yield text.rfind(b"\n", 0, at) + 1
            at = text.find(b"\n", at + 1, end)
