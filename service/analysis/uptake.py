"""
What follows a call to a retired name: a call to a replacement, the dead name once more, or neither.

Who made two calls is known by their session, else by their caller; of a call without either nothing can
be said. Within the window, the first call that is one of the two decides; at one instant the replacement
does. Calls at the very instant of the stale call do not follow it.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from service.analysis.counts import Column
from service.analysis.instants import following

WINDOW_US = 600_000_000
"""Ten minutes."""


class Fate(IntEnum):
    """What followed a stale call. `TOO_EARLY`: nothing yet, and the window is not over."""

    REPLACED = 0
    RETRIED = 1
    LEFT = 2
    TOO_EARLY = 3
    CANNOT_TELL = 4


@dataclass(frozen=True, slots=True)
class Made:
    """
    Calls in any order. `name` is the number of the retired name that was called, or that the called tool
    replaces; a tool that replaces two is there twice. `session` and `caller` of 0 are none.
    """

    name: Column
    session: Column
    caller: Column
    time_us: Column


def fates(
    stale: Made, again: Made, replacements: Made, *, end_us: int, window_us: int = WINDOW_US
) -> Column:
    """
    The `Fate` of each of the *stale* calls, of which *again* holds all that may come after one of them.
    From `end_us` on nothing is known.
    """
    by_session = stale.session > 0
    known = by_session | (stale.caller > 0)
    replaced, retried = (
        np.where(by_session, _next(made, "session", stale), _next(made, "caller", stale))
        for made in (replacements, again)
    )
    limit = stale.time_us + window_us
    found = np.select(
        [
            ~known,
            (replaced <= limit) & (replaced <= retried),
            retried <= limit,
            limit >= end_us,
        ],
        [Fate.CANNOT_TELL, Fate.REPLACED, Fate.RETRIED, Fate.TOO_EARLY],
        Fate.LEFT,
    )
    return found.astype(np.int64)


def _next(made: Made, by: str, stale: Made) -> Column:
    """When the next of these calls of the same name came from whoever made each stale call; else late."""
    own, wanted = getattr(made, by), getattr(stale, by)
    some = own > 0
    width = int(max(own.max(initial=0), wanted.max(initial=0))) + 1
    times = made.time_us[some]
    place = following(
        made.name[some] * width + own[some], times, stale.name * width + wanted, stale.time_us
    )
    late = np.full(stale.time_us.size, np.iinfo(np.int64).max)
    late[place >= 0] = times[place[place >= 0]]
    return late
