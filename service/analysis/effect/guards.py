"""
The checks before a verdict, in their order: the first that fails decides what is said.

What a check needs is never made up for by another: an estimate of many calls without clients to compare
with is a trend, and one of many clients without calls is noise.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from service.analysis.effect.jackknife import Estimate
from service.analysis.effect.results import (
    Guard,
    GuardName,
    Interval,
    Outcome,
    Placebo,
    Strength,
    Trend,
    Verdict,
)
from service.analysis.effect.trend import holds

LEAST_CALLS = 30
LEAST_SUPPORT = 0.5
FEW_NOTIFIED = 3
LEAST_OTHERS = 2
LEAST_CLIENTS = 4
LEAST_BEFORE = 20
LEAST_EXPECTED = 10
LEAST_SAMPLES = 2
MOST_OWN = 0.5
RULED_OUT = 2.0
"""No change is said where halving and doubling are ruled out."""

WORDS: dict[GuardName, Verdict] = {
    "notified clients": "not enough data",
    "stale calls of notified clients": "not enough data",
    "support": "cannot separate from the trend",
    "clients to compare with": "cannot separate from the trend",
    "usable notified clients": "not enough data",
    "calls before": "not enough data",
    "expected calls": "not enough data",
    "interval": "not enough data",
    "own activity": "cannot separate from the client's own activity",
    "placebo": "cannot separate from the trend",
    "trend": "cannot separate from the trend",
    "precision": "not enough data",
}
"""What is said where a check fails, in the order of checks."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known before anything is fitted. `calls`: of notified clients, in covered cells."""

    notified: int
    others: int
    calls: int
    own: float | None
    """The share of notifications that followed the client's own event."""
    calendar: bool


def before_fit(setting: Setting) -> list[Guard]:
    """Who was notified, and how much there is of them."""
    notified = _guard("notified clients", setting.notified, 1)
    if notified.outcome == "failed":
        return [notified]
    return [notified, _guard("stale calls of notified clients", setting.calls, LEAST_CALLS)]


def of_estimate(
    setting: Setting, found: Estimate, support: float | None, samples: int
) -> list[Guard]:
    """Whether there is something to compare with, and enough of it."""
    compare: Outcome = (
        "failed" if setting.notified < FEW_NOTIFIED and setting.others < LEAST_OTHERS else "passed"
    )
    spread: Outcome = "failed" if found.interval is None else "passed"
    own = setting.calendar and setting.own is not None and setting.own > MOST_OWN
    return [
        _guard("support", support, LEAST_SUPPORT),
        Guard("clients to compare with", compare, setting.others, LEAST_OTHERS),
        _guard("usable notified clients", found.used, LEAST_CLIENTS),
        _guard("calls before", found.calls_before, LEAST_BEFORE),
        _guard("expected calls", found.expected, LEAST_EXPECTED),
        Guard("interval", spread, samples, LEAST_SAMPLES),
        Guard("own activity", "failed" if own else "passed", setting.own, MOST_OWN),
    ]


def of_trend(placebo: Placebo, trend: Trend, needed: float, *, withdrawn: bool) -> list[Guard]:
    """Whether groups diverged before: in the placebo, or by how early they were notified."""
    checked: Outcome = "not checked"
    if placebo.interval is not None:
        checked = "passed" if holds(placebo.interval, 1.0) else "failed"
    slope: Outcome = "not checked"
    if trend.t is not None:
        slope = "failed" if withdrawn else "passed"
    return [
        Guard("placebo", checked, placebo.rate_ratio, 1.0),
        Guard("trend", slope, None if trend.t is None else abs(trend.t), needed),
    ]


def of_interval(low: float, high: float | None) -> Guard:
    """Whether "no change" is known or only not excluded; not asked where the interval excludes it."""
    widest = math.inf if high is None or low <= 0 else max(1 / low, high)
    outcome: Outcome = "passed" if widest <= RULED_OUT else "failed"
    if low > 1 or (high is not None and high < 1):
        outcome = "not checked"
    return Guard("precision", outcome, None if math.isinf(widest) else widest, RULED_OUT)


def complete(guards: Sequence[Guard]) -> tuple[Guard, ...]:
    """Every check in its order, those that were not reached as not checked."""
    reached = {guard.name: guard for guard in guards}
    return tuple(
        reached.get(name, Guard(name, "not checked", None, NEEDED[name])) for name in WORDS
    )


def failing(guards: Sequence[Guard]) -> GuardName | None:
    """The first that failed."""
    return next((guard.name for guard in guards if guard.outcome == "failed"), None)


def word(interval: Interval, trend: Trend) -> tuple[Verdict, Strength | None]:
    """What the interval says, all checks passed."""
    low, high = interval
    if high is not None and high < 1:
        adjusted = trend.interval[1] if trend.interval else None
        return "reduced", _strength(adjusted is not None and adjusted < 1)
    if low > 1:
        return "increased", _strength(trend.interval is not None and trend.interval[0] > 1)
    return "no detectable change", None


NEEDED: dict[GuardName, float] = {
    "notified clients": 1,
    "stale calls of notified clients": LEAST_CALLS,
    "support": LEAST_SUPPORT,
    "clients to compare with": LEAST_OTHERS,
    "usable notified clients": LEAST_CLIENTS,
    "calls before": LEAST_BEFORE,
    "expected calls": LEAST_EXPECTED,
    "interval": LEAST_SAMPLES,
    "own activity": MOST_OWN,
    "placebo": 1.0,
    "trend": 2.0,
    "precision": RULED_OUT,
}
"""What each check asks for; that of the trend follows from the number of clients."""


def _strength(held: bool) -> Strength:
    return "robust" if held else "if trends were alike"


def _guard(name: GuardName, found: float | None, needed: float) -> Guard:
    outcome: Outcome = "passed" if found is not None and found >= needed else "failed"
    return Guard(name, outcome, found, needed)
