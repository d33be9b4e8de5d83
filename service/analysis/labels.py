"""
What became of each episode of notifications: one label an episode, for shares.

A listing is matched by session, what a client did later by client, until its next episode: one client's
sessions come and go, and only that session which was told can list because it was told. Beside the plain
`answered` of `analysis.reactions`, which this leaves as it is.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column
from service.analysis.reactions import Episodes, Groups, Rows
from service.analysis.windows import NEVER, Instants, before, pairs
from service.clock import DAY_US, SECOND_US

Mask = NDArray[np.bool_]

WORDS: Final = MappingProxyType(
    {
        "refreshed": "refreshed at once",
        "came_back": "came back later",
        "listed_within": "listed within the window (no session id)",
        "listed_later": "listed later (no session id)",
        "later_connect": "listed at a later connect",
        "ignored": "ignored (stayed active)",
        "silent": "went silent",
        "too_few": "too few calls to tell",
        "too_early": "too early to tell",
        "no_channel": "no channel",
    }
)
"""Every label, in the order in which they are shown, with its words."""
LABELS: Final = tuple(WORDS)
AT_ONCE: Final = frozenset({"refreshed", "listed_within"})
ACTIVE: Final = 3
"""So many sessions or calls afterwards, and a client stayed active."""
SILENT_US: Final = 7 * DAY_US
IN_FLIGHT_US: Final = 120 * SECOND_US
"""A stale call so soon after a notification may have been on its way already: it is counted apart."""


@dataclass(frozen=True, slots=True)
class Listed:
    """
    The listings after each episode, until the next one. `at_us` is the first of its own session (without
    one: of its client), `NEVER` where there is none; `elsewhere`, whether its client listed in another
    session. `until_us` is where the next episode of the same channel, or all that is known, begins;
    `next_us` the same of the client's next.
    """

    at_us: Column
    elsewhere: Mask
    until_us: Column
    next_us: Column


@dataclass(frozen=True, slots=True)
class Known:
    """
    What else is known of each episode. `active` is how many sessions and calls of the client followed
    (exact below `ACTIVE`), `followed` whether it has a name by which it can be followed, `closed`
    whether no stream was open that could have carried the notification.
    """

    active: Column
    followed: Mask
    closed: Mask


def listed_after(found: Episodes, listings: Rows, refresh_us: int, end_us: int) -> Listed:
    """Match listings to episodes; *end_us* is the first instant that nothing is known of."""
    client, session = pairs(found.server, found.client), pairs(found.server, found.session)
    # an episode of the same client in another session, at the same time, does not end this one
    following = Instants(client, found.first_us, client).first(found.last_us + refresh_us + 1)
    next_us = np.minimum(np.where(following == NEVER, end_us, following), end_us)
    until_us = np.full(found.first_us.size, end_us, dtype=np.int64)
    if found.first_us.size:
        same = (client[1:] == client[:-1]) & (found.session[1:] == found.session[:-1])
        until_us[:-1][same] = found.first_us[1:][same]
    until_us = np.minimum(until_us, end_us)
    by_session = Instants(pairs(listings.server, listings.session), listings.time_us, session)
    by_client = Instants(pairs(listings.server, listings.client), listings.time_us, client)
    first = np.where(
        found.session > 0, by_session.first(found.first_us), by_client.first(found.first_us)
    )
    span = (found.first_us, np.maximum(next_us - 1, found.first_us))
    own = Instants(
        pairs(listings.session, listings.client),  # a session is of one server
        listings.time_us,
        pairs(found.session, found.client),
    )
    elsewhere = (found.session > 0) & (by_client.count(*span) > own.count(*span))
    return Listed(before(first, until_us), elsewhere, until_us, next_us)


def measured(found: Episodes, known: Known, refresh_us: int, end_us: int) -> Mask:
    """The episodes that a share is of: those with a channel, as far as is known, whose window is over."""
    return (found.last_us + refresh_us < end_us) & ~known.closed


def labels(
    found: Episodes, listed: Listed, known: Known, *, refresh_us: int, end_us: int
) -> Column:
    """The label of each episode, as its place among `LABELS`."""
    lists = listed.at_us != NEVER
    at_once = lists & (listed.at_us <= found.last_us + refresh_us)
    unnamed = found.session == 0
    open_ = found.last_us + refresh_us >= end_us
    short = listed.next_us - found.last_us < SILENT_US
    none = known.active == 0
    rules = (
        ("no_channel", known.closed),
        ("listed_within", at_once & unnamed),
        ("refreshed", at_once),
        ("listed_later", lists & unnamed),
        ("came_back", lists),
        ("too_early", open_),
        ("ignored", known.followed & (known.active >= ACTIVE)),
        ("later_connect", known.followed & listed.elsewhere),
        ("too_early", none & short),
        ("silent", none & known.followed),
    )
    chosen = np.select(
        [mask for _, mask in rules],
        [LABELS.index(label) for label, _ in rules],
        LABELS.index("too_few"),
    )
    return chosen.astype(np.int64)


def durations(
    found: Episodes, listed: Listed, ends_us: Column, refresh_us: int
) -> tuple[Column, Mask]:
    """
    How long each episode was watched, in µs, and whether it was until its listing.

    *ends_us* is the last event of each episode's session, where it has one. A session is watched up to
    that, and at least through the refresh window: a last line is no sign that a session is over. It is
    watched no longer than to its next episode, or to where all that is known ends.
    """
    last = np.maximum(ends_us, found.last_us + refresh_us)
    last = np.where(found.session > 0, np.minimum(last, listed.until_us), listed.until_us)
    happened = listed.at_us != NEVER
    return np.where(happened, listed.at_us, last) - found.first_us, happened


def in_flight(notifications: Rows, split: Column, calls: Rows, groups: Groups) -> Column:
    """
    For each group, the stale calls of its client after one of its notifications, but not longer after it
    than `IN_FLIGHT_US`. A call counts once: for the latest notification before it.
    """
    sent = notifications
    order = np.lexsort((split, sent.time_us, sent.client, sent.server))
    client, time = pairs(sent.server, sent.client)[order], sent.time_us[order]
    at = Instants(client, time, pairs(calls.server, calls.client)).last_place(calls.time_us - 1)
    near = (at >= 0) & (calls.time_us - time[np.maximum(at, 0)] <= IN_FLIGHT_US)
    places = order[at[near]]
    table = {
        key: place
        for place, key in enumerate(
            zip(groups.server.tolist(), groups.client.tolist(), groups.split.tolist(), strict=True)
        )
    }
    each = zip(
        sent.server[places].tolist(),
        sent.client[places].tolist(),
        split[places].tolist(),
        strict=True,
    )
    hits = np.array([table[key] for key in each if key in table], dtype=np.int64)
    return np.bincount(hits, minlength=groups.size).astype(np.int64)
