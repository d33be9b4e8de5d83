"""The simulated histories are what they claim to be, and verdicts about them stay what they were."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from benchmarks.calibration import runs, summary
from benchmarks.calibration.__main__ import main
from benchmarks.calibration.processes import PROCESSES
from benchmarks.calibration.scenarios import CASES
from benchmarks.calibration.traffic import Scenario, world

STORED = json.loads((Path(__file__).parent / "stored.json").read_text(encoding="utf-8"))
"""Scenario → (verdict, ratio) of its first runs."""


@pytest.mark.parametrize("case", STORED)
def test_verdicts_stay_what_they_were(case: str) -> None:
    """Whoever changes an estimator on purpose runs the whole calibration, and stores these again."""
    found = [runs.effect_run(case, run) for run in range(len(STORED[case]))]
    assert [run.verdict for run in found] == [verdict for verdict, _ in STORED[case]]
    ratios = [ratio for _, ratio in STORED[case]]
    assert [run.ratio for run in found] == [
        ratio if ratio is None else pytest.approx(ratio, rel=1e-3) for ratio in ratios
    ]


def test_sessions_and_calls_come_at_the_rates_that_were_asked_for() -> None:
    """
    3,000 clients over 28 days, the weekend at half: 0.8 x 24/28 sessions a client and day, four calls each.
    """
    scenario = Scenario(clients=3_000, days=28, never=1.0, launch=1)
    history = world(scenario, default_rng(1))
    sessions = history.session_time.size / (3_000 * 28)
    assert sessions == pytest.approx(0.8 * 24 / 28, rel=0.05)
    assert history.call_time.size / history.session_time.size == pytest.approx(4.0, rel=0.06)


@pytest.mark.parametrize(
    ("scenario", "truth"),
    [
        (Scenario(effect=0.7), 0.3),
        (Scenario(effect=0.8, ignoring=0.5, clients=3_000), 0.6),
        (Scenario(effect=0.5, ignoring=1.0), 1.0),
    ],
    ids=["all", "half ignore it", "all ignore it"],
)
def test_the_truth_is_the_share_of_calls_that_are_still_made(
    scenario: Scenario, truth: float
) -> None:
    """Of those due after the day of the notification; so also where the calls are counted."""
    history = world(scenario, default_rng(2))
    same = world(replace(scenario, effect=0.0), default_rng(2))
    assert history.truth == pytest.approx(truth, abs=0.04)
    assert same.truth == 1.0
    made, due = (
        (np.floor(each.call_time) > np.floor(each.notified[each.call_client])).sum()
        for each in (history, same)
    )
    assert made / due == pytest.approx(truth, abs=0.05)


def test_without_an_effect_a_notification_changes_nothing_at_all() -> None:
    """The same calls at the same instants, whether clients react or not."""
    one = world(Scenario(effect=0.0), default_rng(3))
    other = world(Scenario(effect=0.0, ignoring=1.0), default_rng(3))
    assert np.array_equal(one.call_time, other.call_time)


def test_a_notification_at_a_hello_or_a_call_is_the_client_s_own() -> None:
    """And of those at an instant of their own next to none are, as a client is there 3 % of the time."""
    shares = {}
    for case in ("S04", "S04b", "S17"):
        scenario = CASES[case].scenario
        history = world(scenario, default_rng(4))
        told = np.isfinite(history.notified)
        shares[case] = history.own[told].mean()
    assert shares["S04"] == 1.0
    assert shares["S04b"] > 0.3
    assert shares["S17"] < 0.2


def test_a_decline_is_of_calls_and_not_of_sessions() -> None:
    """By 3 % a day: the last of four weeks has exp(-0.03 x 21) = 53 % of the calls of the first."""
    history = world(Scenario(clients=2_000, days=28, launch=1, decline=0.03), default_rng(5))
    week = (history.call_time // 7).astype(int)
    calls = np.bincount(week, minlength=4)
    sessions = np.bincount((history.session_time // 7).astype(int), minlength=4)
    assert calls[3] / calls[0] == pytest.approx(math.exp(-0.03 * 21), rel=0.1)
    assert sessions[3] / sessions[0] == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize(
    ("process", "days"),
    [
        ("steady, 0.3 a day", 180 * (1 - math.exp(-0.3))),
        ("weekly job", 180 / 7),
        ("weekly job, 15 % skipped", 0.85 * 180 / 7),
        ("monthly job", 6),
        ("office days", 180 * 5 / 7 * (1 - math.exp(-0.5))),
        ("dropped to a fifth", 90 * (2 - math.exp(-0.5) - math.exp(-0.1))),
    ],
)
def test_a_process_has_as_many_active_days_as_it_should(process: str, days: float) -> None:
    """The mean over 200 histories, against the sum by hand."""
    found = [
        np.unique(np.floor(PROCESSES[process].calls(default_rng([6, run]), 180))).size
        for run in range(200)
    ]
    assert np.mean(found) == pytest.approx(days, rel=0.05)


def test_shares_limits_and_bins_are_counted_as_they_are_meant() -> None:
    """Four runs by hand: two claim a reduction that is none, one interval misses, one has none."""
    case = CASES["S03"]
    wrong = runs.EffectRun("reduced", "robust", 1.0, 0.5, (0.3, 0.8), 0.6, (0.4, 1.1))
    lucky = runs.EffectRun("reduced", None, 1.0, 0.7, (0.5, 1.0), 0.9, (0.5, 1.2))
    right = runs.EffectRun("no detectable change", None, 1.0, 1.0, (0.7, math.inf), None, None)
    none = runs.EffectRun("not enough data", None, 1.0, None, None, None, None)
    row = summary.effect_row(case, [wrong, lucky, right, none])
    assert (row.found.coverage, row.intervals) == (2 / 3, 3)
    assert (row.found.reduced, row.robust, row.found.not_enough) == (0.5, 0.25, 0.25)
    assert (row.found.ratio, row.adjusted_coverage) == (0.7, 1.0)
    assert row.missed == ("reduced 50.0%, at most 9.0%", "coverage 66.7%, at least 90.0%")

    said = [("stopped", 1.0), ("probably stopped", 0.96), ("cannot tell", 0.7), ("x", None)]
    told = [runs.StoppedRun(word, word, p, stopped=p != 0.96) for word, p in said]
    stop = summary.stopped_row(PROCESSES["weekly job"], told)
    assert (stop.false_stopped, stop.false_probably, stop.found_probably) == (0.25, 0.5, 0.5)
    assert len(stop.missed) == 2
    counted = {each.low: (each.runs, each.stopped) for each in summary.bins(told) if each.runs}
    assert counted == {0.7: (1, True), 0.95: (1, False), 0.99: (1, True)}
    assert summary.brier(told) == pytest.approx((0 + 0.96**2 + 0.3**2) / 3)


def test_the_command_writes_its_tables_and_ends_with_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two histories of four rows; what is kept says the same as what is printed."""
    rows = ["S11", "R2", "weekly job", "monthly job"]
    status = main([*rows, "--runs", "2", "--processes", "1", "--write"], tmp_path)
    kept = json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8"))
    assert [row["case"] for row in (*kept["effect"], *kept["planned"])] == ["S11", "R2"]
    assert kept["effect"][0]["found"]["cannot_separate"] == 1.0
    missed = [row["missed"] for key in ("effect", "planned", "stopped") for row in kept[key]]
    assert status == (1 if any(missed) else 0)
    text = (tmp_path / "CALIBRATION.md").read_text(encoding="utf-8")
    assert "| weekly job |" in text
    assert "S11" in capsys.readouterr().out
