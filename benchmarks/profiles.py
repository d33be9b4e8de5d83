"""
Where the time goes: functions by own time.

py-spy samples from outside; where it is not installed or not permitted, `cProfile` of the standard
library stands in, which slows small functions down and sees the main thread only.
"""

import pstats
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from benchmarks import product, served
from benchmarks.measure import Failed, take
from benchmarks.workshop import Workshop

TOP = 5
RATE = 250
OUTSIDE = "(the interpreter's own start and end)"
Hot = list[tuple[float, str]]
"""Functions with their share of all samples, most first."""

_LINE = re.compile(r":\d+\)$")


def of(shop: Workshop, row: str) -> Hot:
    """
    The functions that a row's work takes most of its time in.

    Raises:
        Failed: It could not be profiled.
    """
    return ROWS[row](shop)


def _reading(log: Path, shop: Workshop) -> Hot:
    database = product.ready(shop.folder, "profiled.db")
    try:
        return _profiled(shop, product.command(log, database))
    finally:
        product.remove(database)


def _serving(shop: Workshop) -> Hot:
    if not _py_spy():
        raise Failed("a service is profiled by py-spy only; `python3 dev.py bench` installs it")
    samples = shop.folder / "samples"
    with served.database(shop, "SQLite") as url:
        served.under_load(shop, url, served.AIMED_AT, tuple(_recorded(samples)))
    return by_function(samples.read_text(encoding="utf-8"))


ROWS: dict[str, Callable[[Workshop], Hot]] = {
    "mixed": lambda shop: _reading(shop.mixed.path, shop),
    "gzip": lambda shop: _reading(shop.gzipped, shop),
    "dense": lambda shop: _reading(shop.dense.path, shop),
    "http": _serving,
}


def _profiled(shop: Workshop, command: list[str]) -> Hot:
    if _py_spy():
        samples = shop.folder / "samples"
        take([*_recorded(samples), *command])
        return by_function(samples.read_text(encoding="utf-8"))
    stats = shop.folder / "stats"
    take([sys.executable, "-m", "cProfile", "-o", str(stats), *command])
    return by_own_time(stats)


def _recorded(samples: Path) -> list[str]:
    """What stands before a command to sample it."""
    return [
        *(
            _py_spy(),
            "record",
            "--format",
            "raw",
            "--rate",
            str(RATE),
            "--output",
            str(samples),
            "--",
        )
    ]


@cache
def _py_spy() -> str:
    """The path of py-spy where it is installed and may look into a process; else empty. Asked once: a
    process that ends before it is looked into makes the answer differ from one time to the next."""
    found = shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")
    if not found:
        return ""
    probe = [found, "record", "--format", "raw", "--output", "/dev/null", "--"]
    tried = subprocess.run(
        [*probe, sys.executable, "-c", "sum(range(2 * 10**7))"], capture_output=True, check=False
    )
    return found if tried.returncode == 0 else ""


def by_function(samples: str) -> Hot:
    """Own time by function, out of py-spy's raw format: `outer (file:1);inner (file:2) COUNT` lines."""
    found: Counter[str] = Counter()
    for line in samples.splitlines():
        stack, _, number = line.rpartition(" ")
        found[_LINE.sub(")", stack.rpartition(";")[2]) or OUTSIDE] += int(number)
    total = found.total()
    return [(number / total, function) for function, number in found.most_common(TOP)]


def by_own_time(stats: Path) -> Hot:
    """The same out of what `cProfile` has written."""
    found: Counter[str] = Counter()
    own: dict[tuple[str, int, str], tuple[int, int, float, float, object]]
    own = pstats.Stats(str(stats)).stats  # type: ignore[attr-defined]
    for (file, _, function), (_, _, seconds, _, _) in own.items():
        name = f"{function} ({Path(file).name})" if file != "~" else function
        found[name] += round(seconds * 1e6)
    total = found.total()
    return [(number / total, function) for function, number in found.most_common(TOP)]
