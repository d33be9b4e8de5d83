"""Published tests for the end of a series, beside the word that the rule gives."""

from dataclasses import dataclass

from service.analysis.stopped import History, opinions
from service.answers.query import Instant
from service.clock import DAY_US

LAST_DAY = 2_932_896
"""9999-12-31, in days since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinions:
    """
    What published tests say of the active days; they know no days that were not heard, and decide nothing.

    `solow` and `solow_declining` are the chance of so long a silence if it goes on, at a rate that is
    unchanged or falls; `bayes_factor` the evidence for going on against having stopped.
    `strauss_sadler` is the upper bound (95 %) of when the calls ended, `optimal_linear` the estimate and
    its interval by the last ten active days; instants too far away are None.
    """

    solow: float
    solow_declining: float
    bayes_factor: float | None
    strauss_sadler: Instant | None
    optimal_linear: Instant | None
    optimal_linear_interval: tuple[Instant | None, Instant | None] | None


def second_opinions(history: History) -> SecondOpinions | None:
    """What they say; None below four active days."""
    found = opinions(history)
    if found is None:
        return None
    end = found.optimal_linear
    return SecondOpinions(
        solow=found.solow,
        solow_declining=found.solow_declining,
        bayes_factor=found.bayes_factor,
        strauss_sadler=_near(found.strauss_sadler),
        optimal_linear=None if end is None else _near(end.at),
        optimal_linear_interval=None if end is None else (_near(end.low), _near(end.high)),
    )


def instant_of(days: float) -> Instant:
    """The instant so many days, with their fraction, after 1970 began."""
    return Instant(round(days * DAY_US))


def _near(days: float) -> Instant | None:
    """The instant of a day, where a calendar has it."""
    return instant_of(days) if 0 <= days < LAST_DAY else None
