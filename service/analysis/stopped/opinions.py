"""Second opinions on one client's silence: the published tests as they stand, beside the rule, never for it."""

from dataclasses import dataclass
from fractions import Fraction

from service.analysis.stopped import extinction
from service.analysis.stopped.extinction import End
from service.analysis.stopped.models import LEAST_DAYS, RECENT
from service.analysis.stopped.rule import History


@dataclass(frozen=True, slots=True)
class Opinions:
    """
    What each test says of the active days; they know no unheard days, and `now` is where hearing ended.

    `solow` and `solow_declining` are the chance of the silence if it goes on, `bayes_factor` the evidence
    for going on against having stopped (None without a silence), all counted from the first active day.
    `strauss_sadler` (one-sided, 95 %) and `optimal_linear` (last ten days) say when it ended, as days.
    """

    solow: float
    solow_declining: float
    bayes_factor: float | None
    strauss_sadler: float
    optimal_linear: End | None


def opinions(history: History) -> Opinions | None:
    """The tests on the active days; None below four of them."""
    if len(history.days) < LEAST_DAYS:
        return None
    first, *later = history.days
    times = [day - first for day in later]
    noon = first + 0.5
    now = max(history.heard_until - noon, float(times[-1]))
    return Opinions(
        solow=extinction.constant_rate(times, now),
        solow_declining=extinction.declining_rate(times, Fraction(now)),
        bayes_factor=extinction.bayes_factor(times, now) if now > times[-1] else None,
        strauss_sadler=noon + extinction.endpoint_bound(times),
        optimal_linear=extinction.optimal_linear([day + 0.5 for day in history.days[-RECENT:]]),
    )
