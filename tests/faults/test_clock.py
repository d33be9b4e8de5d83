"""The clock of the machine jumps: what is stored stays stored once, and every question has its answer."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from service.store import check
from service.store.engine import make_engine, reading
from tests.faults.programs import event_line

NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
JUMPS = [timedelta(hours=-1), timedelta(days=2), timedelta(0)]
QUESTIONS = [
    "names",
    "clients",
    "events",
    "series?by=client",
    "coverage",
    "reactions",
    "reactions/latency",
    "health",
    "cures",
    "uptake",
    "stopped",
    "said",
    "vintage",
]
PAGES = ["/", "/clients", "/reactions", "/health"]

TIMELESS = (
    b'{"level":"info","data":{"tool":"gone-7","client":"no-clock"},"msg":"Retired tool called"}\n'
)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return round(self.now.timestamp() * 1e6)


@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_a_jump_of_the_clock_changes_no_count(jump: timedelta, database_url: str) -> None:
    """A resend after the jump is a duplicate, also of lines without a time of their own."""
    clock = Clock()
    first = b"".join(event_line("early", number) for number in range(100)) + TIMELESS
    second = b"".join(event_line("late", number) for number in range(100))
    app = create_app(Settings(database_url=database_url), clock=clock)
    with TestClient(app, base_url="http://localhost") as client:

        def send(body: bytes) -> dict[str, Any]:
            answer = client.post("/ingest?server=maps", content=body)
            assert answer.status_code == 200, answer.text
            found: dict[str, Any] = answer.json()
            return found

        assert send(first)["accepted"] == 101
        clock.now += jump
        again, new = send(first), send(second)
        answers = [client.get(f"/api/v1/{question}") for question in QUESTIONS]
        pages = [client.get(page) for page in PAGES]
        clock.now = NOON
        last = [send(body) for body in (first, second)]
        account = client.get("/api/v1/health").json()["items"]
        kept = client.get("/api/v1/events", params={"limit": 1000}).json()["items"]

    assert [answer.status_code for answer in (*answers, *pages)] == [200] * len(QUESTIONS + PAGES)
    assert (again["accepted"], again["duplicates"]) == (0, 101)
    assert (new["accepted"], new["duplicates"]) == (100, 0)
    assert [each["accepted"] for each in last] == [0, 0]
    assert len(kept) == 201
    assert sum(row["accepted"] for row in account) == 201
    for row in account:
        fates = ("accepted", "duplicates", "ignored", "rejected")
        assert row["received"] == sum(row[fate] for fate in fates)
    engine = make_engine(database_url)
    with reading(engine) as connection:
        assert check.differences(connection) == []
    engine.dispose()


def test_lines_from_the_future_are_refused_until_their_time_comes(
    new_database: Callable[[], str],
) -> None:
    """A line more than the allowed skew ahead is rejected, and taken when the clock has come near."""
    clock = Clock()
    ahead = int(timedelta(hours=36, minutes=1).total_seconds() * 1000)  # from midnight: 24 h 1 min
    app = create_app(Settings(database_url=new_database()), clock=clock)
    with TestClient(app, base_url="http://localhost") as client:
        body = event_line("early", 0) + event_line("early", ahead)
        refused = client.post("/ingest?server=maps", content=body).json()
        clock.now += timedelta(minutes=2)
        taken = client.post("/ingest?server=maps", content=body).json()
        clock.now -= timedelta(hours=1)
        resent = client.post("/ingest?server=maps", content=event_line("early", 0)).json()

    assert (refused["accepted"], refused["reasons"]) == (1, {"future_timestamp": 1})
    assert (taken["accepted"], taken["duplicates"]) == (1, 1)
    assert (resent["accepted"], resent["duplicates"]) == (0, 1)


def test_a_clock_that_was_ahead_leaves_nothing_behind(new_database: Callable[[], str]) -> None:
    """Once it is right again, lines from the future are refused as before, without a new start."""
    clock = Clock()
    hours = 3_600_000
    app = create_app(Settings(database_url=new_database()), clock=clock)
    with TestClient(app, base_url="http://localhost") as client:
        clock.now += timedelta(days=2)
        body = event_line("early", 50 * hours)
        taken = client.post("/ingest?server=maps", content=body).json()
        clock.now = NOON
        body = event_line("early", 40 * hours)
        refused = client.post("/ingest?server=maps", content=body).json()

    assert taken["accepted"] == 1
    assert (refused["accepted"], refused["reasons"]) == (0, {"future_timestamp": 1})
