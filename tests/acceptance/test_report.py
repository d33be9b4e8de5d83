"""`lastcall report` where there is nothing to report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

LISTED = json.dumps(
    {"time": "2026-10-05T10:00:00Z", "data": {"client": "c"}, "msg": "Tools listed"}
)
UNKNOWN = json.dumps(
    {"time": "2026-10-05T10:00:00Z", "data": {"tool": "x", "client": "c"}, "msg": "Unknown tool: x"}
)


def report(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a person does."""
    command = [sys.executable, "-c", "from service.cli import main; main()", "report", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "No events"),
        ("nobody knows this line\n", "No line was recognised"),
        (LISTED, "No retired name was called in what was read."),
        (UNKNOWN, "1 call to names that the server did not know"),
    ],
)
def test_a_page_that_has_nothing_to_report_says_why(tmp_path: Path, log: str, words: str) -> None:
    """That nobody calls a retired name is the best that can be mailed."""
    (tmp_path / "server.log").write_text(log, encoding="utf-8")
    page = tmp_path / "report.html"
    done = report(str(tmp_path / "server.log"), "--html", str(page))
    assert done.returncode == 0, done.stderr
    assert words in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("more", [[], ["--html", "report.html"], ["--json"]])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, more: list[str]) -> None:
    """One sentence, and the exit status that says so."""
    more = [str(tmp_path / word) if word.endswith(".html") else word for word in more]
    done = report(str(tmp_path / "nosuch.log"), *more)
    assert done.returncode == 1
    assert "nosuch.log: no such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_there_makes_no_database(tmp_path: Path) -> None:
    """A mistyped path leaves nothing behind."""
    database = tmp_path / "events.db"
    command = [sys.executable, "-c", "from service.cli import main; main()", "ingest", "nosuch.log"]
    done = subprocess.run(
        [*command, "--db", f"sqlite:///{database}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert not database.exists()
