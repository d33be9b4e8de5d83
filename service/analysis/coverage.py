"""
When was a server watched? Heard hours in, gaps and covered hours out.

Hours are whole hours since 1970-01-01T00Z. A silence is a run of hours between two heard ones, or
after the last one up to the limit. It is a gap when it is longer than six hours and than twice the
longest silence that ended in the 28 days before it began; silences judged gaps do not count there,
and one that ends in the source's first seven days is never a gap. One of these days that is too long
all the same counts for silences that ended, and not for the open one: nothing has shown yet that so
long a silence is usual.
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
    usual, unproven = _Longest(), _Longest()
    for start, end in _silences(np.asarray(hours, dtype=np.int64), limit, retired):
        length, is_open = end - start, end > hours[-1]
        proven = max(LEAST_GAP_H, 2 * usual.before(start))
        once = 2 * unproven.before(start)  # one that ended no later shows that it is usual
        if length <= proven or (length <= once and not is_open):
            usual.add(start, end)
        elif end < hours[0] + FIRST_DAYS_H:
            unproven.add(start, end)
        else:
            found.append((start, end))
    return found


class _Longest:
    """The longest of the silences that ended in the trailing 28 days."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, int]] = deque()
        """(end, length) of those that may be the longest of them, longest first."""

    def before(self, start: int) -> int:
        """The longest before a silence that begins at *start*; 0 without any."""
        while self._kept and self._kept[0][0] <= start - TRAILING_H:
            self._kept.popleft()
        return self._kept[0][1] if self._kept else 0

    def add(self, start: int, end: int) -> None:
        """One more, later than all others."""
        while self._kept and self._kept[-1][1] <= end - start:
            self._kept.pop()
        self._kept.append((end, end - start))


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
