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
    """Looks for needles in lines and in longer texts."""

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

    def places(self, text: bytes) -> Iterator[int]:
        """Yield where needles stand in a text, ascending; of those that overlap one is enough."""
        if self._all is None:
            yield from sorted(at for needle in self.needles for at in _places(text, needle))
            return
        for _, start, _ in self._all.find_matches_as_indexes(text):
            yield start


def _places(text: bytes, needle: bytes) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def needles_of(profiles: Iterable[Profile]) -> tuple[bytes, ...]:
    """
    Return the byte strings of which every line that one of the profiles recognises has at least
    one, in each way that JSON writers spell them; none contains another.
    """
    texts: dict[str, None] = {}
    for profile in profiles:
        if profile.needle is not None:
            texts[profile.needle] = None
            continue
        together = (text.rpartition(" ")[2] for text in profile.both)
        for text in (*profile.messages, *profile.methods, *together):
            texts[text] = None
        for pattern in profile.unknown_tool:
            texts[max(pattern.split("{tool}"), key=len)] = None
    spelled: dict[bytes, None] = {}
    for text in texts:
        for spelling in _spellings(text):
            spelled[spelling] = None
            spelled[spelling.replace(b"\\", b"\\\\")] = None  # in a string of a wrapper's
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
