"""
How often a client lists its tools anyway: the same look at instants at which nobody had told it.

A notification that a client's own hello triggered is set against its earlier connects, since many clients
list when they connect. Any other one is set against the same hour 7, 14, … days earlier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column, distinct
from service.analysis.reactions import Episodes, Groups, Rows
from service.analysis.windows import NEVER, Instants, pairs
from service.clock import DAY_US

WEEK_US: Final = 7 * DAY_US
HELLO_TRIGGERS: Final = frozenset({"hello", "initialize", "initialized", "connect"})
"""What loggers call a notification that a client's own hello triggered."""
Covered = Callable[[int, Column], NDArray[np.bool_]]
"""Of a server and instants: which of them lie in hours that were heard."""


@dataclass(frozen=True, slots=True)
class Connects:
    """When sessions of clients began, one entry each."""

    server: Column
    client: Column
    time_us: Column


def background(
    found: Episodes,
    groups: Groups,
    by_hello: NDArray[np.bool_],
    connects: Connects,
    seen_us: Column,
    listings: Rows,
    covered: Covered,
    refresh_us: int,
) -> tuple[Column, Column]:
    """
    For each group, at how many of its placebo instants its client listed within the window, and how many
    there are. A listing in any session counts: which one an instant would have told is not known.

    Args:
        by_hello: The episodes that a hello of their client triggered.
        seen_us: When the client of each group was first seen.
        listings: At least those within the window after any placebo instant.
    """
    parts = (
        _earlier_connects(found, groups, by_hello, connects, refresh_us),
        _earlier_weeks(found, groups, ~by_hello, seen_us, covered),
    )
    group, at_us = distinct([np.concatenate(each) for each in zip(*parts, strict=True)])
    client = pairs(groups.server[group], groups.client[group])
    told = _told(found, client, at_us, refresh_us)
    group, at_us, client = group[~told], at_us[~told], client[~told]
    lists = Instants(pairs(listings.server, listings.client), listings.time_us, client)
    hits = lists.count(at_us, at_us + refresh_us) > 0
    count = np.bincount(group, minlength=groups.size)
    return np.bincount(group[hits], minlength=groups.size).astype(np.int64), count.astype(np.int64)


def _earlier_connects(
    found: Episodes,
    groups: Groups,
    by_hello: NDArray[np.bool_],
    connects: Connects,
    refresh_us: int,
) -> tuple[Column, Column]:
    """(group, instant) of the connects whose window was over before the group's last such episode."""
    last = np.full(groups.size, NEVER, dtype=np.int64)
    np.maximum.at(last, groups.of[by_hello], found.first_us[by_hello])
    wanted = np.flatnonzero(last != NEVER).astype(np.int64)
    client = pairs(connects.server, connects.client)
    order = np.lexsort((connects.time_us, client))
    client, time = client[order], connects.time_us[order]
    mine = pairs(groups.server[wanted], groups.client[wanted])
    low = np.searchsorted(client, mine, side="left")
    number = np.searchsorted(client, mine, side="right") - low
    group = np.repeat(wanted, number)
    at_us = time[_ranges(low, number)]
    early = at_us + refresh_us <= last[group]
    return group[early], at_us[early]


def _earlier_weeks(
    found: Episodes,
    groups: Groups,
    asked: NDArray[np.bool_],
    seen_us: Column,
    covered: Covered,
) -> tuple[Column, Column]:
    """(group, instant) whole weeks before these episodes, as far back as the client was known."""
    first, of = found.first_us[asked], groups.of[asked]
    number = np.maximum((first - seen_us[of]) // WEEK_US, 0)
    group = np.repeat(of, number)
    weeks = _ranges(np.ones_like(number), number)
    at_us = np.repeat(first, number) - weeks * WEEK_US
    heard = np.zeros(at_us.size, dtype=np.bool_)
    for server in np.unique(groups.server[group]).tolist():
        mine = groups.server[group] == server
        heard[mine] = covered(server, at_us[mine])
    return group[heard], at_us[heard]


def _ranges(low: Column, number: Column) -> Column:
    """From each low on so many whole numbers, one after another."""
    ends = np.cumsum(number)
    shift: Column = np.repeat(low - (ends - number), number)
    return np.arange(number.sum(), dtype=np.int64) + shift


def _told(found: Episodes, client: Column, at_us: Column, refresh_us: int) -> NDArray[np.bool_]:
    """Whether the window after an instant meets one in which the client had been told."""
    own = pairs(found.server, found.client)
    # of episodes that overlap, the latest begun may not be the longest: ask for starts and ends
    starts = Instants(own, found.first_us, client)
    ends = Instants(own, found.last_us + refresh_us, client)
    before_start = np.zeros_like(at_us)
    begun = starts.count(before_start, at_us + refresh_us - 1)
    over = ends.count(before_start, at_us - 1)
    told: NDArray[np.bool_] = begun > over
    return told
