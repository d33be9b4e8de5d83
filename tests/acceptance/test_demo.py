"""`lastcall demo` leaves nothing behind, however it is ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.programs import until
from tests.house.checkout import ROOT


def _as_a_terminal_does() -> None:
    """Who is started in the background ignores SIGINT, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("sign", "is_served"),
    [(signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGINT, True)],
    ids=["SIGTERM-while-it-is-filled", "SIGTERM", "SIGINT"],
)
def test_its_database_is_gone_when_it_is_told_to_end(
    sign: signal.Signals, is_served: bool, tmp_path: Path
) -> None:
    """While the months are read, and while they are served."""
    with subprocess.Popen(
        [sys.executable, "-m", "service", "demo"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_as_a_terminal_does,
    ) as process:
        try:
            until(lambda: any(tmp_path.glob("lastcall-*/lastcall.db")), "the database")
            assert process.stderr is not None
            while is_served and "stop with Ctrl-C" not in (line := process.stderr.readline()):
                assert line, "it ended by itself"
            process.send_signal(sign)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode != 0
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
