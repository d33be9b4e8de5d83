"""
One command in a process of its own: wall clock, processor time and memory.

The kernel counts the memory of whoever starts a process as its first: so a small Python, this file run
as a script, stands between the benchmark and what is measured.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Taken:
    """
    What a command took, its descendants included: seconds, and MB of the largest process.

    `output` is what it wrote to standard output.
    """

    wall: float
    cpu: float
    rss: float
    output: str


class Failed(Exception):
    """A measured command failed; the text ends with what it complained of."""


def environment() -> dict[str, str]:
    """
    The variables for what is measured: without settings of the user's own, and without what would make
    Python compile every module again at each start.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("LASTCALL_")
    }


class Running:
    """A command that runs; it is over, and counted, at the end of `running`."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        self.output, self.errors = folder / "stdout", folder / "stderr"
        self._report = folder / "report"
        self._command = command
        self._expected = {0}
        with self.output.open("wb") as out, self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(self._report), *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                cwd=ROOT,
                env=environment(),
                start_new_session=True,
            )

    def ended(self) -> bool:
        """Whether it is over already."""
        return self._process.poll() is not None

    def interrupt(self) -> None:
        """Ask it to end, as Ctrl-C does; it may then say that this is why it ended."""
        self._expected = {0, 128 + signal.SIGINT}
        os.killpg(self._process.pid, signal.SIGINT)

    def kill(self) -> None:
        """End it and all that it started."""
        if not self.ended():
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def taken(self) -> Taken:
        """
        Wait for its end.

        Raises:
            Failed: It ended with a status that says so.
        """
        status = self._process.wait()
        if status not in self._expected:
            said = self.errors.read_text(errors="replace")[-2_000:]
            raise Failed(f"{' '.join(self._command)[:500]}: status {status}: {said}")
        found = json.loads(self._report.read_text())
        return Taken(**found, output=self.output.read_text(errors="replace"))


@contextmanager
def running(command: Sequence[str]) -> Iterator[Running]:
    """Run a command for as long as the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        one = Running(command, Path(folder))
        try:
            yield one
        finally:
            one.kill()


def take(command: Sequence[str]) -> Taken:
    """
    Run a command to its end.

    Raises:
        Failed: It ended with another status than 0.
    """
    with running(command) as one:
        return one.taken()


def warm(path: Path) -> None:
    """Read a file once, so that everybody finds it in the page cache."""
    with path.open("rb") as file:
        while file.read(1 << 22):
            pass


def _main(report: str, command: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, setsigdef=[signal.SIGINT])
    _, status, used = os.wait4(process, 0)
    found = {
        "wall": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "rss": used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10),
    }
    Path(report).write_text(json.dumps(found))
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2:]))
