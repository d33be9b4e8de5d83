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

import numpy as np

from service.analysis.counts import Column, codes

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
    """
    found = episodes(notifications, refresh_us)
    answered = _answered(found, listings, refresh_us)
    clients = _pairs(found.server, found.client)
    callers = _pairs(calls.server, calls.client)
    one = calls.time_us
    before = _within(callers, one, clients, found.first_us - compare_us, found.first_us)
    after = _within(callers, one, clients, found.last_us + 1, found.last_us + compare_us)
    settled = found.last_us + max(refresh_us, compare_us) < end_us
    values, group = codes(clients)
    columns = (found.notifications, np.ones_like(group), answered, before, after, ~settled)
    sums = [np.bincount(group, weights=each, minlength=values.size) for each in columns]
    return tuple(
        _reaction(int(pair), *(int(each[place]) for each in sums))
        for place, pair in enumerate(values)
    )


def _reaction(
    pair: int, notified: int, episodes: int, answered: int, before: int, after: int, unsettled: int
) -> Reaction:
    return Reaction(
        server=pair >> 32,
        client=pair & 0xFFFFFFFF,
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
    )


def _answered(found: Episodes, listings: Rows, refresh_us: int) -> Column:
    """1 for each episode that a listing answers."""
    span = (found.first_us, found.last_us + refresh_us)
    by_session = _within(
        _pairs(listings.server, listings.session),
        listings.time_us,
        _pairs(found.server, found.session),
        *span,
    )
    by_client = _within(
        _pairs(listings.server, listings.client),
        listings.time_us,
        _pairs(found.server, found.client),
        *span,
    )
    return (np.where(found.session > 0, by_session, by_client) > 0).astype(np.int64)


def _pairs(first: Column, second: Column) -> Column:
    return (first << 32) + second


def _within(group: Column, time: Column, wanted: Column, low: Column, high: Column) -> Column:
    """For each (wanted, low, high): how many times of that group lie from low to high, both counted."""
    number = codes(np.concatenate([group, wanted]))[1]
    times = np.unique(time)
    width = times.size + 1
    # by rank, not by time: a group's number and a time do not fit into one whole number
    places = np.sort(number[: group.size] * width + np.searchsorted(times, time))
    base = number[group.size :] * width
    first = np.searchsorted(places, base + np.searchsorted(times, low, side="left"))
    last = np.searchsorted(places, base + np.searchsorted(times, high, side="right"))
    return (last - first).astype(np.int64)
