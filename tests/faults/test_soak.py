"""Servers are killed again and again while many deliver: each event is stored, and stored once."""

import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.faults.programs import Server, assert_exact, sending, serving

SENDERS = 10
LONG_S, LONG_BETWEEN_S = 120.0, 10.0
SHORT_S, SHORT_BETWEEN_S = 4.0, 1.5

SHORT = [
    pytest.param(SHORT_S, SHORT_BETWEEN_S, *each, id=f"{each[0]}-{each[1]}-short")
    for each in (("sqlite", 2), ("postgresql", 2))
]
LONG = [
    pytest.param(LONG_S, LONG_BETWEEN_S, *each, id=f"{each[0]}-{each[1]}", marks=pytest.mark.slow)
    for each in (("sqlite", 1), ("sqlite", 2), ("postgresql", 2))
]


@pytest.mark.parametrize(("lasts_s", "between_s", "kind", "processes"), [*SHORT, *LONG])
def test_kills_lose_nothing_and_double_nothing(
    lasts_s: float,
    between_s: float,
    kind: str,
    processes: int,
    make_url: Callable[[str], str],
    tmp_path: Path,
) -> None:
    """Senders meet broken connections and 503, no other answer, and what they sent is stored once."""
    chance = random.Random(f"{kind}/{processes}")
    url = make_url(kind)
    with ExitStack() as running:
        servers = [
            running.enter_context(serving(Server(url, tmp_path / f"serve-{each}.log")))
            for each in range(processes)
        ]
        killed = 0
        with sending([server.port for server in servers], SENDERS, seed=processes) as senders:
            end = time.monotonic() + lasts_s
            while (left := end - time.monotonic()) > 0:
                threading.Event().wait(min(left, between_s))
                if end - time.monotonic() > 0:
                    victim = chance.choice(servers)
                    victim.kill()
                    victim.start()
                    killed += 1

        assert killed >= 1
        assert_exact(servers[0], senders)
