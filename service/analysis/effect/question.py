"""One question from its panel to its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.analysis.effect import guards
from service.analysis.effect.cells import Cells, cells, notified, opportunity
from service.analysis.effect.jackknife import Estimate, Model, estimate, model, quantile
from service.analysis.effect.missing import with_estimate, without_estimate
from service.analysis.effect.panel import Flags, Panel, Unit
from service.analysis.effect.results import (
    Effect,
    Guard,
    GuardName,
    LeftOut,
    Missing,
    Placebo,
    Strength,
    Trend,
    Verdict,
)
from service.analysis.effect.trend import NO_TREND, adjusted

PLACEBO_DAYS = 14
MUCH = 0.2
NO_PLACEBO = Placebo(None, None)


def effect(panel: Panel, left_out: Sequence[LeftOut] = ()) -> Effect:
    """
    Did notifications change how often clients call?

    Args:
        panel: The clients and their days.
        left_out: What the asker left out before (gateways, unattributed, excluded …), with its calls.

    It never raises for want of data: nobody notified, one client, no call, no day are answers.
    """
    return _ask(panel, np.ones(len(panel.units), dtype=bool), left_out)


def effect_of(
    panel: Panel, members: Flags | Sequence[Unit], left_out: Sequence[LeftOut] = ()
) -> Effect:
    """
    The same question for some of the notified clients, as those that listed again or did not.

    Args:
        panel: All clients. Those that are no members stay in what is compared with, as in `effect`.
        members: (C,) truth values in the order of units, or labels of units. Members that were not
            notified do not count.
        left_out: As in `effect`.
    """
    if isinstance(members, np.ndarray) and members.dtype == np.bool_:
        return _ask(panel, members, left_out)
    wanted = set(members)
    return _ask(panel, np.array([unit in wanted for unit in panel.units], dtype=bool), left_out)


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found out, as far as it was asked."""

    checks: list[Guard]
    reason: GuardName | None
    verdict: Verdict
    strength: Strength | None = None
    estimate: Estimate | None = None
    support: float | None = None
    placebo: Placebo = NO_PLACEBO
    trend: Trend = NO_TREND
    missing: Missing | None = None


def _ask(panel: Panel, members: Flags, left_out: Sequence[LeftOut]) -> Effect:
    told = np.isfinite(notified(panel))
    clients = told & members
    setting = _setting(panel, told, clients)
    checks = guards.before_fit(setting)
    parted = cells(panel)
    fitted: Model | None = None
    if reason := guards.failing(checks):
        weeks = float(panel.covered[clients].sum() / max(clients.sum(), 1) / 7)
        missing = without_estimate(reason, setting, weeks)
        found = _Found(checks, reason, guards.WORDS[reason], missing=missing)
    else:
        fitted = model(parted)
        found = _estimated(panel, parted, fitted, clients, setting, checks)
    unused = [*left_out, *_unused(panel, parted, fitted, clients)]
    return _answer(panel, clients, found, unused)


def _setting(panel: Panel, told: Flags, clients: Flags) -> guards.Setting:
    calls = np.where(panel.covered, panel.calls, 0.0)
    return guards.Setting(
        notified=int(clients.sum()),
        others=int((~told & calls.any(axis=1)).sum()),
        calls=int(calls[clients].sum()),
        own=float(panel.own[clients].mean()) if clients.any() else None,
        calendar=panel.sessions is None,
    )


def _estimated(
    panel: Panel,
    parted: Cells,
    fitted: Model,
    clients: Flags,
    setting: guards.Setting,
    checks: list[Guard],
) -> _Found:
    found = estimate(fitted, clients)
    support = _support(fitted, clients)
    checks = checks + guards.of_estimate(setting, found, support, fitted.keep.shape[1] - 1)
    placebo, trend = NO_PLACEBO, NO_TREND
    failed = guards.failing(checks)
    if found.interval is not None and failed in (None, "own activity"):
        placebo = _placebo(panel, clients)
        trend, withdrawn = adjusted(parted, notified(panel), panel.days, clients)
        checks += guards.of_trend(placebo, trend, quantile(found.df), withdrawn=withdrawn)
        checks.append(guards.of_interval(*found.interval))
        failed = guards.failing(checks)
        if failed is None:
            verdict, strength = guards.word(found.interval, trend)
            return _Found(checks, None, verdict, strength, found, support, placebo, trend)
    reason = failed or "interval"
    missing = with_estimate(reason, found, fitted, clients)
    said = guards.WORDS[reason]
    return _Found(checks, reason, said, None, found, support, placebo, trend, missing)


