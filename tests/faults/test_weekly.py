"""The weekly look beside a running service: taken once, taken again when it failed, in nobody's way."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from service.analysis.weekly import monday
from service.answers.query import Moment, iso
from service.clock import DAY_US
from service.events import Kind
from service.said import Question
from service.store import read_said
from service.store.engine import Engine, make_engine, reading
from service.weekly import SETTLE_US, Weekly
from tests.answers import world
from tests.faults.programs import Server, serving, until
from tests.store.support import execute
from tests.told import Told


def five_weeks(now: int) -> list[Told]:
    """One call a day, up to now."""
    days = range(now - 35 * DAY_US, now, DAY_US)
    shape: dict[str, Any] = {"kind": Kind.STALE_CALL, "server": "maps", "tool": "route"}
    return [Told(time_us=at, key=at, client="zed", **shape) for at in days]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_services_that_start_at_once_say_each_monday_once(
    kind: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """The last Monday among them, and every one that there was anything before; both answer the same."""
    url = make_url(kind)
    now = time.time_ns() // 1_000
    engine = make_engine(url)
    world.store(engine, five_weeks(now))
    engine.dispose()
    last = iso(monday(now - SETTLE_US))

    with ExitStack() as running:
        servers = [
            running.enter_context(serving(Server(url, tmp_path / f"serve-{n}.log"))) for n in (1, 2)
        ]

        def said(server: Server) -> list[dict[str, Any]]:
            answer = httpx.get(f"{server.url}/api/v1/said?question=stopped", timeout=30)
            rows: list[dict[str, Any]] = answer.json()["items"]
            return rows

        until(
            lambda: any(row["week"] >= last for row in said(servers[0])),
            "the look of the last Monday",
        )
        weeks = [row["week"] for row in said(servers[0])]
        assert said(servers[1]) == said(servers[0])
    assert len(weeks) == len(set(weeks)) >= 5


def test_a_look_that_fails_is_taken_again(engine: Engine) -> None:
    """A database that is not as it should be ends neither the service nor the looking."""
    now = time.time_ns() // 1_000
    world.store(engine, five_weeks(now))
    execute(engine, "ALTER TABLE look RENAME TO elsewhere")
    failed: list[int] = []

    def moment() -> Moment:
        failed.append(now)
        return Moment(now)

    weekly = Weekly(engine, moment, retry_s=0.01)
    weekly.start()
    until(lambda: len(failed) >= 3, "a third try")
    execute(engine, "ALTER TABLE elsewhere RENAME TO look")

    def looked() -> bool:
        with reading(engine) as connection:
            return monday(now - SETTLE_US) in read_said.looks(connection)[Question.STOPPED]

    until(looked, "the look")
    weekly.close()
