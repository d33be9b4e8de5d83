"""
Did notifications help, read from a roll-out that was planned: clients in two waves by a keyed hash, the
second told some time after the first. Between the two instants chance alone decided who had been told,
so a difference between the waves may be said to come from it ("because").

Read by randomisation inference (Fisher's exact test; Rosenbaum, Observational Studies, chapter 2): the
waves as they were drawn are compared with all other splits of the same sizes, each of which was equally
likely. No model of the traffic is needed, and few clients only make the answer vaguer, not wrong.

Every client counts in the wave that it was assigned to, whether it was told or not (intention to treat).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from service.analysis.splits import Comparison
from service.analysis.waves import BASELINE_DAYS, Wave

if TYPE_CHECKING:  # it imports pandas, which whoever only lists plans need not wait for
    from service.analysis.effect.panel import Panel

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Unit = str | int

LEAST_A_WAVE = 4
"""Clients in a wave: of 3 against 4 the most extreme of 35 splits is no rarer than 2 in 35."""
LEAST_EXPECTED = 10
"""Stale calls that the first wave would have made: fewer say little, however they are split."""
HELD = 0.8
"""Of each wave's clients that came: so many must have been told, or not told, as planned."""
Verdict = Literal["reduced", "increased", "no detectable change", "not enough data"]
Reason = Literal["not over", "clients", "calls", "interval"]


@dataclass(frozen=True, slots=True)
class Kept:
    """How one wave kept to the plan, in clients that came between the two instants."""

    clients: int
    told: int
    """First told between the two instants: as planned for the first wave, too early for the second."""
    early: int
    """Told before the first instant although the plan was made."""
    untold: int
    """Not told by the second instant: as planned for the second wave."""
    share: float | None
    """That kept to the plan; None where no client came."""


@dataclass(frozen=True, slots=True)
class Reading:
    """
    What a planned roll-out says.

    Args:
        verdict: In the words of `effect`.
        because: The change may be called an effect of the notifications: it is one, and both waves kept
            to the plan. Without, it is what came "after".
        reason: What keeps it from a verdict.
        rate_ratio: Stale calls per opportunity of the first wave against the second, each against its
            own baseline; None where one of them has no calls to compare.
        interval: All ratios that chance does not rule out at 95 %; a high end of None has no bound.
        p_value: Of the splits, the share that differ at least as much as the real one.
        splits: How many were compared.
        exact: They are all there are.
        observed, expected: Stale calls of the first wave between the instants, and what they would have
            come to had it changed like the second.
        used: Clients compared, of the first and the second wave.
        no_baseline: Clients without a stale call before the first instant.
        first, second: How each wave kept to the plan.
    """

    verdict: Verdict
    because: bool
    reason: Reason | None
    rate_ratio: float | None
    interval: tuple[float, float | None] | None
    p_value: float | None
    splits: int
    exact: bool
    observed: int
    expected: float | None
    used: tuple[int, int]
    no_baseline: tuple[Unit, ...]
    first: Kept
    second: Kept
    exposure: Literal["sessions", "calendar"]


def read(
    panel: "Panel",
    waves: Sequence[Wave],
    instants: tuple[float, float],
    *,
    until: float,
    seed: int,
) -> Reading:
    """
    Read a roll-out.

    Args:
        panel: The planned clients; `notified` is the first notification since the plan was made.
        waves: The wave of each.
        instants: When each wave is told, as day numbers with fraction.
        until: What is known reaches to here. Before the second instant there is no verdict: a question
            that is asked every day is answered "yes" by chance sooner or later.
        seed: Draws the splits where there are too many to compare all.

    The day of the first instant is left out, and days from that of the second on; cells that were not
    covered are missing.
    """
    first = np.array([wave == 1 for wave in waves], dtype=np.bool_)
    before, after = _windows(panel, instants)
    calls, expected = _against_baseline(panel, before, after)
    came = _came(panel, after)
    told = _kept(panel, first & came, instants, planned_told=True)
    waiting = _kept(panel, ~first & came, instants, planned_told=False)
    base = (np.where(panel.covered, panel.calls, 0) @ before) > 0
    sides = (int((base & first).sum()), int((base & ~first).sum()))
    found = Comparison(calls[base], expected[base], first[base], seed)
    reason = _lacking(found, sides, over=until >= instants[1])
    interval = None if reason else found.interval()
    verdict = _verdict(interval)
    changed = verdict in ("reduced", "increased")
    return Reading(
        verdict=verdict,
        because=changed and _held(told) and _held(waiting),
        reason=reason or (None if verdict != "not enough data" else "interval"),
        rate_ratio=found.ratio,
        interval=interval,
        p_value=None if reason else found.p_value(1.0),
        splits=0 if reason else len(found.sums),
        exact=found.exact,
        observed=int(found.calls[found.first].sum()),
        expected=found.expected_calls,
        used=sides,
        no_baseline=tuple(unit for unit, has in zip(panel.units, base, strict=True) if not has),
        first=told,
        second=waiting,
        exposure="calendar" if panel.sessions is None else "sessions",
    )


def _lacking(found: Comparison, sides: tuple[int, int], *, over: bool) -> Reason | None:
    """What is too little for a verdict."""
    if not over:
        return "not over"
    if min(sides) < LEAST_A_WAVE:
        return "clients"
    return None if (found.expected_calls or 0) >= LEAST_EXPECTED else "calls"


def _held(wave: Kept) -> bool:
    return wave.share is not None and wave.share >= HELD


def _windows(panel: "Panel", instants: tuple[float, float]) -> tuple[Floats, Floats]:
    """One for each day that counts as before, and between: (T,) each."""
    day = panel.first_day + np.arange(panel.days)
    start, end = (math.floor(instant) for instant in instants)
    before = (day >= start - BASELINE_DAYS) & (day < start)
    between = (day > start) & (day < end)
    return before.astype(np.float64), between.astype(np.float64)


def _opportunity(panel: "Panel") -> Floats:
    covered = panel.covered.astype(np.float64)
    return covered if panel.sessions is None else np.where(panel.covered, panel.sessions, 0)


def _against_baseline(panel: "Panel", before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Stale calls of each client between the instants, and those that its baseline would make of it."""
    calls = np.where(panel.covered, panel.calls, 0)
    opportunity = _opportunity(panel)
    had = opportunity @ before
    rate = np.divide(calls @ before, had, out=np.zeros(len(panel.units)), where=had > 0)
    return calls @ after, rate * (opportunity @ after)


def _came(panel: "Panel", after: Floats) -> Flags:
    """Clients that could be told between the instants, since they came."""
    came = panel.calls if panel.sessions is None else panel.calls + panel.sessions
    result: Flags = (np.where(panel.covered, came, 0) @ after) > 0
    return result


def _kept(
    panel: "Panel", wave: Flags, instants: tuple[float, float], *, planned_told: bool
) -> Kept:
    """How the clients of a wave that came were told."""
    at = panel.notified[wave]
    early = int((at < instants[0]).sum())
    told = int(((at >= instants[0]) & (at < instants[1])).sum())
    untold = int((at >= instants[1]).sum())
    kept = told if planned_told else untold
    return Kept(
        clients=at.size,
        told=told,
        early=early,
        untold=untold,
        share=kept / at.size if at.size else None,
    )


def _verdict(interval: tuple[float, float | None] | None) -> Verdict:
    if interval is None:
        return "not enough data"
    low, high = interval
    if high is not None and high < 1:
        return "reduced"
    if low > 1:
        return "increased"
    if high is not None and low >= 0.5 and high <= 2:
        return "no detectable change"
    return "not enough data"
