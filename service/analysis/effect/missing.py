"""
About what would make an answer, where there is none.

Where nothing better is known, what is asked for is what simulation needed: with about 4 calls a session
and 0.8 sessions a day, halving was found in 54 of 100 worlds with 12 clients, 78 with 16 and 92 with
24, three quarters of them notified, at least four at any week not yet.
"""

import math

import numpy as np

from service.analysis.effect.clients import dispersion
from service.analysis.effect.guards import (
    LEAST_BEFORE,
    LEAST_CALLS,
    LEAST_EXPECTED,
    Setting,
)
from service.analysis.effect.jackknife import HALF, Estimate, Model, quantile
from service.analysis.effect.panel import Flags
from service.analysis.effect.results import GuardName, Missing

ENOUGH_NOTIFIED = 12
ENOUGH_OTHERS = 4
LONGEST_WAIT = 52


def without_estimate(reason: GuardName, setting: Setting, weeks: float) -> Missing:
    """Of the checks before the fit; `weeks` is how long notified clients were watched for."""
    if reason == "notified clients":
        return Missing(clients=ENOUGH_NOTIFIED, others=_more(ENOUGH_OTHERS, setting.others))
    calls = LEAST_CALLS - setting.calls
    return Missing(calls=calls, weeks=_weeks(calls, setting.calls, weeks))


def with_estimate(reason: GuardName, found: Estimate, model: Model, clients: Flags) -> Missing:
    """Of the checks of the estimate."""
    if reason in ("support", "clients to compare with"):
        return Missing(others=max(1, ENOUGH_OTHERS - _others(model, clients)), randomise=True)
    if reason == "usable notified clients":
        return Missing(clients=ENOUGH_NOTIFIED - found.used)
    if reason == "interval":
        return Missing(clients=ENOUGH_NOTIFIED)
    if reason == "calls before":
        calls = math.ceil(LEAST_BEFORE - found.calls_before)
        each = found.calls_before / found.used
        return Missing(calls=calls, clients=math.ceil(calls / each))
    if reason == "expected calls":
        weeks = float(model.supported_after[clients].any(axis=0).sum())
        calls = math.ceil(LEAST_EXPECTED - found.expected)
        return Missing(calls=calls, weeks=_weeks(calls, found.expected, weeks))
    if reason == "own activity":
        return Missing(sessions=True)
    if reason == "precision":
        return Missing(clients=_more_clients(found), weeks=_more_weeks(found, model, clients))
    return Missing(randomise=True)


def _error_wanted(found: Estimate) -> float:
    """With it the nearest word would be said: that of a change, or that there is none."""
    distance = abs(found.log_ratio)
    return max(distance, math.log(2) - distance) / quantile(found.df)


def _more_clients(found: Estimate) -> int:
    """The error falls with the square root of their number."""
    wanted = math.ceil(found.used * ((found.error or 0.0) / _error_wanted(found)) ** 2)
    return max(wanted - found.used, ENOUGH_NOTIFIED - found.used, 1)


def _more_weeks(found: Estimate, model: Model, clients: Flags) -> int | None:
    """
    Only the part of the error that comes of few calls after notification falls with time, their
    dispersion over their number; that of clients that differ stays. None where that part is too small,
    or falls too slowly to wait for.
    """
    falling = dispersion(model)[0] / (found.observed + HALF)
    too_much = (found.error or 0.0) ** 2 - _error_wanted(found) ** 2
    if falling <= too_much:
        return None
    weeks = float(model.supported_after[clients].any(axis=0).sum())
    wanted = max(1, math.ceil(weeks * too_much / (falling - too_much)))
    return wanted if wanted <= LONGEST_WAIT else None


def _others(model: Model, clients: Flags) -> int:
    """How many clients are not yet notified in the middle one of the weeks in which these are."""
    others = (model.cells.before.any(axis=2) & model.cells.baseline[:, None]).sum(axis=0)
    asked = model.cells.after[clients].any(axis=(0, 2))
    return int(np.median(others[asked])) if asked.any() else 0


def _more(wanted: int, there: int) -> int | None:
    return wanted - there if there < wanted else None


def _weeks(calls: float, seen: float, weeks: float) -> int | None:
    """How long so many calls take at the pace seen; None where there is none to go by."""
    return math.ceil(calls * weeks / seen) if seen > 0 and weeks > 0 else None
