"""What a terminal shows, and a pipe does not."""

import os
import pty
import re
import subprocess
import sys

from tests.house.checkout import ROOT

RUN = """
from service import terminal
from service.events import Receipt

class Source:
    consumed = 0

source = Source()
with terminal.progress(2_000_000) as bar:
    show = bar.follow(source) if bar else None
    until = terminal.monotonic() + 2 * terminal.PATIENCE_S
    while show and terminal.monotonic() < until:
        source.consumed = 1_000_000
        show(Receipt(accepted=7, duplicates=1))
terminal.complain("no \\x1b[2J \\u202e file")
"""


def on_a_terminal(program: str, **variables: str) -> str:
    """What *program* writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", **variables}
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65_536):
            said += part
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, said.decode()
    return said.decode()


def test_a_long_run_shows_on_a_terminal_how_far_it_is() -> None:
    """Bytes and events; the bar goes, and control characters of a stranger are shown as text."""
    said = on_a_terminal(RUN)

    assert "1.0/2.0 MB" in said
    assert "8 events stored" in said
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    assert plain.splitlines()[-1].endswith(r"lastcall: no \x1b[2J \x202e file")


def test_a_pipe_gets_text_alone() -> None:
    """No bar and no colour."""
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("", "lastcall: no \\x1b[2J \\x202e file\n")
