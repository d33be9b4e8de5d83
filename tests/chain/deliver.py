"""The two ways of a log into a service, and the service."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.acceptance.service import Running, running, with_fixed_secrets
from tests.chain.checks import SERVER

A_DAY = timedelta(days=1)


@contextmanager
def a_day_after(end: datetime, database_url: str) -> Iterator[Running]:
    """A service whose clock stands a day after the end of a story, when every reaction is over."""
    now = (end + A_DAY).isoformat()
    with running(with_fixed_secrets(database_url), now=now) as service:
        yield service


def from_file(service: Running, log: Path) -> dict[str, Any]:
    """Through `lastcall ingest`, as a user types it; return what it printed."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from service.cli import main; main()"),
            *("ingest", str(log), "--server", SERVER, "--json"),
            *("--db", service.app.state.settings.database_url),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    receipt: dict[str, Any] = json.loads(done.stdout)
    return receipt


def over_http(service: Running, log: Path) -> dict[str, Any]:
    """Through `POST /ingest`, as a log shipper sends it; return the answer."""
    answer = service.client.post("/ingest", params={"server": SERVER}, content=log.read_bytes())
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt
