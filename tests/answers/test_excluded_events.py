"""Events are listed as they are counted: without the calls that rules leave out, unless these are asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from service.answers.query import iso
from service.store.engine import Engine
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.test_listed import exclude
from tests.answers.world import DAY

CALLS = {"stale_call", "unknown_call", "call"}
Row = dict[str, Any]
RULES: list[tuple[dict[str, str], Callable[[Row], bool]]] = [
    ({"client": "zed"}, lambda row: row["client"] == "zed"),
    ({"client": "claude-*"}, lambda row: (row["client"] or "").lower() == "claude-code"),
    ({"version": "1.2"}, lambda row: row["version"] == "1.2"),
    (
        {"version": "2.0", "server": "maps", "client": "zed"},
        lambda row: (row["version"], row["server"], row["client"]) == ("2.0", "maps", "zed"),
    ),
    ({"client": "nobody-of-that-name"}, lambda row: False),
]


def every(engine: Engine, **asked: Any) -> list[Row]:
    """All events, page by page."""
    found: list[Row] = []
    cursor: str | None = None
    while True:
        page = ask(engine, "events", limit=37, cursor=cursor, as_of=iso(FALL + 8 * DAY), **asked)
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


@pytest.mark.parametrize(("rule", "leaves_out"), RULES)
@pytest.mark.parametrize("asked", [{}, {"name": "route"}, {"client": "ZED"}], ids=str)
def test_events_are_those_that_the_numbers_count(
    engine: Engine, rule: dict[str, str], leaves_out: Callable[[Row], bool], asked: dict[str, str]
) -> None:
    """Every page together: what is hidden and what is left are all there is, and no hello is left out."""
    world.store(engine, world.random_rows(11, FALL, FALL + 9 * DAY))
    exclude(engine, **rule)
    whole = every(engine, excluded="count", **asked)
    assert whole

    def gone(row: Row) -> bool:
        return row["kind"] in CALLS and leaves_out(row)

    assert every(engine, **asked) == [row for row in whole if not gone(row)]
    assert every(engine, excluded="only", **asked) == [row for row in whole if gone(row)]


def test_a_page_of_events_says_how_many_calls_are_left_out(engine: Engine) -> None:
    """As many stale calls as the names' answer leaves out."""
    world.store(engine, world.random_rows(11, FALL, FALL + 9 * DAY))
    exclude(engine, client="zed")
    left_out = ask(engine, "names")["excluded_calls"]
    assert ask(engine, "events", limit=1)["excluded_calls"] == left_out > 0