def _support(fitted: Model, clients: Flags) -> float | None:
    """
    The share of notified opportunity in supported weeks. Clients without a baseline are not asked of:
    no week could support them.
    """
    counted = clients & fitted.cells.baseline
    all_of_it = fitted.cells.after[counted].sum()
    return float(fitted.supported_after[counted].sum() / all_of_it) if all_of_it > 0 else None


def _placebo(panel: Panel, clients: Flags) -> Placebo:
    found = estimate(model(cells(panel, PLACEBO_DAYS)), clients)
    return Placebo(found.rate_ratio, found.interval)


def _unused(panel: Panel, parted: Cells, fitted: Model | None, clients: Flags) -> list[LeftOut]:
    """Clients of the panel that were not used, by the order of units."""
    calls = np.where(panel.covered, panel.calls, 0.0).sum(axis=1)
    silent = (calls > 0) & (opportunity(panel).sum(axis=1) == 0)
    used = clients if fitted is None else fitted.used(clients)
    no_after = parted.after.sum(axis=(1, 2)) == 0
    found: list[LeftOut] = []
    for row, unit in enumerate(panel.units):
        if silent[row]:
            why = "no sessions"
        elif not clients[row] or (used[row] and parted.baseline[row]):
            continue
        elif not parted.baseline[row]:
            why = "no baseline"
        elif no_after[row]:
            why = "no day after"
        else:
            why = "no supported week"
        found.append(LeftOut(unit, why, int(calls[row])))
    return found


def _answer(panel: Panel, clients: Flags, found: _Found, left_out: list[LeftOut]) -> Effect:
    estimated, checks = found.estimate, guards.complete(found.checks)
    shown = estimated if estimated is not None and _enough(checks) else None
    share = _share(panel, left_out)
    counted = estimated is not None and estimated.used > 0
    return Effect(
        verdict=found.verdict,
        strength=found.strength,
        reason=found.reason,
        rate_ratio=shown.rate_ratio if shown else None,
        interval=shown.interval if shown else None,
        p_value=shown.p_value if shown else None,
        observed=round(estimated.observed) if estimated and counted else None,
        expected=estimated.expected if estimated and counted else None,
        avoided=shown.expected - shown.observed if shown else None,
        clients_notified=int(clients.sum()),
        clients_used=estimated.used if estimated else 0,
        left_out=tuple(left_out),
        left_out_share=share,
        much_left_out=share is not None and share > MUCH,
        support=found.support,
        placebo=found.placebo,
        trend=found.trend,
        exposure="calendar" if panel.sessions is None else "sessions",
        missing=found.missing,
        naive_ratio=naive(panel, clients),
        uncovered=float(1 - panel.covered.mean()) if panel.covered.size else None,
        guards=checks,
    )


def _enough(checks: Sequence[Guard]) -> bool:
    """Whether the estimate rests on enough to be shown: all checks up to the interval passed."""
    (place,) = (place for place, guard in enumerate(checks) if guard.name == "interval")
    return all(guard.outcome == "passed" for guard in checks[: place + 1])


def _share(panel: Panel, left_out: Sequence[LeftOut]) -> float | None:
    """The share of stale calls that units left out hold, those outside the panel included."""
    inside = set(panel.units)
    outside = sum(each.calls for each in left_out if each.unit not in inside)
    there = int(np.where(panel.covered, panel.calls, 0.0).sum()) + outside
    return sum(each.calls for each in left_out) / there if there else None


def naive(panel: Panel, clients: Flags) -> float | None:
    """Calls per covered day from the notification's day on, over calls per covered day before it."""
    told = np.floor(notified(panel)[clients, None] - panel.first_day)
    day = np.arange(panel.days)
    calls, covered = panel.calls[clients], panel.covered[clients]
    before, after = covered & (day < told), covered & (day >= told)
    called = calls[before].sum() / before.sum() if before.any() else 0.0
    return float(calls[after].sum() / after.sum() / called) if called and after.any() else None
