"""
Ways in which one client calls one name, made from a seed: from a steady one to a fading one.

Times are days since the start with their fraction; day 0 is a Monday. A history that has stopped at an
instant is the same history without what comes after it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Calls = Callable[[Generator, int], Floats]
"""Instants of calls, in order, from 0 to a number of days."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Shares that the reference simulation found: said while alive, and said 60 days after the stop."""

    false_stopped: float
    false_probably: float
    found_stopped: float
    found_probably: float


@dataclass(frozen=True, slots=True)
class Process:
    """One way to call, and what the reference found for the rule; *probably* holds *stopped* too."""

    name: str
    calls: Calls
    reference: Reference | None
    """None: no reference, and no limit. One call in a month, in fits and starts, cannot be told from none."""


def _rate(rng: Generator, daily: Floats) -> Floats:
    """Calls of a Poisson process whose rate is *daily* on each day."""
    day = np.repeat(np.arange(daily.size), rng.poisson(daily))
    return np.sort(day + rng.random(day.size))


def _steady(rate: float) -> Calls:
    return lambda rng, days: _rate(rng, np.full(days, rate))


def _bursts(rng: Generator, days: int) -> Floats:
    """Bursts of ten calls or so within minutes, three in ten days."""
    bursts = _rate(rng, np.full(days, 0.3))
    starts = np.repeat(bursts, 1 + rng.poisson(9, bursts.size))
    calls = np.sort(starts + rng.exponential(0.005, starts.size))
    return calls[calls < days]


def _in_spells(rng: Generator, days: int) -> NDArray[np.bool_]:
    """Days inside a spell of 5 days on average; pauses last 15."""
    inside = np.zeros(days, dtype=np.bool_)
    now = rng.random() < 0.25
    for day in range(days):
        now = rng.random() > 1 / 5 if now else rng.random() < 1 / 15
        inside[day] = now
    return inside


def _spells(rng: Generator, days: int) -> Floats:
    return _rate(rng, np.where(_in_spells(rng, days), 1.5, 0.0))


def _job(every: int, skipped: float = 0.0) -> Calls:
    """A job every so many days at the same hour, from a random day on; some runs are skipped."""

    def calls(rng: Generator, days: int) -> Floats:
        runs = np.arange(rng.integers(every), days, every) + 0.3 + rng.random(1) * 0.4
        return runs[rng.random(runs.size) >= skipped]

    return calls


def _office(rng: Generator, days: int) -> Floats:
    """Half a call a day from Monday to Friday."""
    return _rate(rng, np.where(np.arange(days) % 7 < 5, 0.5, 0.0))


def _lognormal(rng: Generator, days: int) -> Floats:
    """Gaps of three days in the median, some many times as long."""
    gaps = rng.lognormal(np.log(3.0), 1.2, 20 * days)
    calls: Floats = np.cumsum(gaps) - gaps[0] * rng.random()
    return calls[calls < days]


def _fading(rng: Generator, days: int) -> Floats:
    """A rate of one a day that halves every 40 days."""
    return _rate(rng, 0.5 ** (np.arange(days) / 40))


def _fading_spells(half_life: float) -> Calls:
    def calls(rng: Generator, days: int) -> Floats:
        daily = np.where(_in_spells(rng, days), 1.5, 0.0) * 0.5 ** (np.arange(days) / half_life)
        return _rate(rng, daily)

    return calls


def _dropped(rng: Generator, days: int) -> Floats:
    """Half a call a day; at half time four of five users leave."""
    return _rate(rng, np.where(np.arange(days) < days / 2, 0.5, 0.1))


_PROCESSES = (
    Process("steady, 0.3 a day", _steady(0.3), Reference(0, 0, 0.34, 1.00)),
    Process("steady, 0.05 a day", _steady(0.05), Reference(0.01, 0.02, 0.02, 0.14)),
    Process("bursts of ten calls", _bursts, Reference(0, 0, 0.40, 0.98)),
    Process("spells, 5 days on, 15 off", _spells, Reference(0.02, 0.05, 0.30, 0.76)),
    Process("weekly job", _job(7), Reference(0, 0, 0, 1.00)),
    Process("weekly job, 15 % skipped", _job(7, 0.15), Reference(0, 0, 0.01, 0.68)),
    Process("monthly job", _job(30), Reference(0, 0, 0, 0)),
    Process("office days", _office, Reference(0, 0, 0.38, 1.00)),
    Process("lognormal gaps", _lognormal, Reference(0.02, 0.05, 0.33, 0.79)),
    Process("fading, half-life 40 days", _fading, Reference(0, 0.04, 0.02, 0.97)),
    Process("fading, in spells", _fading_spells(60), Reference(0.01, 0.04, 0.13, 0.63)),
    Process("dropped to a fifth", _dropped, Reference(0, 0, 0.08, 1.00)),
    Process("fading faster, in spells", _fading_spells(40), None),
)
PROCESSES = {process.name: process for process in _PROCESSES}
