"""
Measure Last Call against others, interleaved in one run, on data made from a seed.

    python3 -m benchmarks                        every row, 1 GB, within ten minutes
    python3 -m benchmarks mixed --size 100       one row, 100 MB
    python3 -m benchmarks --seed 7 --share 0.3   other data, 30 % of the lines are events
    python3 -m benchmarks profile mixed          where the time goes: mixed, gzip, dense or http
    python3 -m benchmarks --write                write benchmarks/RESULTS.md too
    python3 -m benchmarks pages --write          and only this row of it

Prints a table for each row and writes `benchmarks/results.json`. `python3 dev.py bench …` does the same
and installs first what it takes. The run stops where anybody counts otherwise than the log holds.
"""

import argparse
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import answers, dense, limits, logs, machine, pages, profiles, report, served
from benchmarks.measure import Failed
from benchmarks.product import Wrong
from benchmarks.workshop import Options, Workshop

HERE = Path(__file__).parent
Measured = Callable[[Workshop], list[report.Row]]
ROWS: dict[str, Measured] = {
    "mixed": lambda shop: [logs.mixed(shop)],
    "mixed-30": lambda shop: [logs.denser(shop, 0.30)],
    "mixed-70": lambda shop: [logs.denser(shop, 0.70)],
    "gzip": lambda shop: [logs.gzipped(shop)],
    "memory": lambda shop: [logs.memory(shop)],
    "dense": dense.dense,
    "http": lambda shop: [served.http(shop)],
    "limits": lambda shop: [limits.limits(shop)],
    "queries": lambda shop: [answers.asked(shop)],
    "pages": lambda shop: [pages.pages(shop)],
}
BESIDE = {"dense-again": "dense"}
"""Rows that are measured together with another."""


def main(arguments: Sequence[str] | None = None, folder: Path = HERE) -> int:
    """Do what the command line asks for; files go to *folder*. Returns the exit status."""
    asked = _parsed(arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lastcall-benchmark-") as own:
        shop = Workshop(Path(own), _options(asked), _say)
        try:
            if asked.rows[0] == "profile":
                for name in asked.rows[1:]:
                    hot = profiles.of(shop, name)
                    print("\n".join([name, *(f"  {share:5.1%}  {one}" for share, one in hot)]))
                return 0
            rows = measured(shop, asked.rows)
            if asked.write:
                profile(shop, rows)
        except (Failed, Wrong) as reason:
            print(f"stopped: {reason}", file=sys.stderr)
            return 1
    run = described(shop.options, time.monotonic() - start)
    kept = json.dumps(report.as_json(run, rows), indent=1)
    (folder / "results.json").write_text(kept + "\n", encoding="utf-8")
    if asked.write:
        results = folder / "RESULTS.md"
        whole = {row.name for row in rows} == {*ROWS, *BESIDE}
        old = "" if whole or not results.exists() else results.read_text(encoding="utf-8")
        text = report.replaced(old, run, rows) if old else report.markdown(run, rows)
        results.write_text(text, encoding="utf-8")
    short = [row.name for row in rows if row.short]
    print(f"\n{run['took']}; short: {', '.join(short) if short else 'nothing'}")
    return 0


def measured(shop: Workshop, names: Sequence[str]) -> list[report.Row]:
    """The rows by name, each printed as soon as it is there."""
    rows: list[report.Row] = []
    for name in dict.fromkeys(BESIDE.get(name, name) for name in names):
        _say(f"row {name}")
        start = time.monotonic()
        found = [row for row in ROWS[name](shop) if row.name in names]
        rows += found
        _say(f"row {name} took {time.monotonic() - start:.0f} s")
        for row in found:
            print(report.text(row), flush=True)
    return rows


def profile(shop: Workshop, rows: Sequence[report.Row]) -> None:
    """Add to every row that is short of its aim where the time goes."""
    for row in rows:
        if row.short and row.name in profiles.ROWS:
            _say(f"profile of {row.name}")
            try:
                row.hot = profiles.of(shop, row.name)
            except Failed as reason:
                row.remarks.append(f"Not profiled: {reason}")


def described(options: Options, seconds: float) -> dict[str, str]:
    """What is said of a run: the machine, the date, the data."""
    return {
        **machine.described(),
        "date": datetime.now(UTC).date().isoformat(),
        "seed": str(options.seed),
        "rounds": str(options.rounds),
        "took": f"{seconds / 60:.1f} minutes",
    }


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    every = [*ROWS, *BESIDE]
    parser.add_argument("rows", nargs="*", default=every, metavar="ROW", help=", ".join(every))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--share", type=float, help="of the mixed log's lines that are events")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--size", type=int, help="MB of the mixed log")
    parser.add_argument("--small", type=int, help="MB of the logs of mixed-30 and mixed-70")
    parser.add_argument("--events", type=int, help="lines of the dense log")
    parser.add_argument("--seconds", type=float, help="that each load of http lasts")
    parser.add_argument("--stored", type=int, help="events of the largest database of queries")
    parser.add_argument("--repetitions", type=int, help="of each request of queries")
    parser.add_argument(
        "--long",
        action="store_true",
        help="queries of both mixes on both databases: takes longer than ten minutes",
    )
    parser.add_argument("--postgresql", metavar="URL", help="a server on which to make databases")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md, with profiles")
    asked = parser.parse_args(arguments)
    known, named = (
        (profiles.ROWS, asked.rows[1:]) if asked.rows[0] == "profile" else (every, asked.rows)
    )
    if unknown := sorted(set(named) - set(known)):
        parser.error(f"unknown rows: {', '.join(unknown)}; there are {', '.join(known)}")
    if not named:
        parser.error(f"name what to profile: {', '.join(known)}")
    return asked


def _options(asked: argparse.Namespace) -> Options:
    names = [field.name for field in dataclasses.fields(Options)]
    return Options(
        **{name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    )


def _say(text: str) -> None:
    print("· " + text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
