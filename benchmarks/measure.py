"""One command in a process of its own: wall clock, processor time and memory."""

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Taken:
    """What a command took, its descendants included: seconds, and the greatest resident set in MB."""

    wall: float
    cpu: float
    rss: float
    output: str


def take(command: Sequence[str], cpus: set[int] | None = None) -> Taken:
    """
    Run a command, on certain processors only if *cpus* are given.

    Raises:
        RuntimeError: It failed; the text ends with what it complained of.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {err.read()[-2_000:]}")
        return Taken(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read())
