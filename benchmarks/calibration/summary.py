"""What many runs come to: shares, the median ratio, and which limits are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from benchmarks.calibration.processes import Process
from benchmarks.calibration.runs import EffectRun, StoppedRun
from benchmarks.calibration.scenarios import Case, Reference

FALSE_STOPPED = 9 / 200
FALSE_PROBABLY = 18 / 200
STATED = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
"""Bounds of the bins of stated probabilities; the last bin holds 1."""
SEPARATES = ("cannot separate from the trend", "cannot separate from the client's own activity")
STOPPED, PROBABLY = "stopped", "probably stopped"


@dataclass(frozen=True, slots=True)
class EffectRow:
    """
    One scenario. Shares are of all runs, but for coverage: of the `intervals` that were stated.
    `adjusted_…` is of the estimate with a trend by how early a client was notified.
    """

    case: str
    says: str
    runs: int
    truth: float | None
    found: Reference
    intervals: int
    robust: float
    adjusted_ratio: float | None
    adjusted_coverage: float | None
    adjusted_intervals: int
    adjusted_reduced: float
    reference: Reference | None
    missed: tuple[str, ...]
    """Limits that are not kept, in words."""


@dataclass(frozen=True, slots=True)
class StoppedRow:
    """One process: shares of runs. *probably* holds *stopped* too."""

    process: str
    runs: int
    false_stopped: float
    false_probably: float
    found_stopped: float
    found_probably: float
    too_few: float
    reference: tuple[float, float, float, float] | None
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bin:
    """Histories of which a probability in [low, high) was stated, and the share that had stopped."""

    low: float
    high: float
    runs: int
    stopped: float | None


def effect_row(case: Case, runs: Sequence[EffectRun]) -> EffectRow:
    """What the runs of a scenario come to."""
    ratios = [run.ratio for run in runs if run.ratio is not None]
    adjusted = [run.adjusted for run in runs if run.adjusted is not None]
    truths = [run.truth for run in runs if run.truth is not None]
    held = [_holds(run.interval, run.truth) for run in runs if run.interval is not None]
    also = [_holds(run.adjusted_interval, run.truth) for run in runs if run.adjusted_interval]
    found = Reference(
        coverage=_mean(held),
        reduced=_share(runs, "reduced"),
        no_change=_share(runs, "no detectable change"),
        increased=_share(runs, "increased"),
        not_enough=_share(runs, "not enough data"),
        cannot_separate=_share(runs, *SEPARATES),
        ratio=median(ratios) if ratios else None,
    )
    strong = sum(
        run.verdict == "reduced" and run.strength in ("robust", "because") for run in runs
    ) / len(runs)
    below = [run.adjusted_interval is not None and run.adjusted_interval[1] < 1 for run in runs]
    return EffectRow(
        case=case.name,
        says=case.says,
        runs=len(runs),
        truth=sum(truths) / len(truths) if truths else None,
        found=found,
        intervals=len(held),
        robust=strong,
        adjusted_ratio=median(adjusted) if adjusted else None,
        adjusted_coverage=_mean(also),
        adjusted_intervals=len(also),
        adjusted_reduced=sum(below) / len(runs),
        reference=case.reference,
        missed=_missed(case, found, strong),
    )


def _missed(case: Case, found: Reference, strong: float) -> tuple[str, ...]:
    checks = (
        ("reduced", found.reduced, case.reduced_most, "at most"),
        ("increased", found.increased, case.increased_most, "at most"),
        ("robust", strong, case.robust_most, "at most"),
        ("coverage", found.coverage, case.coverage_least, "at least"),
    )
    return tuple(
        f"{name} {value:.1%}, {word} {limit:.1%}"
        for name, value, limit, word in checks
        if limit is not None
        and value is not None
        and (value > limit if word == "at most" else value < limit)
    )


def stopped_row(process: Process, runs: Sequence[StoppedRun]) -> StoppedRow:
    """What the runs of a process come to."""
    alive = [run.alive for run in runs]
    quiet = [run.quiet for run in runs]
    wrong = {word: sum(each == word for each in alive) / len(runs) for word in (STOPPED, PROBABLY)}
    right = {word: sum(each == word for each in quiet) / len(runs) for word in (STOPPED, PROBABLY)}
    false_stopped, false_probably = wrong[STOPPED], wrong[STOPPED] + wrong[PROBABLY]
    reference = process.reference
    limits = (
        ("stopped while alive", false_stopped, FALSE_STOPPED),
        ("probably stopped while alive", false_probably, FALSE_PROBABLY),
    )
    return StoppedRow(
        process=process.name,
        runs=len(runs),
        false_stopped=false_stopped,
        false_probably=false_probably,
        found_stopped=right[STOPPED],
        found_probably=right[STOPPED] + right[PROBABLY],
        too_few=sum(each == "too few calls to judge" for each in quiet) / len(runs),
        reference=None
        if reference is None
        else (
            reference.false_stopped,
            reference.false_probably,
            reference.found_stopped,
            reference.found_probably,
        ),
        missed=()
        if reference is None
        else tuple(
            f"{name} {value:.1%}, at most {limit:.1%}"
            for name, value, limit in limits
            if value > limit
        ),
    )


def bins(runs: Sequence[StoppedRun]) -> tuple[Bin, ...]:
    """How often histories had stopped, by what was stated of them."""
    stated = [(run.stated, run.stopped) for run in runs if run.stated is not None]
    found = []
    for low, high in pairwise(STATED):
        last = high == STATED[-1]
        inside = [was for said, was in stated if low <= said and (said < high or last)]
        found.append(Bin(low, high, len(inside), _mean(inside)))
    return tuple(found)


def brier(runs: Sequence[StoppedRun]) -> float | None:
    """The mean squared difference of what was stated and what was so; 0 is best."""
    squares = [(run.stated - run.stopped) ** 2 for run in runs if run.stated is not None]
    return sum(squares) / len(squares) if squares else None


def _holds(interval: tuple[float, float] | None, truth: float | None) -> bool:
    return interval is not None and truth is not None and interval[0] <= truth <= interval[1]


def _share(runs: Sequence[EffectRun], *verdicts: str) -> float:
    return sum(run.verdict in verdicts for run in runs) / len(runs)


def _mean(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None
