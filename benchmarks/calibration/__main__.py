"""
Put the product's verdicts to histories whose truth is known, and count how often they are right.

    python3 -m benchmarks.calibration                 every scenario and process, 200 histories each
    python3 -m benchmarks.calibration S03 S14         these scenarios only
    python3 -m benchmarks.calibration stopped         "has everyone stopped?" only; also: effect, planned
    python3 -m benchmarks.calibration --runs 20       fewer histories
    python3 -m benchmarks.calibration --write         write benchmarks/CALIBRATION.md too

Writes `benchmarks/calibration.json`. `python3 dev.py bench calibration …` does the same. Seeds are fixed. The exit status is 1 where a limit
is not kept: limits are shares, and chance alone breaks them with few histories.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.calibration import report, runs, summary
from benchmarks.calibration.processes import PROCESSES
from benchmarks.calibration.scenarios import CASES, PLANNED

FOLDER = Path(__file__).parent.parent
GROUPS = {"effect": tuple(CASES), "planned": tuple(PLANNED), "stopped": tuple(PROCESSES)}


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Do what the command line asks for; files go to *folder*. Returns the exit status."""
    asked = _parsed(arguments)
    names = [name for row in asked.rows for name in GROUPS.get(row, (row,))]
    start = time.monotonic()
    with runs.pool(asked.processes) as pool:
        effects = [_effect(name, asked.runs, pool) for name in names if name in CASES]
        planned = [_planned(name, asked.runs, pool) for name in names if name in PLANNED]
        stops, histories = [], []
        for name in names:
            if name in PROCESSES:
                row, found = _stopped(name, asked.runs, pool)
                stops.append(row)
                # what has no reference has no part in the score that is compared with one
                histories += found if row.reference else []
    bins, score = summary.bins(histories) if histories else (), summary.brier(histories)
    minutes = (time.monotonic() - start) / 60
    run = {
        "date": datetime.now(UTC).date().isoformat(),
        "runs": str(asked.runs),
        "seed": str(runs.SEED),
        "took": f"{minutes:.0f} minutes in {asked.processes} processes",
    }
    found_all = (effects, planned, stops, bins, score)
    if score is not None:
        print(f"Brier score {score:.3f}; " + ", ".join(map(_bin, bins)))
    kept = json.dumps(report.as_json(run, *found_all), indent=1, ensure_ascii=False)
    (folder / "calibration.json").write_text(kept + "\n", encoding="utf-8")
    if asked.write:
        (folder / "CALIBRATION.md").write_text(report.markdown(run, *found_all), encoding="utf-8")
    missed = [row.case for row in (*effects, *planned) if row.missed]
    missed += [row.process for row in stops if row.missed]
    print(f"\n{run['took']}; limits not kept: {', '.join(missed) if missed else 'none'}")
    return 1 if missed else 0


def _effect(name: str, number: int, pool: ProcessPoolExecutor) -> summary.EffectRow:
    row = summary.effect_row(CASES[name], runs.many(runs.effect_run, name, number, pool))
    print(report.effect_text(row), flush=True)
    return row


def _planned(name: str, number: int, pool: ProcessPoolExecutor) -> summary.EffectRow:
    row = summary.effect_row(PLANNED[name], runs.many(runs.planned_run, name, number, pool))
    print(report.effect_text(row), flush=True)
    return row


def _stopped(
    name: str, number: int, pool: ProcessPoolExecutor
) -> tuple[summary.StoppedRow, list[runs.StoppedRun]]:
    found = runs.many(runs.stopped_run, name, number, pool)
    row = summary.stopped_row(PROCESSES[name], found)
    print(report.stopped_text(row), flush=True)
    return row, found


def _bin(each: summary.Bin) -> str:
    share = "–" if each.stopped is None else f"{each.stopped:.2f}"
    return f"[{each.low:g}, {each.high:g}) {share} of {each.runs}"


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks.calibration",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = [*GROUPS, *(name for group in GROUPS.values() for name in group)]
    parser.add_argument("rows", nargs="*", default=list(GROUPS), metavar="ROW")
    parser.add_argument("--runs", type=int, default=200, help="histories of each row")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write CALIBRATION.md")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.rows) - set(known)):
        parser.error(f"unknown rows: {', '.join(unknown)}; there are {', '.join(known)}")
    if asked.runs < 1 or asked.processes < 1:
        parser.error("--runs and --processes are 1 or more")
    return asked


if __name__ == "__main__":
    sys.exit(main())
