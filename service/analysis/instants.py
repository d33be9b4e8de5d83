"""
The event nearest to an instant among those of its own group, for many at once.

Groups are whole numbers from 0 to 2^31, instants any whole numbers. Columns may be in any order.

>>> import numpy as np
>>> at = np.array
>>> latest(at([1, 1, 2]), at([10, 20, 15]), at([1, 2, 1, 3]), at([20, 14, 19, 99])).tolist()
[1, -1, 0, -1]
>>> following(at([1, 1, 2]), at([10, 20, 15]), at([1, 2, 1, 3]), at([10, 14, 20, 0])).tolist()
[1, 2, -1, -1]
"""

import numpy as np

from service.analysis.counts import Column, codes


def latest(group: Column, time: Column, wanted: Column, at: Column) -> Column:
    """For each (wanted, at) the place of the group's last event up to that instant; -1 where there is none."""
    order, places, base, times = _ranked(group, time, wanted)
    found = np.searchsorted(places, base + np.searchsorted(times, at, side="right")) - 1
    return _kept(order, places, base, found)


def following(group: Column, time: Column, wanted: Column, at: Column) -> Column:
    """For each (wanted, at) the place of the group's first event after that instant; -1 where there is none."""
    order, places, base, times = _ranked(group, time, wanted)
    found = np.searchsorted(places, base + np.searchsorted(times, at, side="right"))
    return _kept(order, places, base, found, width=times.size + 1)


def _ranked(group: Column, time: Column, wanted: Column) -> tuple[Column, Column, Column, Column]:
    """The order of events by group and time, each one's rank in it, where each wanted group's begin."""
    number = codes(np.concatenate([group, wanted]))[1]
    times = np.unique(time)
    width = times.size + 1
    # by rank, not by time: a group's number and a time do not fit into one whole number
    ranks = number[: group.size] * width + np.searchsorted(times, time)
    order = np.argsort(ranks, kind="stable").astype(np.int64)
    return order, ranks[order], number[group.size :] * width, times


def _kept(
    order: Column, places: Column, base: Column, found: Column, width: int | None = None
) -> Column:
    """What was found where it is of the group that was wanted, else -1."""
    result = np.full(base.size, -1, dtype=np.int64)
    inside = (found >= 0) & (found < places.size)
    mine = np.zeros(base.size, dtype=bool)
    rank = places[found[inside]]
    upper = base[inside] + width if width is not None else rank + 1
    mine[inside] = (rank >= base[inside]) & (rank < upper)
    result[mine] = order[found[mine]]
    return result
