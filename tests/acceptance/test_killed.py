"""Signal 9 at any moment loses nothing that was answered and counts nothing twice."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

LINES = 120
BATCH = 30
POINTS = [
    "write:1",
    "write:2",
    "write:4",
    "write:7",
    "write:12",
    "before-commit:1",
    "before-commit:2",
    "after-commit:1",
    "after-commit:2",
    "answer:1",
]


def line(number: int) -> str:
    """A stale call of its own second; every tenth repeats the line before it to the byte."""
    number -= number % 10 == 9
    minute, second = divmod(number, 60)
    return json.dumps(
        {
            "level": "info",
            "time": f"2026-10-05T10:{minute:02d}:{second:02d}.114Z",
            "pid": 7,
            "hostname": "mcp-1",
            "data": {"tool": f"gone-{number % 3}", "client": f"client-{number % 7}"},
            "msg": "Retired tool called",
        }
    )


LOG = [line(number) for number in range(LINES)]


def command(point: str | None, *arguments: str) -> list[str]:
    start = (
        ["-m", "tests.acceptance.killed", point]
        if point
        else ["-c", "from service.cli import main; main()"]
    )
    return [sys.executable, *start, *arguments]


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {
        **os.environ,
        "LASTCALL_DATABASE_URL": database_url,
        "LASTCALL_COMMIT_RECORDS": str(BATCH),
        "LASTCALL_PORT": "0",
    }


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(None, *arguments), env=environment, capture_output=True, text=True, timeout=120
    )


def assert_counts_are_exact(environment: dict[str, str]) -> None:
    """The database holds each line once, and its roll-ups agree."""
    stats = json.loads(run(environment, "db", "stats", "--json").stdout)
    assert stats["events"] == {"stale_call": LINES}
    checked = run(environment, "db", "check")
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("point", POINTS)
def test_ingest_killed_anywhere_is_made_whole_by_running_it_again(
    point: str, environment: dict[str, str], tmp_path: Path
) -> None:
    """A file whose import was killed holds, after a second run, each of its lines once."""
    log = tmp_path / "server.log"
    log.write_text("\n".join(LOG) + "\n")

    killed = subprocess.run(
        command(point, "ingest", str(log), "--json"),
        env=environment,
        capture_output=True,
        timeout=120,
    )
    again = run(environment, "ingest", str(log), "--json")

    assert killed.returncode == -signal.SIGKILL, killed.stderr
    receipt = json.loads(again.stdout)
    assert receipt["accepted"] + receipt["duplicates"] == receipt["received"] == LINES
    assert_counts_are_exact(environment)


@contextmanager
def serving(
    environment: dict[str, str], point: str | None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A `lastcall serve` in a process of its own; stopped, where it still lives, at the end."""
    process = subprocess.Popen(
        command(point, "serve", "--port", "0"), env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", said)
    assert found, said + process.stderr.read()
    try:
        yield found[0], process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def send(url: str, batch: int) -> bool:
    """Post one batch as a shipper would; False where no answer came."""
    body = "\n".join(LOG[batch * BATCH : (batch + 1) * BATCH])
    try:
        answer = httpx.post(f"{url}/ingest", content=body.encode(), timeout=30)
    except httpx.TransportError:
        return False
    assert answer.status_code == 200, answer.text
    return True


@pytest.mark.parametrize("point", POINTS)
def test_a_service_killed_anywhere_has_what_it_answered_and_takes_the_rest_again(
    point: str, environment: dict[str, str]
) -> None:
    """A shipper that sends again what was not answered ends with each line stored once."""
    batches = list(range(LINES // BATCH))
    with serving(environment, point) as (url, process):
        answered = [batch for batch in batches if send(url, batch)]
        assert process.wait(30) == -signal.SIGKILL
    assert answered != batches, "the service was not killed"

    stats = json.loads(run(environment, "db", "stats", "--json").stdout)
    stored = sum(stats["events"].values())
    assert stored >= len(answered) * BATCH
    with serving(environment, None) as (url, _):
        assert all(send(url, batch) for batch in batches if batch not in answered)
    assert_counts_are_exact(environment)
