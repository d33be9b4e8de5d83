"""
Client by client: calls after notification against calls before, by an exact conditional interval.

Of a client's a + b calls, a came after. Without a change, each of them was after with chance
e/(1 + e), where e is the opportunity after over that before, both weighted with what the model says of
their weeks and weekdays. The interval of that chance is Clopper and Pearson's. Calls come in bursts,
so they are counted as a/phi and b/phi, phi the dispersion of all clients' weekly calls.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv

from service.analysis.effect.cells import Cells, cells, notified
from service.analysis.effect.discoveries import kept
from service.analysis.effect.jackknife import Model, model
from service.analysis.effect.panel import Panel
from service.analysis.effect.results import ClientEffect, Interval, Verdict

LEAST_CALLS = 20
LEAST_CELLS = 50
LEAST_MEAN = 0.2
UNSURE_DISPERSION = 2.0


@dataclass(frozen=True, slots=True)
class _Counts:
    """One client: calls after and before, and the exposure after over that before."""

    row: int
    after: float
    before: float
    exposure: float
    compared: bool


def by_client(panel: Panel) -> tuple[ClientEffect, ...]:
    """
    Each notified client that called before or after, in the order of units.

    A client is judged where it has 20 calls and others to compare with, and where 50 weekly cells or
    more say how uneven calls are. Those without a supported week are described by before and after only.
    """
    parted = cells(panel)
    fitted = model(parted)
    phi, known = dispersion(fitted)
    rows = np.flatnonzero(np.isfinite(notified(panel)) & parted.with_calls)
    counts = [each for row in rows if (each := _counts(parted, fitted, int(row))) is not None]
    judged = np.array(
        [known and each.compared and each.after + each.before >= LEAST_CALLS for each in counts],
        dtype=bool,
    )
    p_values = np.array([p_value(c.after / phi, c.before / phi, c.exposure) for c in counts])
    significant = np.zeros(len(counts), dtype=bool)
    # one question a client of the table: of those that are not judged nothing is claimed, nor gained
    significant[judged] = kept(np.where(judged, p_values, 1.0))[judged]
    return tuple(
        _result(panel, each, phi, float(p), bool(sure) if judge else None)
        for each, p, judge, sure in zip(counts, p_values, judged, significant, strict=True)
    )


def dispersion(fitted: Model) -> tuple[float, bool]:
    """
    Pearson's, of weekly calls by client before notification where more than 0.2 are expected; at least
    1. With fewer than 50 such cells it is not known, and taken to be 2 or more.
    """
    expected = fitted.fit.expected(fitted.cells.before)
    seen = expected > LEAST_MEAN
    observed = fitted.cells.calls_before.sum(axis=2)
    squares = ((observed - expected)[seen] ** 2 / expected[seen]).sum()
    parameters = seen.any(axis=0).sum() + seen.any(axis=1).sum() - 1
    free = int(seen.sum() - parameters)
    known = int(seen.sum()) >= LEAST_CELLS
    floor = 1.0 if known else UNSURE_DISPERSION
    return (max(float(squares / free), floor) if free > 0 else floor), known


def _counts(parted: Cells, fitted: Model, row: int) -> _Counts | None:
    """None where there was no opportunity on one of the sides."""
    one = np.zeros(parted.before.shape[0], dtype=bool)
    one[row] = True
    if fitted.used(one)[row]:
        calls = parted.calls_after[row].sum(axis=1) @ fitted.supported[0]
        weights = fitted.fit.weeks[0][:, None] * fitted.fit.weekdays[0]
        after = (parted.after[row] * weights).sum(axis=1) @ fitted.supported[0]
        before = (parted.before[row] * weights).sum()
        compared = True
    else:
        calls, compared = parted.calls_after[row].sum(), False
        after, before = parted.after[row].sum(), parted.before[row].sum()
    if after <= 0 or before <= 0:
        return None
    called = parted.calls_before[row].sum()
    return _Counts(row, float(calls), float(called), float(after / before), compared)


def exact(after: float, before: float, exposure: float) -> Interval:
    """
    The conditional (C-test) 95 % interval of the rate ratio; `exposure` is that after over before.

    >>> low, high = exact(0, 10, 0.8)
    >>> low, None if high is None else round(high, 3)
    (0.0, 0.558)
    >>> exact(3, 0, 1.0)[1] is None
    True
    """
    low = betaincinv(after, before + 1, 0.025) if after > 0 else 0.0
    high = betaincinv(after + 1, before, 0.975) if before > 0 else 1.0
    ends = [float(q / (1 - q) / exposure) if q < 1 else None for q in (low, high)]
    return (ends[0] or 0.0, ends[1])


def p_value(after: float, before: float, exposure: float) -> float:
    """Of no change: twice the smaller tail, by the same distribution as the interval."""
    chance = exposure / (1 + exposure)
    fewer = 1 - betainc(after + 1, before, chance) if before > 0 else 1.0
    more = betainc(after, before + 1, chance) if after > 0 else 1.0
    return float(min(1.0, 2 * min(fewer, more)))


def _result(
    panel: Panel, counts: _Counts, phi: float, p: float, significant: bool | None
) -> ClientEffect:
    expected = counts.before * counts.exposure
    bounds = exact(counts.after / phi, counts.before / phi, counts.exposure)
    return ClientEffect(
        unit=panel.units[counts.row],
        basis="others" if counts.compared else "before",
        before=round(counts.before),
        observed=round(counts.after),
        expected=expected,
        rate_ratio=counts.after / expected if expected > 0 else None,
        interval=bounds if counts.after + counts.before > 0 else None,
        p_value=p,
        significant=significant,
        verdict=None if significant is None else _word(counts, expected, bounds, significant),
        dispersion=phi,
    )


def _word(counts: _Counts, expected: float, bounds: Interval, significant: bool) -> Verdict:
    if significant:
        return "reduced" if counts.after < expected else "increased"
    low, high = bounds
    return (
        "no detectable change"
        if low >= 0.5 and high is not None and high <= 2
        else "not enough data"
    )
