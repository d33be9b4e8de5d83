"""
Traffic of a server that retired tools, made from a seed, with the truth known.

Each client opens sessions; a session brings stale calls. Both vary between clients, days of the week
and from day to day, as real traffic does (a client's rate today resembles yesterday's; calls of one
session come together, which is more than Poisson's spread). At some instant a client is notified; from
then on, or some days later, it makes a share of its stale calls no more. Everything else that may
happen meanwhile (people update anyway, releases, spells of activity) goes on as without notifications,
so that the share of calls made no more is the truth that a verdict is held against.

Times are days since the start with their fraction. Day 0 is a Monday.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

NORMAL_SPREAD = 0.35
"""Standard deviation of the logarithm of a client's daily activity around its usual one."""
NORMAL_MEMORY = 0.7
"""Correlation of that with the day before."""
CLIENT_SPREAD = 0.8
"""Standard deviation of the logarithm of sessions a day between clients."""
CALLS_SPREAD = 0.5
"""Standard deviation of the logarithm of stale calls a session between clients."""
SESSION_DAYS = 0.04
"""Mean length of a session: about an hour."""
IN_FLIGHT_DAYS = 20 / 86_400
"""Mean delay of a call that was on its way when the notification was sent."""
WAVES = (35.0, 49.0)
"""When the two waves of a planned roll-out are notified."""
MINUTES_5 = 5 / 1_440
BUSY, QUIET = 3.4, 0.2
"""Activity in a spell and between two, which last three times as long: on average 1."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """
    What happens to one server. The fields left out are those of an ordinary one.

    Args:
        effect: Share of the stale calls that a client makes no more once it has reacted.
        ignoring: Share of clients that never react.
        never: Share of clients that are never notified.
        notified: `staggered`: at an instant of its own, from `launch` to three weeks before the end;
            `once`: all at half time; `two waves`: half of them by lot at `WAVES[0]`, the others at
            `WAVES[1]`; `hello`: at the first session of those that ask (every second),
            after `launch`; `stale call`: in a session with one, the likelier the more it has.
        weekday: Staggered notifications all fall on this day of their week (0 is Monday).
        sessions: A day, mean over clients.
        calls: Stale calls a session, mean over clients.
        decline: Of stale calls a session, per day, on the logarithm, with `decline_spread` between clients.
        early_decline: Added to the decline of the client notified first, nothing to the last one's.
        weekend: Activity on Saturday and Sunday, against a weekday's.
        spell: Mean length in days of a spell of activity; 0: none.
        releases: (day, factor): activity on that day and the next is so many times the usual.
        delay: Mean days from notification to reaction; 0: at once.
        in_flight: Mean stale calls that were on their way when the notification was sent.
    """

    effect: float = 0.0
    ignoring: float = 0.0
    never: float = 0.25
    notified: Literal["staggered", "once", "two waves", "hello", "stale call"] = "staggered"
    weekday: int | None = None
    clients: int = 40
    days: int = 84
    launch: int = 14
    sessions: float = 0.8
    calls: float = 4.0
    decline: float = 0.0
    decline_spread: float = 0.0
    early_decline: float = 0.0
    weekend: float = 0.5
    spell: float = 0.0
    releases: tuple[tuple[int, float], ...] = ()
    delay: float = 0.0
    in_flight: float = 0.0


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions in order of time: client, start, length in days, and stale calls it would bring."""

    client: Whole
    start: Floats
    length: Floats
    calls: Whole


@dataclass(frozen=True, slots=True)
class World:
    """
    What a log would hold, and the truth.

    `notified` and `own` have one element a client: the instant (infinite: never) and whether it came
    within five minutes after an event of that client. `truth` is the share of stale calls that were
    made after all, of those due on days after the notification's; NaN where none were due.
    """

    days: int
    session_client: Whole
    session_time: Floats
    call_client: Whole
    call_time: Floats
    notified: Floats
    own: Flags
    truth: float

    def per_day(self, client: Whole, time: Floats) -> Floats:
        """Counts, clients x days."""
        cells = np.zeros((self.notified.size, self.days))
        np.add.at(cells, (client, time.astype(np.int64)), 1)
        return cells

    @property
    def calls(self) -> Floats:
        """Stale calls, clients x days."""
        return self.per_day(self.call_client, self.call_time)

    @property
    def sessions(self) -> Floats:
        """Sessions by the day of their start, clients x days."""
        return self.per_day(self.session_client, self.session_time)


