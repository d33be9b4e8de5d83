"""`lastcall serve` in a process of its own, as somebody starts it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.programs import environment
from tests.house.checkout import ROOT
from tests.unspoken import secrets_in

COMMAND = [sys.executable, "-m", "service"]


def run(database: Path, *words: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=ROOT,
        env=environment(str(database), **settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def secret_of(database: Path, name: str, scope: str) -> str:
    """Make a token by the command; its secret."""
    done = run(database, "tokens", "add", name, "--scope", scope)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def served(database: Path, *words: str, **settings: object) -> Iterator[tuple[int, list[str]]]:
    """A running service: its port, and what it said at its start."""
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", *words],
        cwd=ROOT,
        env=environment(str(database), **settings),
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line.rstrip("\n"))
                if "stop with Ctrl-C" in line:
                    break
            port = re.search(r"http://\S*?:(\d+)", "\n".join(said))
            assert port is not None, said
            yield int(port[1]), said
        finally:
            process.terminate()
        assert not secrets_in("\n".join([*said, process.stderr.read()]))
