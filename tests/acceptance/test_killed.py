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

from service import intake
from service.settings import Settings
from service.store import check, stats
from service.store import engine as db
from tests.acceptance.service import running

LINES = 12_000
BATCH = 3_000
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
    hour, second = divmod(number, 3600)
    minute, second = divmod(second, 60)
    return json.dumps(
        {
            "level": "info",
            "time": f"2026-10-05T{hour + 10:02d}:{minute:02d}:{second:02d}.114Z",
            "pid": 7,
            "hostname": "mcp-1",
            "data": {"tool": f"gone-{number % 3}", "client": f"client-{number % 7}"},
            "msg": "Retired tool called",
        }
    )


LOG = [line(number) for number in range(LINES)]


def command(point: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "tests.acceptance.killed", point, *arguments]


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {
        **os.environ,
        "LASTCALL_DATABASE_URL": database_url,
        "LASTCALL_COMMIT_RECORDS": str(BATCH),
    }


@contextmanager
def reading(database_url: str) -> Iterator[db.Connection]:
    opened = db.make_engine(database_url)
    with db.reading(opened) as connection:
        yield connection
    opened.dispose()


def stored(database_url: str) -> int:
    """How many events the database holds, all of them stale calls."""
    with reading(database_url) as connection:
        events = stats.stats(connection)["events"]
    assert set(events) <= {"stale_call"}
    return sum(events.values())


def assert_counts_are_exact(database_url: str) -> None:
    """The database holds each line once, and its roll-ups agree."""
    assert stored(database_url) == LINES
    with reading(database_url) as connection:
        assert check.differences(connection) == []


@pytest.mark.sampled(4)
@pytest.mark.parametrize("point", POINTS)
def test_ingest_killed_anywhere_is_made_whole_by_running_it_again(
    point: str, environment: dict[str, str], database_url: str, tmp_path: Path
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
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    settings = Settings(database_url=database_url)
    receipt = intake.read([str(log)], settings, server=None, source="files").receipt

    assert receipt.accepted + receipt.duplicates == receipt.received == LINES
    assert_counts_are_exact(database_url)


@contextmanager
def serving(environment: dict[str, str], point: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("point", POINTS)
def test_a_service_killed_anywhere_has_what_it_answered_and_takes_the_rest_again(
    point: str, environment: dict[str, str], database_url: str
) -> None:
    """A shipper that sends again what was not answered ends with each line stored once."""
    batches = list(range(LINES // BATCH))
    with serving(environment, point) as (url, process):
        answered = [batch for batch in batches if send(url, batch)]
        assert process.wait(30) == -signal.SIGKILL
    assert answered != batches, "the service was not killed"

    assert stored(database_url) >= len(answered) * BATCH
    with running(Settings(database_url=database_url)) as service:
        assert all(send(service.url, batch) for batch in batches if batch not in answered)
    assert_counts_are_exact(database_url)