def world(scenario: Scenario, rng: Generator) -> World:
    """One history of *scenario*; equal generators give equal histories."""
    never = _never(scenario, rng)
    planned = _planned(scenario, never, rng)
    sessions = _sessions(scenario, planned, rng)
    notified = np.where(never, np.inf, _triggered(scenario, sessions, planned, rng))
    ignoring = rng.random(scenario.clients) < scenario.ignoring
    reacted = np.where(ignoring, np.inf, notified + _delay(scenario, rng))
    client, time = _calls(sessions, rng)
    inside = time < scenario.days
    client, time = client[inside], time[inside]
    deaf = time <= reacted[client]
    due = np.floor(time) > np.floor(notified[client])
    kept = deaf | (rng.random(time.size) >= scenario.effect)
    truth = np.where(deaf, 1.0, 1.0 - scenario.effect)[due]
    client, time = _with_in_flight(scenario, client[kept], time[kept], notified, rng)
    return World(
        days=scenario.days,
        session_client=sessions.client,
        session_time=sessions.start,
        call_client=client,
        call_time=time,
        notified=notified,
        own=_own(sessions, client, time, notified),
        truth=float(truth.mean()) if truth.size else float("nan"),
    )


def _never(scenario: Scenario, rng: Generator) -> Flags:
    """Clients that are never notified; at least one is, where there are two."""
    never = rng.random(scenario.clients) < scenario.never
    if scenario.clients > 1 and never.all():
        never[0] = False
    return never


def _planned(scenario: Scenario, never: Flags, rng: Generator) -> Floats:
    """Instants that are known beforehand; infinite where an event of the client decides."""
    planned = np.full(scenario.clients, np.inf)
    if scenario.notified == "once":
        planned[:] = scenario.days / 2
    elif scenario.notified == "two waves":
        planned = rng.permutation(np.resize(WAVES, scenario.clients))
    elif scenario.notified == "staggered":
        planned = rng.uniform(scenario.launch, scenario.days - 21, scenario.clients)
        if scenario.weekday is not None:
            hour = rng.uniform(0.4, 0.7, scenario.clients)
            planned = np.floor(planned / 7) * 7 + scenario.weekday + hour
    return np.where(never, np.inf, planned)


def _sessions(scenario: Scenario, planned: Floats, rng: Generator) -> Sessions:
    usual = _lognormal(scenario.sessions, CLIENT_SPREAD, scenario.clients, rng)
    number = rng.poisson(usual[:, None] * _calendar(scenario) * _activity(scenario, rng))
    client, day = np.nonzero(number)
    many = number[client, day]
    client, day = np.repeat(client, many), np.repeat(day, many)
    start = day + rng.beta(4, 3, client.size)  # working hours, mostly
    order = np.argsort(start)
    client, start = client[order], start[order]
    calls = _lognormal(scenario.calls, CALLS_SPREAD, scenario.clients, rng)[client]
    mean = calls * np.exp(-_decline(scenario, planned, rng)[client] * np.floor(start))
    return Sessions(
        client=client,
        start=start,
        length=rng.exponential(SESSION_DAYS, client.size) + 0.005,
        calls=rng.negative_binomial(1, 1 / (1 + mean)),
    )


def _lognormal(mean: float, spread: float, size: int, rng: Generator) -> Floats:
    return mean * np.exp(rng.normal(0, spread, size) - spread**2 / 2)


