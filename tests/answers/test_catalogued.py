"""Names that the catalogue tells of: before what lines say, called or not, hidden or shown."""

from typing import Any

import pytest

from service.analysis.catalogue import resolve
from service.answers.query import iso
from service.entries import NAMES, Snapshot, told
from service.events import BatchName, Fact, Kind, Portion
from service.store import catalogue, writer
from service.store.engine import Engine, driver_of, writing
from tests.answers.test_against_definitions import NOW, ask
from tests.answers.world import DAY
from tests.told import Told

HOUR = 3_600_000_000
START = NOW - 40 * DAY
"""When the log begins; it was heard in every hour up to now."""


def log(engine: Engine, *events: tuple[int, Kind, str | None], fact: Fact | None = None) -> None:
    """Store (time, kind, tool), all of one client of `maps`."""
    rows = [
        Told(
            time_us=at,
            key=key,
            kind=kind,
            server="maps",
            tool=tool,
            client="zed",
            fact=fact if kind is Kind.STALE_CALL else None,
        ).row()
        for key, (at, kind, tool) in enumerate(events, start=1)
    ]
    heard = dict.fromkeys(range(START // HOUR, NOW // HOUR), 1)
    portion = Portion(
        server="maps",
        source="files",
        batch=BatchName(kind="ingest", label="run"),
        arrived_us=NOW,
        rows=rows,
        hours=heard,
    )
    with writing(engine) as conn:
        writer.add(driver_of(conn), portion, quarantine_days=14)


def enter(engine: Engine, name: str, at_us: int = NOW - DAY, **said: Any) -> None:
    with writing(engine) as conn:
        catalogue.tell(
            driver_of(conn), "maps", told(name, **said), at_us=at_us, source="rest", actor="rest"
        )


def lists(engine: Engine, *names: str, source: str = "rest") -> None:
    """The server `maps` listed these names, or had them once."""
    tools = tuple({"name": name} for name in names)
    taken = Snapshot(
        server="maps",
        at_us=NOW - 2,
        version=None,
        protocol_version=None,
        source=source,
        tools=tools,
    )
    with writing(engine) as conn:
        catalogue.snapshot(driver_of(conn), taken, now_us=NOW, dated=False, actor="rest")


def names(engine: Engine, **asked: Any) -> dict[str, Any]:
    return {row["name"]: row for row in ask(engine, "names", **asked)["items"]}


def overview(engine: Engine, **asked: Any) -> dict[str, Any]:
    return {row["name"]: row for row in ask(engine, "overview", **asked)["items"]}


def test_what_is_told_comes_before_what_lines_say(engine: Engine) -> None:
    """Fact by fact: what the entry leaves open is what the lines say, and the row says which it is."""
    fact = Fact(last_release="1.0", replaced_by=("a",), message="lines")
    log(engine, (START, Kind.STALE_CALL, "route"), (START, Kind.STALE_CALL, "map"), fact=fact)
    enter(engine, "route", last_release="1.1", replaced_by=[])

    for found in (names(engine), overview(engine)):
        said = {
            name: [row[key] for key in ("source", "last_release", "replaced_by", "message")]
            for name, row in found.items()
        }
        assert said == {
            "map": ["lines", "1.0", ["a"], "lines"],
            "route": ["told", "1.1", [], "lines"],
        }


def test_a_name_that_was_never_called_is_there_with_what_was_watched(engine: Engine) -> None:
    """No calls, and beside them the hours in which calls would have been heard."""
    log(engine, (START, Kind.HELLO, None))
    enter(engine, "route", replaced_by=["plan"])

    row = names(engine)["route"]
    assert (row["stale_calls"], row["first_call"], row["replaced_by"]) == (0, None, ["plan"])
    row = overview(engine)["route"]
    assert (row["last_call_ever"], row["state"]) == (None, "quiet")
    assert row["retired_at"] == iso(NOW - DAY)
    assert row["quiet_hours"] == row["quiet_covered_hours"] == 40 * 24
    assert [window["covered_hours"] for window in row["windows"]] == [7 * 24, 30 * 24, 40 * 24]


def test_without_any_log_a_told_name_is_not_heard(engine: Engine) -> None:
    """Silence of a server that was never heard proves nothing."""
    enter(engine, "route")

    row = overview(engine)["route"]
    assert (row["state"], row["quiet_hours"], row["quiet_covered_hours"]) == ("not_heard", 0, 0)
    assert list(names(engine)) == ["route"]
    assert list(names(engine, server="maps")) == ["route"]
    assert names(engine, name="other") == {}


def test_an_unknown_call_to_a_told_name_counts_whatever_its_time(engine: Engine) -> None:
    """Before and after `retired_at`; one to a name that nobody tells of is none."""
    log(
        engine,
        (START, Kind.UNKNOWN_CALL, "route"),
        (NOW - DAY, Kind.UNKNOWN_CALL, "mcp__maps__route"),
        (NOW - DAY, Kind.UNKNOWN_CALL, "typo"),
    )
    assert names(engine) == {}

    enter(engine, "route", retired_us=NOW - 9 * DAY)

    assert {name: row["stale_calls"] for name, row in names(engine).items()} == {"route": 2}
    found = {event["name"]: event["resolved"] for event in ask(engine, "events")["items"]}
    assert found == {"route": "route", "mcp__maps__route": "route", "typo": None}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"retired_us": NOW - 15 * DAY}, 2),
        ({"retired_us": NOW - 25 * DAY}, 3),
        ({}, 1),
    ],
    ids=["told before the line", "told earlier still", "by the line"],
)
def test_an_ordinary_call_counts_from_the_retirement_on(
    engine: Engine, said: dict[str, int], expected: int
) -> None:
    """As succeeded. What is told wins over the first stale call line; that line counts in any case."""
    log(
        engine,
        (NOW - 20 * DAY, Kind.CALL, "route"),
        (NOW - 10 * DAY, Kind.CALL, "route"),
        (NOW - 5 * DAY, Kind.STALE_CALL, "route"),
    )
    enter(engine, "route", **said)

    assert names(engine)["route"]["stale_calls"] == expected
    assert overview(engine)["route"]["last_call_ever"] == iso(NOW - 5 * DAY)
    outcomes = [event["outcome"] for event in ask(engine, "events", kind="call")["items"]]
    assert outcomes.count("succeeded") == expected - 1


