"""
Find the few lines of a large block that matter, without looking at the others one by one.

Every line that is an event or is to be rejected is among them; the rest of a block's records are
ignored, and only counted.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from service.ingest.needles import Search

TimeOf = Callable[[bytes], int | None]
"""The time of a line (ns), where it has one."""

try:
    from stringzilla import count as _count
except ImportError:  # no wheel for this platform: the standard library counts too, slower

    def _count(text: bytes, part: bytes, start: int, end: int) -> int:
        return text.count(part, start, end)


Line = tuple[int, bytes]
"""(a place to ask `Block.number` for, the line without its newline)."""

DENSE: Final = 1 / 3
"""From this share of lines that matter on, looking at every line is cheaper than searching."""

HOUR_NS: Final = 3_600 * 10**9
_SHORTEST_TIME: Final = len("2026-10-05")
_DIGITS: Final = re.compile(rb"\d\d")
_NOT_TEXT: Final = frozenset(b"{[ \t\r\v\f\0\xef")
"""First bytes of lines that may be JSON: any other line without a needle is ignored."""
_WINDOW: Final = 16_384
_BRACE, _RETURN = 0x7D, 0x0D


def timed(raw: bytes, time_of: TimeOf) -> int | None:
    """The time of a line; of the millions of tiny ones that a body may have, none is looked at long."""
    if len(raw) < _SHORTEST_TIME or _DIGITS.search(raw) is None:
        return None
    return time_of(raw)


def by_hour(first: int, last: int, times: Iterable[int | None]) -> dict[int, int] | None:
    """
    How many *times* (ns) there are in each hour, where the first and the last lie more than one apart.
    Else None, and none is read: that would cost more than all else, so the ends decide.
    """
    if abs(last - first) <= HOUR_NS:
        return None
    return Counter(time // HOUR_NS for time in times if time is not None)


class Heard(NamedTuple):
    """When the lines of a block were heard."""

    first: int
    """The time (ns) of the first line that has one."""
    last: int
    hours: dict[int, int] | None
    """See `by_hour`."""


class Sifted(NamedTuple):
    """What matters of a block, without its text."""

    newlines: int
    found: list[Line]
    heard: Heard | None

    def lines(self) -> Iterator[Line]:
        """As `Block.lines`."""
        return iter(self.found)

    def number(self, place: int) -> int:
        """As `Block.number`."""
        return place

    def when(self, _time_of: TimeOf) -> Heard | None:
        """As `Block.when`."""
        return self.heard


class Block:
    """A block of whole lines, the last one ended too."""

    def __init__(self, text: bytes, search: Search, *, dense: bool) -> None:
        """*dense* looks at every line. It is a matter of speed only."""
        self.text = text = text.replace(b"\0", b"") if b"\0" in text else text
        self.dense = dense
        self._search = search
        self._cut = text.split(b"\n") if dense else []
        self.newlines = len(self._cut) - 1 if dense else _count(text, b"\n", 0, len(text))
        self._counted = self._number = 0

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
        """Return the 0-based number of a line in the block, blank ones counted. Places must ascend, so
        that each newline is looked at once."""
        if self.dense:
            return place
        self._number += _count(self.text, b"\n", self._counted, place)
        self._counted = place
        return self._number

    def sifted(self, time_of: TimeOf) -> Sifted:
        """What matters of it."""
        found = [(self.number(place), raw) for place, raw in self.lines()]
        return Sifted(self.newlines, found, self.when(time_of))

    def when(self, time_of: TimeOf) -> Heard | None:
        """When its lines were heard; None where no line has a time."""
        if _DIGITS.search(self.text) is None:
            return None
        first = self.first(lambda raw: timed(raw, time_of))
        if first is None:
            return None
        last = self.last(lambda raw: timed(raw, time_of))
        last = first if last is None else last
        times = (timed(raw, time_of) for raw in self._each())
        return Heard(first, last, by_hour(first, last, times))

    def first(self, read: TimeOf) -> int | None:
        """Return what *read* makes of the first line of which it makes anything."""
        start = 0
        while start < len(self.text):
            end = self.text.index(b"\n", start)
            if (found := read(self.text[start:end])) is not None:
                return found
            start = end + 1
        return None

    def last(self, read: TimeOf) -> int | None:
        """Return what *read* makes of the last line of which it makes anything."""
        end = len(self.text) - 1
        while end >= 0:
            start = self.text.rfind(b"\n", 0, end) + 1
            if (found := read(self.text[start:end])) is not None:
                return found
            end = start - 1
        return None

    def _each(self) -> Iterator[bytes]:
        yield from self._cut or self.text.split(b"\n")

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
