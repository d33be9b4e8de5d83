"""
What clients did after notifications: rows in, one result a server and client out.

Notifications of one channel whose gaps are at most the refresh window form one episode. A channel is a
client's session; notifications to a client without a session are one channel of that client. An
episode is answered by a listing of the same session (without a session: by any listing of the client)
from its first notification, equal time counts, to the refresh window after its last. A listing before
the first notification, as at connect, is no answer.

Beside it stand the client's stale calls in the compare window up to and including the first
notification, and in the compare window after the last. What lies between belongs to neither. Both are
summed over a client's episodes, so a call within reach of two episodes counts for each.

All of it is descriptive: before and after, not adjusted for anything, not a cause.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from service.analysis.counts import Column, codes
from service.analysis.windows import Instants, pairs

OUTCOMES = (
    "answered_reduced",
    "answered_no_effect",
    "answered_increased",
    "ignored_reduced",
    "ignored_no_effect",
    "ignored_increased",
    "mixed_reduced",
    "mixed_no_effect",
    "mixed_increased",
    "no_stale_calls",
    "too_early",
)
"""`answered`: every episode was; `ignored`: none; `mixed`: some. Then how stale calls after compare with
those before: fewer, as many, more. `no_stale_calls`: none on either side. `too_early`, before all
others: the windows of an episode are not over, so that what is missing may still come."""


@dataclass(frozen=True, slots=True)
class Rows:
    """
    Events of one kind, in any order. Ids and numbers are from 0 to 2^31; a `session` of 0 is none;
    `client` is the number of the client's key.
    """

    server: Column
    session: Column
    client: Column
    time_us: Column


@dataclass(frozen=True, slots=True)
class Reaction:
    """What one client of one server did. `outcome` is one of `OUTCOMES`."""

    server: int
    client: int
    notifications: int
    episodes: int
    answered: int
    ignored: int
    stale_before: int
    stale_after: int
    change_pct: float | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Episodes:
    """One entry an episode, by server, client, session and time."""

    server: Column
    client: Column
    session: Column
    first_us: Column
    last_us: Column
    notifications: Column
    row: Column
    """The place of its first notification among those it was made of."""


@dataclass(frozen=True, slots=True)
class Groups:
    """
    Episodes in groups: of one server and client, and of one *split* where clients are split further.
    One entry a group, in that order; `of` is the group of each episode.
    """

    server: Column
    client: Column
    split: Column
    of: Column

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.server.size)

    def sums(self, values: Any) -> Column:
        """The sum of a value of each episode over each group."""
        return np.bincount(self.of, weights=values, minlength=self.size).astype(np.int64)


def change_pct(before: int, after: int) -> float | None:
    """
    The change in per cent, to one decimal; None from 0, where there is no percentage.

    >>> change_pct(3, 2), change_pct(4, 4), change_pct(0, 3)
    (-33.3, 0.0, None)
    """
    # + 0.0: a change that rounds to nothing is not written as -0.0
    return None if before == 0 else round((after - before) * 100 / before, 1) + 0.0


def outcome(episodes: int, answered: int, before: int, after: int, *, settled: bool) -> str:
    """The word for a client's episodes; *settled* says that the windows of all of them are over."""
    if not settled:
        return "too_early"
    if before == after == 0:
        return "no_stale_calls"
    heard = {0: "ignored", episodes: "answered"}.get(answered, "mixed")
    effect = "no_effect" if after == before else "reduced" if after < before else "increased"
    return f"{heard}_{effect}"


def reactions(
    notifications: Rows,
    listings: Rows,
    calls: Rows,
    *,
    refresh_us: int,
    compare_us: int,
    end_us: int,
    groups: Groups | None = None,
) -> tuple[Reaction, ...]:
    """
    Every client's reactions, by server and the number of the client.

    Args:
        notifications: Those that a client or session is known of.
        listings: At least those in the refresh window after a notification.
        calls: Stale calls, at least those in the compare window around a notification.
        refresh_us: The refresh window.
        compare_us: The compare window.
        end_us: Events from this instant on are not known yet.
        groups: Of their episodes, where there is to be one result for each of these.
    """
    found = episodes(notifications, refresh_us)
    groups = grouped(found) if groups is None else groups
    answered = _answered(found, listings, refresh_us)
    clients = pairs(found.server, found.client)
    callers = pairs(calls.server, calls.client)
    called = Instants(callers, calls.time_us, clients)
    before = called.count(found.first_us - compare_us, found.first_us)
    after = called.count(found.last_us + 1, found.last_us + compare_us)
    settled = found.last_us + max(refresh_us, compare_us) < end_us
    columns = (found.notifications, np.ones_like(answered), answered, before, after, ~settled)
    sums = [groups.sums(each) for each in columns]
    return tuple(
        _reaction(
            int(groups.server[place]),
            int(groups.client[place]),
            *(int(each[place]) for each in sums),
        )
        for place in range(groups.size)
    )


def _reaction(
    server: int,
    client: int,
    notified: int,
    episodes: int,
    answered: int,
    before: int,
    after: int,
    unsettled: int,
) -> Reaction:
    return Reaction(
        server=server,
        client=client,
        notifications=notified,
        episodes=episodes,
        answered=answered,
        ignored=episodes - answered,
        stale_before=before,
        stale_after=after,
        change_pct=change_pct(before, after),
        outcome=outcome(episodes, answered, before, after, settled=unsettled == 0),
    )


def episodes(notifications: Rows, refresh_us: int) -> Episodes:
    """Join notifications of one channel with gaps of at most `refresh_us`."""
    n = notifications
    order = np.lexsort((n.time_us, n.session, n.client, n.server))
    server, client, session, time = (
        column[order] for column in (n.server, n.client, n.session, n.time_us)
    )
    fresh = np.ones(time.size, dtype=bool)
    fresh[1:] = np.diff(time) > refresh_us
    for column in (server, client, session):
        fresh[1:] |= np.diff(column) != 0
    starts = np.flatnonzero(fresh)
    ends = np.append(starts[1:], time.size)[: starts.size]
    return Episodes(
        server[starts],
        client[starts],
        session[starts],
        time[starts],
        time[ends - 1],
        (ends - starts).astype(np.int64),
        order[starts],
    )


def grouped(found: Episodes, split: Column | None = None) -> Groups:
    """Episodes by server and client, and by *split*, one number a notification that they are made of."""
    part = np.zeros_like(found.row) if split is None else split[found.row]
    parts, place = codes(part)
    clients, client = codes(pairs(found.server, found.client))
    keys, of = codes(client * max(parts.size, 1) + place)
    first, last = np.divmod(keys, max(parts.size, 1))
    return Groups(clients[first] >> 32, clients[first] & 0xFFFFFFFF, parts[last], of)


def _answered(found: Episodes, listings: Rows, refresh_us: int) -> Column:
    """1 for each episode that a listing answers."""
    span = (found.first_us, found.last_us + refresh_us)
    by_session = Instants(
        pairs(listings.server, listings.session),
        listings.time_us,
        pairs(found.server, found.session),
    )
    by_client = Instants(
        pairs(listings.server, listings.client),
        listings.time_us,
        pairs(found.server, found.client),
    )
    counts = np.where(found.session > 0, by_session.count(*span), by_client.count(*span))
    return (counts > 0).astype(np.int64)