def test_a_name_that_only_worked_is_retired_since_it_was_entered(engine: Engine) -> None:
    """Where neither an instant nor a line tells; what came before then is no stale call."""
    log(engine, (NOW - 3 * DAY, Kind.CALL, "route"), (NOW - HOUR, Kind.CALL, "route"))
    enter(engine, "route", NOW - DAY)
    enter(engine, "route", NOW - HOUR // 2, message="a later version")

    row = overview(engine)["route"]
    assert (row["stale_calls"], row["retired_at"]) == (1, iso(NOW - DAY))


def test_a_retirement_to_come_is_none_yet(engine: Engine) -> None:
    """The name is there from its instant on."""
    log(engine, (NOW - 3 * DAY, Kind.CALL, "route"))
    enter(engine, "route", retired_us=NOW - 2 * DAY)

    assert names(engine, as_of=iso(NOW - 2 * DAY)) == {}
    assert list(names(engine, as_of=iso(NOW - 2 * DAY + 1))) == ["route"]


def test_a_hidden_name_is_in_no_answer(engine: Engine) -> None:
    """Neither are calls through a gateway that stand for it; shown again, all of it is back."""
    log(
        engine,
        (START, Kind.STALE_CALL, "<b>"),
        (START, Kind.STALE_CALL, "gw:<b>"),
        (START, Kind.STALE_CALL, "route"),
    )
    before = names(engine)
    for hidden, expected in ((True, ["route"]), (False, ["<b>", "route"])):
        with writing(engine) as conn:
            catalogue.hide(driver_of(conn), "maps", "<b>", hidden, at_us=NOW - DAY, actor="command")
        assert list(names(engine)) == list(overview(engine)) == expected
        assert [row["name"] for row in ask(engine, "callers")["items"]] == expected
        assert ask(engine, "servers")["items"][0]["names"] == len(expected)
    after = names(engine)
    assert after["<b>"] == {**before["<b>"], "source": "told"}


@pytest.mark.parametrize("source", ["rest", NAMES], ids=["listed", "ever had"])
def test_a_full_name_wins_over_a_prefix(engine: Engine, source: str) -> None:
    """`eu.route` is a tool of its own where the server lists it or did, and no call to `route`."""
    log(
        engine,
        (START, Kind.STALE_CALL, "route"),
        (NOW - DAY, Kind.CALL, "eu.route"),
        (NOW - DAY, Kind.CALL, "gw/eu.route"),
        (NOW - DAY, Kind.CALL, "us.route"),
    )
    assert names(engine)["route"]["stale_calls"] == 4

    lists(engine, "eu.route", source=source)

    assert names(engine)["route"]["stale_calls"] == 2
    enter(engine, "eu.route", retired_us=NOW - 2 * DAY)
    found = {name: row["stale_calls"] for name, row in names(engine).items()}
    assert found == {"eu.route": 2, "route": 2}


def test_a_told_name_is_full() -> None:
    """Even where it looks like a prefix and another name."""
    known = {"route", "eu.route"}
    assert resolve(["eu.route", "x.eu.route"], known) == dict.fromkeys(
        ["eu.route", "x.eu.route"], "route"
    )
    assert resolve(["eu.route", "x.eu.route"], known, {"eu.route"}) == dict.fromkeys(
        ["eu.route", "x.eu.route"], "eu.route"
    )
