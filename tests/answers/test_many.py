"""More ids than a statement takes parameters: the same answers."""

from typing import Any

import pytest

from service.answers.query import iso
from service.events import Kind
from service.store import read_sets, schema
from service.store.engine import Engine, writing
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.world import DAY
from tests.told import Told

SPELLINGS = 70_000


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "collection", ["names", "callers", "clients", "events", "series", "health"]
)
def test_seventy_thousand_spellings_of_one_client_are_one_client(
    engine: Engine, collection: str
) -> None:
    """A stranger may write a bridge's version into its name on every call."""
    world.store(engine, world.random_rows(3, FALL, FALL + DAY))
    asked: dict[str, Any] = {"client": "zed"} if collection != "health" else {}
    before = ask(engine, collection, **asked)["items"]
    with writing(engine) as connection:
        spellings = [
            {"raw": f"zed (via x {i})", "key": "zed", "name": "zed", "via": "x", "version": None}
            for i in range(SPELLINGS)
        ]
        connection.execute(schema.client.insert(), spellings)

    assert ask(engine, collection, **asked)["items"] == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [2, 7])
@pytest.mark.parametrize(
    "collection", ["names", "callers", "clients", "events", "series", "servers"]
)
def test_long_lists_of_ids_choose_the_same_rows(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, seed: int, collection: str
) -> None:
    """Cut in the middle of calls and sessions, filtered by client: written out or handed over."""
    world.store(engine, world.random_rows(seed, FALL, FALL + 9 * DAY))
    cuts: dict[str, Any] = {"as_of": iso(FALL + 4 * DAY), "since": iso(FALL + DAY)}
    if collection != "servers":
        cuts["client"] = "claude-code"
    if collection == "events":
        cuts["name"] = "route"
    listed = ask(engine, collection, **cuts)["items"]
    monkeypatch.setattr(read_sets, "LISTED", 0)

    assert ask(engine, collection, **cuts)["items"] == listed
    assert listed


def test_seventy_thousand_calls_that_a_later_line_replaces_can_be_cut(engine: Engine) -> None:
    """As of the instant between the two lines of each call, the first of them stands."""
    calls = SPELLINGS // 2
    rows = [
        Told(
            time_us=FALL + side * DAY + i,
            key=side * calls + i,
            kind=Kind.CALL if not side else Kind.STALE_CALL,
            server="maps",
            tool="route",
            session="s",
            request_id=str(i),
        )
        for side in (0, 1)
        for i in range(calls)
    ]
    first = Told(time_us=FALL - 1, key=-1, kind=Kind.STALE_CALL, server="maps", tool="route")
    world.store(engine, [first, *rows], portions=1)

    (found,) = ask(engine, "names", as_of=iso(FALL + DAY))["items"]
    assert found["stale_calls"] == calls + 1
