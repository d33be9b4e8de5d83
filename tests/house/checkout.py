"""Where things are, and how the house's tests run a program."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    variables: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; `variables` stand in for the whole environment."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=dict(variables) if variables is not None else None,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def plain_environment(home: Path, **more: str) -> dict[str, str]:
    """A user's environment without settings of Last Call, with a home of its own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LASTCALL_", "PYTEST_", "XDG_")) and name != "PYTHONPATH"
    }
    return {**kept, "HOME": str(home), "NO_COLOR": "1", "COLUMNS": "200", **more}
