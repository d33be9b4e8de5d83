"""Which instants of a group lie in a window: columns in, one answer a window out."""

import numpy as np

from service.analysis.counts import Column, codes

NEVER = -1
"""Stands for an instant that there is not."""
_FIT = 1 << 62


def pairs(first: Column, second: Column) -> Column:
    """Two ids from 0 to 2^31 as one number."""
    return (first << 32) + second


class Instants:
    """Instants of groups (any whole numbers), to be looked up for *wanted* groups."""

    def __init__(self, group: Column, time: Column, wanted: Column) -> None:
        values, number = codes(wanted)
        own = np.searchsorted(values, group)
        own[own == values.size] = 0
        (mine,) = np.nonzero(values[own] == group if values.size else np.zeros(group.size, bool))
        own, time = own[mine], time[mine]
        self._low = int(time.min(initial=0))
        self._width = int(time.max(initial=0)) - self._low + 2
        self._times: Column | None = None
        if self._width > _FIT // max(values.size, 1):
            # a group's number and a time do not fit into one whole number: by rank, not by time
            self._times = np.unique(time)
            self._width = self._times.size + 1
        places = own * self._width + self._at(time)
        order = np.argsort(places, kind="stable")
        self._places = places[order]
        self._order = mine[order]
        self._base = number * self._width

    def _at(self, time: Column) -> Column:
        """The place of instants within a group: of one that is not there, where it would be put."""
        if self._times is None:
            return np.clip(time - self._low, 0, self._width - 1)
        return np.searchsorted(self._times, time).astype(np.int64)

    def _earlier(self, time: Column) -> Column:
        """How many instants lie before these, of each wanted group and those of lower numbers."""
        return np.searchsorted(self._places, self._base + self._at(time)).astype(np.int64)

    def count(self, low: Column, high: Column) -> Column:
        """How many of each wanted group lie from low to high, both counted."""
        return self._earlier(high + 1) - self._earlier(low)

    def first(self, low: Column) -> Column:
        """The first of each wanted group from low on, which counts; `NEVER` where there is none."""
        if not self._places.size:
            return np.full(self._base.size, NEVER, dtype=np.int64)
        place = self._earlier(low)
        inside = place < self._places.size
        found = self._places[np.where(inside, place, 0)] - self._base
        mine = inside & (found >= 0) & (found < self._width - 1)
        found = np.where(mine, found, 0)
        return np.where(
            mine, found + self._low if self._times is None else self._times[found], NEVER
        )

    def last_place(self, high: Column) -> Column:
        """
        Which of the given instants is the last of each wanted group up to high, which counts (of equals
        the last given); -1 where there is none.
        """
        place = self._earlier(high + 1) - 1
        mine = (place >= 0) & (place >= np.searchsorted(self._places, self._base))
        if not self._places.size:
            return np.full(self._base.size, -1, dtype=np.int64)
        return np.where(mine, self._order[np.maximum(place, 0)], -1).astype(np.int64)


def before(instant: Column, limit: Column) -> Column:
    """The instants that lie before their limit; `NEVER` in place of the others."""
    return np.where((instant != NEVER) & (instant < limit), instant, NEVER)
