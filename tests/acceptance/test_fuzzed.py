"""Any request gets a documented answer: schemathesis against the running service."""

import subprocess
import sys
from pathlib import Path

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

LINES = (Path(__file__).parent / "cases" / "50-top-n-with-other" / "input.log").read_bytes()


def fuzz(service: Running, seconds: int) -> subprocess.CompletedProcess[str]:
    """Run schemathesis on every operation, in all phases, for about so long."""
    schema = [*(sys.executable, "-m", "schemathesis.cli"), "run", f"{service.url}/openapi.json"]
    limits = ["--max-time", str(seconds), "--seed", "1", "--no-color"]
    return subprocess.run(
        [*schema, *limits, "--generation-database", "none"],
        capture_output=True,
        text=True,
        timeout=seconds + 240,
        check=False,
    )


@pytest.mark.parametrize(
    "seconds", [pytest.param(10, id="10s"), pytest.param(60, id="60s", marks=pytest.mark.slow)]
)
def test_schemathesis_finds_nothing(seconds: int, database_url: str) -> None:
    """No server error, no undocumented status, type or shape, no wrong input taken for right."""
    with running(Settings(database_url=database_url)) as service:
        assert service.client.post("/ingest", content=LINES).status_code == 200
        done = fuzz(service, seconds)

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
