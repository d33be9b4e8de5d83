"""Room is shared in the order of arrival, and what goes wrong is said once."""

import asyncio
import json
import subprocess
import sys

import pytest

from service.api.admission import MOST_WAITING, Budget, Overloaded

LONG_S = 60.0


async def hold(budget: Budget, amount: int, name: str, order: list[str]) -> None:
    async with budget.hold(amount, LONG_S):
        order.append(name)
        await asyncio.sleep(0)


def test_who_waits_is_let_in_in_the_order_of_arrival() -> None:
    """A small one does not pass a large one that came before it, or the large one would never fit."""

    async def story() -> list[str]:
        budget, order = Budget(10), list[str]()
        async with asyncio.TaskGroup() as group:
            for name, amount in (("a", 6), ("b", 9), ("c", 1), ("d", 100), ("e", 10)):
                group.create_task(hold(budget, amount, name, order))
        return order

    assert asyncio.run(story()) == ["a", "b", "c", "d", "e"]


def test_whoever_leaves_the_queue_blocks_nobody() -> None:
    """Its sender hung up, before or in the very moment in which it was let in."""

    async def story() -> list[str]:
        budget, order = Budget(10), list[str]()
        async with budget.hold(10, LONG_S):
            gone = [asyncio.create_task(hold(budget, 10, "gone", order)) for _ in range(3)]
            kept = asyncio.create_task(hold(budget, 4, "kept", order))
            await asyncio.sleep(0)
            gone[0].cancel()
            gone[2].cancel()
            await asyncio.sleep(0)
        gone[1].cancel()
        await asyncio.wait_for(kept, LONG_S)
        await asyncio.wait_for(hold(budget, 10, "last", order), LONG_S)
        return order

    assert asyncio.run(story()) == ["kept", "last"]


def test_a_queue_that_is_too_long_turns_away_at_once() -> None:
    """One more than may wait gets its answer now; the others are let in later."""

    async def story() -> int:
        budget, order = Budget(10), list[str]()
        async with budget.hold(10, LONG_S):
            waiting = [
                asyncio.create_task(hold(budget, 1, "in", order)) for _ in range(MOST_WAITING)
            ]
            await asyncio.sleep(0)
            with pytest.raises(Overloaded):
                await hold(budget, 1, "away", order)
        await asyncio.gather(*waiting)
        assert set(order) == {"in"}
        return len(order)

    assert asyncio.run(story()) == MOST_WAITING


def test_patience_ends_without_a_trace() -> None:
    """Who waited too long is told so, and takes no room with it."""

    async def story() -> list[str]:
        budget, order = Budget(10), list[str]()
        async with budget.hold(4, LONG_S):
            with pytest.raises(Overloaded):
                async with budget.hold(7, 0.0):
                    order.append("in")
            await asyncio.wait_for(hold(budget, 6, "beside", order), LONG_S)
        await asyncio.wait_for(hold(budget, 10, "after", order), LONG_S)
        return order

    assert asyncio.run(story()) == ["beside", "after"]


SAYING = """
import logging
from service import log
from service.errors import StorageUnavailable
log.configure()
def fail():
    raise ValueError("a stranger's text")
try:
    fail()
except ValueError:
    logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
outage = log.Outage("writing")
for _ in range(3):
    try:
        with outage.watching():
            raise StorageUnavailable("the disk is full")
    except StorageUnavailable:
        pass
with outage.watching():
    pass
log.QUIET_S = 0.0
with outage.watching():
    pass
"""


def test_the_log_is_json_and_keeps_what_strangers_wrote_to_itself() -> None:
    """Of a fault it says type and place; an outage has one line when it begins and one at its end."""
    done = subprocess.run(
        [sys.executable, "-c", SAYING], capture_output=True, text=True, check=True, timeout=60
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]

    assert "stranger" not in done.stderr
    assert [line["event"] for line in lines] == [
        "Exception in ASGI application",
        "writing fails",
        "writing works again",
    ]
    assert all(line["time"].endswith("Z") for line in lines)
    (fault,) = lines[0]["exceptions"]
    assert fault["type"] == "ValueError"
    assert fault["places"][-1].endswith("fail")
    assert lines[1]["detail"] == "the disk is full"
    assert lines[2]["failures"] == 3