def _calendar(scenario: Scenario) -> Floats:
    """What all clients share: week-ends and releases."""
    day = np.arange(scenario.days)
    factor = np.where(day % 7 >= 5, scenario.weekend, 1.0)
    for release, more in scenario.releases:
        factor[release : release + 2] *= more
    return factor


def _activity(scenario: Scenario, rng: Generator) -> Floats:
    """What each client does of its own, clients x days, 1 on average."""
    shape = (scenario.clients, scenario.days)
    noise = rng.normal(0, NORMAL_SPREAD, shape)
    level = noise.copy()
    for day in range(1, scenario.days):
        fresh = np.sqrt(1 - NORMAL_MEMORY**2) * noise[:, day]
        level[:, day] = NORMAL_MEMORY * level[:, day - 1] + fresh
    activity: Floats = np.exp(level - NORMAL_SPREAD**2 / 2)
    if scenario.spell:
        activity *= np.where(_spells(shape, scenario.spell, rng), BUSY, QUIET)
    return activity


def _spells(shape: tuple[int, int], length: float, rng: Generator) -> Flags:
    """Days inside a spell: spells of *length* days on average, pauses three times as long."""
    inside = np.zeros(shape, dtype=np.bool_)
    now = rng.random(shape[0]) < 0.25
    for day in range(shape[1]):
        chance = rng.random(shape[0])
        now = np.where(now, chance > 1 / length, chance < 1 / (3 * length))
        inside[:, day] = now
    return inside


def _decline(scenario: Scenario, planned: Floats, rng: Generator) -> Floats:
    """Each client's decline of calls a session, per day."""
    spread = rng.normal(0, scenario.decline_spread, scenario.clients)
    order = np.argsort(np.argsort(planned))  # 0 is notified first; never comes last
    early = 1 - order / max(scenario.clients - 1, 1)
    result: Floats = scenario.decline + spread + scenario.early_decline * early
    return result


def _triggered(scenario: Scenario, sessions: Sessions, planned: Floats, rng: Generator) -> Floats:
    """*planned*, or the first event of each client after the launch that triggers a notification."""
    if scenario.notified == "hello":
        asks, instant = rng.random(sessions.start.size) < 0.5, sessions.start
    elif scenario.notified == "stale call":
        asks = rng.random(sessions.start.size) < 1 - 0.93**sessions.calls
        instant = sessions.start + 0.9 * sessions.length
    else:
        return planned
    asks &= sessions.start > scenario.launch
    first = np.full(scenario.clients, np.inf)
    np.minimum.at(first, sessions.client[asks], instant[asks])
    return first


def _delay(scenario: Scenario, rng: Generator) -> Floats:
    if scenario.delay:
        return rng.exponential(scenario.delay, scenario.clients)
    return np.zeros(scenario.clients)


def _calls(sessions: Sessions, rng: Generator) -> tuple[Whole, Floats]:
    """Client and instant of every stale call that would be made without notifications."""
    session = np.repeat(np.arange(sessions.start.size), sessions.calls)
    time = sessions.start[session] + rng.random(session.size) * sessions.length[session]
    return sessions.client[session], time


def _with_in_flight(
    scenario: Scenario, client: Whole, time: Floats, notified: Floats, rng: Generator
) -> tuple[Whole, Floats]:
    """The calls and those that were on their way, which nobody could have stopped."""
    told = np.flatnonzero(np.isfinite(notified))
    late = np.repeat(told, rng.poisson(scenario.in_flight, told.size))
    instant = notified[late] + rng.exponential(IN_FLIGHT_DAYS, late.size)
    inside = instant < scenario.days
    return np.r_[client, late[inside]], np.r_[time, instant[inside]]


def _own(sessions: Sessions, client: Whole, time: Floats, notified: Floats) -> Flags:
    """Notifications within five minutes after the client's own hello or stale call."""
    own = np.zeros(notified.size, dtype=np.bool_)
    for who, when in ((sessions.client, sessions.start), (client, time)):
        wait = notified[who] - when
        own[who[(wait >= 0) & (wait <= MINUTES_5)]] = True
    return own
