"""As of an instant: nothing that came later shows, and nothing that was there is lost."""

from dataclasses import replace
from typing import Any

import pytest

from service.answers.query import iso
from service.events import Kind
from service.store.engine import Engine
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.world import DAY
from tests.told import Told

HOUR = 3_600_000_000


def row(at: int, key: int, kind: Kind = Kind.STALE_CALL, **more: Any) -> Told:
    tool = {"tool": "route"} if kind in world.TOOL_KINDS else {}
    return Told(time_us=at, key=key, kind=kind, server="maps", **{**tool, **more})


@pytest.mark.parametrize(
    "collection", ["names", "callers", "clients", "events", "series", "servers"]
)
def test_a_spelling_that_only_a_replaced_line_has_keeps_its_name(
    new_engine: Any, collection: str
) -> None:
    """An ordinary call by way of a gateway counts as of an instant before the line that replaces it."""
    rows = [
        row(FALL, 1),
        row(FALL + HOUR, 2, Kind.CALL, tool="mcp__maps__route", session="s", request_id="1"),
        row(FALL + 3 * HOUR, 3, tool="mcp__maps__route", session="s", request_id="1"),
    ]
    whole, cut = new_engine(), new_engine()
    world.store(whole, rows)
    world.store(cut, rows[:2])
    as_of = {"as_of": iso(FALL + 2 * HOUR), "name": "route"}
    if collection == "servers":
        del as_of["name"]

    answer, expected = (ask(engine, collection, **as_of)["items"] for engine in (whole, cut))

    assert [{**r, "last_heard": None} for r in answer] == [
        {**r, "last_heard": None} for r in expected
    ]
    if collection == "names":
        assert answer[0]["stale_calls"] == 2


@pytest.mark.parametrize("hours", [0, 2, 30, 24 * 40])
@pytest.mark.parametrize("collection", ["names", "servers"])
def test_the_default_range_begins_with_the_first_line_also_one_that_does_not_count(
    engine: Engine, hours: int, collection: str
) -> None:
    """However long before its call's counting line it lies, of the server that is asked for."""
    rows = [
        row(FALL, 1, Kind.CALL, session="s", request_id="1"),
        row(FALL + hours * HOUR + 1, 2, session="s", request_id="1"),
        replace(row(FALL - 90 * DAY, 3), server="shop"),
    ]
    world.store(engine, rows)

    answer = ask(engine, collection, server="maps")

    assert answer["range"]["since"] == iso(FALL)
    if collection == "servers":
        assert answer["items"][0]["first_event"] == iso(FALL)


def test_the_last_event_may_be_one_that_a_later_line_stands_for(engine: Engine) -> None:
    """As of an instant between the two lines of a call, the first is an event of the server."""
    world.store(
        engine,
        [
            row(FALL, 1, Kind.CALL, session="s", request_id="1"),
            row(FALL + 30 * HOUR, 2, session="s", request_id="1"),
        ],
    )
    (found,) = ask(engine, "servers", as_of=iso(FALL + HOUR))["items"]
    assert (found["first_event"], found["last_event"]) == (iso(FALL), iso(FALL))


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("days", [0, 3])
def test_a_client_is_shown_as_its_latest_line_spells_it_whether_that_counts_or_not(
    engine: Engine, named: bool, days: int
) -> None:
    """A line that another one stands for is an event; so is one whose session's hello names it."""
    call = {"session": "s", "request_id": "1"}
    at = FALL + 2 * DAY
    rows = [
        row(FALL, 1, session="a", client="Claude-Code"),
        row(at, 2, session="s", request_id="1", client="zed"),
        row(at + 7 * HOUR, 3, Kind.CALL, **call, client="claude-code/1.2" if named else None),
        row(at + days * DAY + 9 * HOUR, 4, client="zed"),
    ]
    if not named:
        rows.append(row(FALL - DAY, 5, Kind.HELLO, session="s", client="claude-code/1.2"))
    world.store(engine, rows)

    shown = {r["client"] for r in ask(engine, "clients")["items"]}
    late = ask(engine, "clients", since=iso(at + HOUR), until=iso(at + 8 * HOUR))["items"]
    days_ = ask(engine, "clients", since=iso(at + DAY // 2 - 6 * HOUR), until=iso(at + 9 * HOUR))

    assert shown == {"claude-code", "zed"}
    assert [r["client"] for r in late] == ["claude-code"]
    assert [r["client"] for r in days_["items"]] == ["claude-code"]
