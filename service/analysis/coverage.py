"""
When was a server watched? Heard hours in, gaps and covered hours out.

Hours are whole hours since 1970-01-01T00Z. A silence is a run of hours between two heard ones, or
after the last one up to the limit. It is a gap when it is longer than six hours and than twice the
longest silence that ended in the 28 days before it began; silences judged gaps do not count there,
and one that ends in the source's first seven days is never a gap.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Hours = Sequence[int] | NDArray[np.int64]
"""Hours since 1970-01-01T00Z, ascending, each once."""

LEAST_GAP_H = 6
TRAILING_H = 28 * 24
FIRST_DAYS_H = 7 * 24


@dataclass(frozen=True, slots=True)
class Source:
    """One feed: the hours it was heard in, and whether it was retired by hand."""

    server: str
    name: str
    hours: Hours
    retired: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A silence too long to be chance: hours from `start` up to, not including, `end`."""

    server: str
    source: str
    start: int
    end: int


def gaps(hours: Hours, limit: int, *, retired: bool = False) -> list[tuple[int, int]]:
    """
    Judge each silence of one source.

    Args:
        hours: Heard hours.
        limit: The hour up to which the open silence is judged (that hour itself is not part of it).
        retired: Whether the source was retired by hand; then its open silence is none.

    Returns:
        Half-open ranges of hours, oldest first.
    """
    found: list[tuple[int, int]] = []
    usual: deque[tuple[int, int]] = deque()
    """(end, length) of the silences of late that are no gaps and may be the longest of them, longest first."""
    for start, end in _silences(np.asarray(hours, dtype=np.int64), limit, retired):
        while usual and usual[0][0] <= start - TRAILING_H:
            usual.popleft()
        length = end - start
        longest = usual[0][1] if usual else 0
        if length > max(LEAST_GAP_H, 2 * longest) and end >= hours[0] + FIRST_DAYS_H:
            found.append((start, end))
            continue
        while usual and usual[-1][1] <= length:
            usual.pop()
        usual.append((end, length))
    return found


def _silences(hours: NDArray[np.int64], limit: int, retired: bool) -> list[tuple[int, int]]:
    """Half-open runs of hours between two heard ones, and up to the limit."""
    (before,) = np.nonzero(np.diff(hours) > 1)
    found = list(zip((hours[before] + 1).tolist(), hours[before + 1].tolist(), strict=True))
    if hours.size and not retired and limit > hours[-1] + 1:
        found.append((int(hours[-1]) + 1, limit))
    return found


@dataclass(frozen=True)
class Coverage:
    """Which hours were covered. An hour outside `[first, first + len(covered))` was not."""

    first: int
    sums: NDArray[np.int64]
    """Covered hours before each hour, and in all at the end."""
    gaps: tuple[Gap, ...]
    """Every gap of every source, by start, server and source."""

    def covered_hours(self, start: int, end: int) -> int:
        """How many of the hours from `start` up to `end` were covered."""
        last = len(self.sums) - 1
        low, high = (min(max(hour - self.first, 0), last) for hour in (start, end))
        return int(self.sums[high] - self.sums[low]) if high > low else 0

    def is_covered(self, start: int, end: int) -> bool:
        """Whether each of the hours from `start` up to `end` was covered, and there is one."""
        return end > start and self.covered_hours(start, end) == end - start

    def each(self, start: int, end: int) -> NDArray[np.bool_]:
        """
        Of each of the hours from `start` up to `end`, in order, whether it was covered.

        >>> Coverage(5, np.array([0, 1, 1, 2]), ()).each(4, 9).tolist()
        [False, True, False, True, False]
        """
        places = np.arange(start, end + 1, dtype=np.int64) - self.first
        return np.diff(self.sums[np.clip(places, 0, len(self.sums) - 1)]) > 0


def cover(sources: Sequence[Source], limit: int, first_open: int) -> Coverage:
    """
    Judge every source and say which hours were covered.

    Args:
        sources: Feeds of one server or several. One that was never heard says nothing.
        limit: The hour up to which open silences are judged.
        first_open: The first hour that no line can lie in yet (`limit`, or one more where the last
            hour has begun); no hour from it on is covered.

    An hour is covered when each server that had been heard by then is; a server is when one of its
    sources spoke within the 28 days before and none that did is in a gap. A server whose sources
    have all been retired by hand asks for nothing after its last heard hour.
    """
    heard = [source for source in sources if len(source.hours)]
    judged = {id(s): gaps(s.hours, limit, retired=s.retired) for s in heard}
    found = sorted(
        (Gap(s.server, s.name, start, end) for s in heard for start, end in judged[id(s)]),
        key=lambda gap: (gap.start, gap.server, gap.source),
    )
    if not heard:
        return Coverage(0, np.zeros(1, dtype=np.int64), ())
    first = min(int(source.hours[0]) for source in heard)
    size = max(first_open - first, 0)
    asked = np.zeros(size, dtype=bool)
    failed = np.zeros(size, dtype=bool)
    for server in sorted({source.server for source in heard}):
        mine = [source for source in heard if source.server == server]
        wanted, missing = _server_hours(mine, judged, first, size)
        asked |= wanted
        failed |= missing
    sums = np.concatenate([[0], np.cumsum(asked & ~failed)]).astype(np.int64)
    return Coverage(first, sums, tuple(found))


def _server_hours(
    sources: Sequence[Source], judged: dict[int, list[tuple[int, int]]], first: int, size: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The hours in which one server asks to be watched, and those of them in which it was not."""
    wanted = np.zeros(size, dtype=bool)
    wanted[min(s.hours[0] for s in sources) - first :] = True
    if all(source.retired for source in sources):
        wanted[max(s.hours[-1] for s in sources) - first + 1 :] = False
    present = np.zeros(size, dtype=bool)
    missing = np.zeros(size, dtype=bool)
    for source in sources:
        begins = np.asarray(source.hours, dtype=np.int64) - first
        begins = begins[begins < size]
        ends = np.minimum(begins + TRAILING_H, size)
        speaking = np.bincount(begins, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
        spoke = np.cumsum(speaking[:size]) > 0
        silent = np.zeros(size, dtype=bool)
        for start, end in judged[id(source)]:
            silent[start - first : end - first] = True
        present |= spoke
        missing |= spoke & silent
    return wanted, wanted & (missing | ~present)
