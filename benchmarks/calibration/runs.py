"""One run of one case through the product's own estimator, and many of them in several processes."""

import math
import multiprocessing
import os
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TypeVar

import numpy as np

from benchmarks.calibration.processes import PROCESSES, Floats
from benchmarks.calibration.scenarios import CASES, PLANNED
from benchmarks.calibration.traffic import WAVES, World, world
from service.analysis import rollout
from service.analysis.effect import Panel, effect
from service.analysis.stopped import History, Judged, judge
from service.analysis.waves import Wave

SEED = 20_260_706
MONDAY = date(2026, 7, 6).toordinal() - date(1970, 1, 1).toordinal()
"""Day 0 of every history, in days since 1970-01-01."""
DAYS = 180
"""Length of the histories for "has everyone stopped?"."""
QUIET_DAYS = 60
"""How long ago the calls stopped in those of which it should be found."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EffectRun:
    """What was said of one history, and its truth. An open end of an interval is infinite."""

    verdict: str
    strength: str | None
    truth: float | None
    ratio: float | None
    interval: tuple[float, float] | None
    adjusted: float | None
    adjusted_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class StoppedRun:
    """
    What was said of one history: while alive, after `QUIET_DAYS` of silence, and for the calibration.

    `stated` is the probability said of the history that stopped or did not by the toss of a coin
    (`stopped`), at an instant of its own; None where there were too few calls to say one.
    """

    alive: str
    quiet: str
    stated: float | None
    stopped: bool


def generator(case: str, run: int) -> np.random.Generator:
    """The generator of one run: fixed beforehand, its own for each case."""
    return np.random.default_rng([SEED, zlib.crc32(case.encode()), run])


def panel(history: World) -> Panel:
    """The cells that a log of *history* would give."""
    return Panel(
        units=tuple(f"client-{client}" for client in range(history.notified.size)),
        first_day=MONDAY,
        calls=history.calls,
        sessions=history.sessions,
        covered=np.ones(history.calls.shape, dtype=np.bool_),
        notified=MONDAY + history.notified,
        own=history.own,
    )


def effect_run(case: str, run: int) -> EffectRun:
    """Run number *run* of the scenario of that name."""
    history = world(CASES[case].scenario, generator(case, run))
    said = effect(panel(history))
    return EffectRun(
        verdict=said.verdict,
        strength=said.strength,
        truth=None if math.isnan(history.truth) else history.truth,
        ratio=said.rate_ratio,
        interval=_ends(said.interval),
        adjusted=said.trend.rate_ratio,
        adjusted_interval=_ends(said.trend.interval),
    )


def planned_run(case: str, run: int) -> EffectRun:
    """Run number *run* of a planned roll-out, read by randomisation inference."""
    history = world(PLANNED[case].scenario, generator(case, run))
    first, second = (MONDAY + at for at in WAVES)
    waves: list[Wave] = [1 if at == first else 2 for at in MONDAY + history.notified]
    cells = panel(history)
    said = rollout.read(cells, waves, (first, second), until=MONDAY + float(history.days), seed=run)
    return EffectRun(
        verdict=said.verdict,
        strength="because" if said.because else None,
        truth=None if math.isnan(history.truth) else history.truth,
        ratio=said.rate_ratio,
        interval=_ends(said.interval),
        adjusted=None,
        adjusted_interval=None,
    )


def stopped_run(process: str, run: int) -> StoppedRun:
    """Run number *run* of the process of that name."""
    rng = generator(process, run)
    calls = PROCESSES[process].calls(rng, DAYS)
    stops = bool(rng.random() < 0.5)
    last = rng.uniform(0, DAYS) if stops else DAYS
    return StoppedRun(
        alive=judged(calls).word,
        quiet=judged(calls[calls < DAYS - QUIET_DAYS]).word,
        stated=judged(calls[calls < last]).probability,
        stopped=stops,
    )


def judged(calls: Floats) -> Judged:
    """What is said at the end of `DAYS` of a client with these calls, every day of which was heard."""
    days = np.unique(np.floor(calls)).astype(np.int64)
    return judge(History(days=days.tolist(), start=0, now=float(DAYS)))


def _ends(interval: tuple[float, float | None] | None) -> tuple[float, float] | None:
    if interval is None:
        return None
    low, high = interval
    return low, math.inf if high is None else high


def many(
    one: Callable[[str, int], _T], case: str, runs: int, pool: ProcessPoolExecutor | None
) -> list[_T]:
    """Runs 0, 1, … of a case, in *pool*'s processes or here."""
    if pool is None:
        return [one(case, run) for run in range(runs)]
    return list(pool.map(partial(one, case), range(runs), chunksize=2))


def pool(processes: int) -> ProcessPoolExecutor:
    """Fresh processes that count with one thread each."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
