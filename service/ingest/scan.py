"""
Find the few lines of a large block that matter, without looking at the others one by one.

The outcome is that of `Recogniser.line` for each line; only the way there is shorter.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.events import Event, Ignored, Rejected
from service.ingest.recognise import Recogniser

_NOT_TEXT: Final = frozenset(b"{[ \t\r\v\f\0\xef")
"""First bytes of lines that may be JSON: any other line is ignored whatever it holds."""
_ENDS: Final = (b"}", b"}\r")


class Scanned(NamedTuple):
    """What a block came to: all records but those in `found` are ignored."""

    records: int
    """How many records the block holds; blank lines are none."""
    found: Sequence[tuple[int, Event | Rejected]]
    """(0-based number of the record in the block, outcome), in order."""


class Scanner:
    """Reads blocks of whole lines."""

    def __init__(self, recogniser: Recogniser) -> None:
        self._line = recogniser.line
        self._search = recogniser.search

    def scan(self, block: bytes) -> Scanned:
        """Return what the lines of a block are; its last line has its newline too."""
        lines = block.split(b"\n")
        lines.pop()
        odd = [
            n for n, raw in enumerate(lines) if not (raw.startswith(b"{") and raw.endswith(_ENDS))
        ]
        blank = 0
        found: list[tuple[int, Event | Rejected]] = []
        for number in sorted({*odd, *self._search.lines(block)}):
            raw = lines[number]
            if raw and raw[0] not in _NOT_TEXT:
                continue
            outcome = self._line(raw)
            if outcome is None:
                blank += 1
            elif not isinstance(outcome, Ignored):
                found.append((number - blank, outcome))
        return Scanned(len(lines) - blank, found)
