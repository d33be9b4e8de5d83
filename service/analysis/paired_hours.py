"""
Two ranges of one length on a local clock, hour by hour: which hours were watched in both.

What was not watched is not zero, so that an hour that lacks in one range is dropped from the other as well.
Hours are paired by local days: the tenth hour of the first day with the tenth hour of the first day, also where
the clock was changed between them. The hours beyond the 24th of a day that was set back are part of the 24th; an
hour that a day lacks is dropped from the other range.
"""

from dataclasses import dataclass
from datetime import date, tzinfo

import numpy as np
from numpy.typing import NDArray

from service.analysis import zones
from service.analysis.counts import Column
from service.analysis.coverage import Coverage
from service.clock import DAY_US, HOUR_US


@dataclass(frozen=True, slots=True)
class Hours:
    """
    The hours of a range from its start on that lie within the log: `clock` is the hour on the local clock since
    the start of the range that each begins in, `covered` whether it was watched and is over.
    """

    start_us: int
    first: int
    clock: Column
    covered: NDArray[np.bool_]

    @property
    def watched(self) -> Column:
        """The hours on the clock that were watched, all of them."""
        return np.setdiff1d(self.clock[self.covered], self.clock[~self.covered])

    def within(self, times_us: Column, clock: Column) -> NDArray[np.bool_]:
        """Which instants of the range lie in one of these hours on the clock."""
        place = (times_us - self.start_us) // HOUR_US - self.first
        known = (place >= 0) & (place < self.clock.size)
        found = np.zeros(times_us.size, dtype=np.bool_)
        found[known] = np.isin(self.clock[place[known]], clock)
        return found


def hours_of(coverage: Coverage, span: tuple[int, int], now_us: int, zone: tzinfo) -> Hours:
    """
    The hours of [since, until), in microseconds since 1970, the last of which may be shorter.

    Args:
        coverage: Which hours were covered, of UTC; each that an hour of the range shares must be.
        span: The range.
        now_us: An hour that is not over by then was not watched.
        zone: Whose clock.
    """
    since, until = span
    begins = coverage.first * HOUR_US
    ends = begins + (len(coverage.sums) - 1) * HOUR_US
    first = max((begins - since) // HOUR_US, 0)
    last = -(-(min(until, ends) - since) // HOUR_US)
    if last <= first:
        none = np.empty(0, dtype=np.int64)
        return Hours(since, first, none, none.astype(np.bool_))
    starts = since + np.arange(first, last, dtype=np.int64) * HOUR_US
    stops = np.minimum(starts + HOUR_US, until)
    low, high = starts // HOUR_US, (stops - 1) // HOUR_US
    each = coverage.each(int(low[0]), int(high[-1]) + 1)
    covered = each[low - low[0]] & each[high - low[0]] & (stops <= now_us)
    clock = _clock(starts, zone) - _clock(np.array([since], dtype=np.int64), zone)[0]
    return Hours(since, first, clock // HOUR_US, covered)


def _clock(times_us: Column, zone: tzinfo) -> Column:
    """What the local clock shows, as microseconds since the year 1; ascending instants."""
    days = list(zones.buckets(int(times_us[0]), int(times_us[-1]) + 1, zone, "day"))
    starts = np.array([day.start_us for day in days], dtype=np.int64)
    dates = np.array([date.fromisoformat(day.label).toordinal() for day in days], dtype=np.int64)
    place = np.searchsorted(starts, times_us, side="right") - 1
    shown: Column = dates[place] * DAY_US + np.minimum(times_us - starts[place], DAY_US - 1)
    return shown
