"""
Find out fast whether text can be ours at all: it holds one of a few byte strings, or it is not.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from service.ingest.profiles import Profile

try:
    from ahocorasick_rs import BytesAhoCorasick, MatchKind
except ImportError:  # no wheel for this platform: one search a needle, which is only slower
    BytesAhoCorasick = None  # type: ignore[assignment, misc]

FAST: Final = BytesAhoCorasick is not None
"""Whether all needles are searched for at once."""


class Search:
    """Looks for needles in lines and in blocks of lines."""

    def __init__(self, needles: tuple[bytes, ...], *, fast: bool = FAST) -> None:
        """*needles* must not be empty strings, nor hold a newline."""
        self.needles = needles
        self._all = (
            BytesAhoCorasick(list(needles), matchkind=MatchKind.LeftmostFirst)
            if fast and needles
            else None
        )

    def within(self, raw: bytes) -> bool:
        """Say whether a line has a needle."""
        if self._all is None:
            return any(map(raw.__contains__, self.needles))
        return bool(self._all.find_matches_as_indexes(raw))

    def lines(self, block: bytes) -> Iterator[int]:
        """Yield the 0-based numbers of a block's lines that have a needle, ascending; a line with
        several may come several times."""
        if self._all is None:
            for number, raw in enumerate(block.split(b"\n")):
                if self.within(raw):
                    yield number
            return
        number = at = 0
        for _, start, _ in self._all.find_matches_as_indexes(block):
            number += block.count(b"\n", at, start)
            at = start
            yield number


def needles_of(profiles: Iterable[Profile]) -> tuple[bytes, ...]:
    """
    Return the byte strings of which every line that one of the profiles recognises has at least
    one, in each way that JSON writers spell them; none contains another.
    """
    texts: dict[str, None] = {}
    for profile in profiles:
        for text in (*profile.messages, *profile.methods):
            texts[text] = None
        for pattern in profile.unknown_tool:
            texts[max(pattern.split("{tool}"), key=len)] = None
    spelled = {spelling: None for text in texts for spelling in _spellings(text)}
    return tuple(
        needle
        for needle in spelled
        if not any(other != needle and other in needle for other in spelled)
    )


def _spellings(text: str) -> Iterable[bytes]:
    """How JSON writers may spell a text: as UTF-8 or escaped, `/` and `<>&` escaped or not."""
    for ascii_only in (False, True):
        plain = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield plain.encode(errors="replace")
        yield plain.replace("/", "\\/").encode(errors="replace")
        html = plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
        yield html.encode(errors="replace")
