"""The catalogue: every version kept, nothing said twice, and a line of the audit for each change."""

import json
from typing import Any

import pytest

from service.entries import NAMES, Entry, Facts, Kept, Snapshot, told
from service.errors import BadParameter
from service.store import catalogue, read_catalogue
from service.store.engine import Engine, driver_of, reading, writing
from service.store.read_sets import Chosen
from tests.store.support import DAY, NOON, query, row, store
from tests.store.test_releases import data_version
from tests.store.test_releases import stored as releases

ECHO = {"name": "echo", "inputSchema": {"type": "object"}}


def tell(engine: Engine, name: str, at_us: int = NOON, **said: Any) -> tuple[Entry, Kept]:
    with writing(engine) as conn:
        return catalogue.tell(
            driver_of(conn), "main", told(name, **said), at_us=at_us, source="rest", actor="rest"
        )


def hide(engine: Engine, name: str, hidden: bool = True, server: str = "main") -> Kept:
    with writing(engine) as conn:
        return catalogue.hide(
            driver_of(conn), server, name, hidden, at_us=NOON + DAY, actor="command"
        )[1]


def take(engine: Engine, at_us: int, *tools: dict[str, Any], **given: Any) -> Kept:
    dated = given.pop("dated", True)
    said = {"version": "1.0", "protocol_version": "2025-11-25", "source": "rest", **given}
    taken = Snapshot(server="main", at_us=at_us, tools=tools, **said)
    with writing(engine) as conn:
        return catalogue.snapshot(
            driver_of(conn), taken, now_us=NOON, dated=dated, actor="command"
        )[1]


def audit(engine: Engine) -> list[tuple[str, str, str, dict[str, Any]]]:
    rows = query(engine, "SELECT actor, action, subject, detail FROM audit ORDER BY id")
    return [(actor, action, subject, json.loads(detail)) for actor, action, subject, detail in rows]


def holding(engine: Engine) -> dict[str, tuple[Entry, int]]:
    with reading(engine) as conn:
        return {entry.name: (entry, first) for entry, first in read_catalogue.entries(conn, {1})}


def test_every_version_is_kept_and_the_last_one_holds(engine: Engine) -> None:
    """What is not mentioned stays as it was said; what is None is taken back."""
    assert tell(engine, "route", last_release="1.6.10", replaced_by=["planner"])[1] is Kept.CREATED
    assert tell(engine, "route", NOON + DAY, message="Use planner.")[1] is Kept.CHANGED
    assert tell(engine, "route", NOON + 2 * DAY, last_release=None)[1] is Kept.CHANGED

    entry, first_us = holding(engine)["route"]
    assert entry.facts == Facts(replaced_by=("planner",), message="Use planner.")
    assert (entry.number, entry.said_us, first_us) == (3, NOON + 2 * DAY, NOON)
    with reading(engine) as conn:
        versions = read_catalogue.versions(conn, {1}, Chosen(frozenset({"route"})))
    assert sorted((each.number, each.facts.last_release) for each in versions) == [
        (1, "1.6.10"), (2, "1.6.10"), (3, None),
    ]  # fmt: skip


def test_the_same_said_again_changes_nothing(engine: Engine) -> None:
    """No version, no line of the audit, and readers are told of nothing."""
    tell(engine, "route", last_release="1.0", replaced_by=[], retired_us=NOON)
    before = data_version(engine), audit(engine)

    assert tell(engine, "route", NOON + DAY, last_release=" 1.0 ")[1] is Kept.UNCHANGED
    assert tell(engine, "route", NOON + DAY)[1] is Kept.UNCHANGED

    assert (data_version(engine), audit(engine)) == before
    assert holding(engine)["route"][0].number == 1


def test_an_audit_line_says_who_changed_what(engine: Engine) -> None:
    """With the value before and after; the server is made where it is new."""
    tell(engine, "route", last_release="1.0")
    tell(engine, "route", replaced_by=[])
    hide(engine, "route")

    assert audit(engine) == [
        ("rest", "catalogue", "main/route",
         {"server": "main", "number": 1, "source": "rest", "last_release": [None, "1.0"]}),
        ("rest", "catalogue", "main/route",
         {"server": "main", "number": 2, "source": "rest", "replaced_by": [None, []]}),
        ("command", "hide", "main/route",
         {"server": "main", "number": 3, "source": "rest"}),
    ]  # fmt: skip
    assert query(engine, "SELECT name FROM server") == [("main",)]


def test_a_hidden_entry_stays_hidden_whatever_is_said_of_it(engine: Engine) -> None:
    """Until it is shown again; both keep what was said."""
    tell(engine, "route", message="gone")
    assert hide(engine, "route") is Kept.CHANGED
    assert hide(engine, "route") is Kept.UNCHANGED
    tell(engine, "route", message="gone for good")

    assert holding(engine)["route"][0].hidden
    assert hide(engine, "route", hidden=False) is Kept.CHANGED
    entry = holding(engine)["route"][0]
    assert (entry.hidden, entry.facts.message, entry.number) == (False, "gone for good", 4)


def test_what_only_lines_know_can_be_hidden_and_what_nobody_knows_cannot(engine: Engine) -> None:
    """A name that a stale call of this server spells gets an entry by that."""
    store(engine, [row(1, tool="<script>")])

    assert hide(engine, "<script>") is Kept.CREATED
    assert holding(engine)["<script>"][0].source == "lines"
    for server, name in (("main", "route"), ("nowhere", "<script>")):
        with pytest.raises(BadParameter, match="catalogue list"):
            hide(engine, name, server=server)


def test_snapshots_are_dated_and_the_same_list_is_kept_once(engine: Engine) -> None:
    """Compared with the one before it; another version, or another list, is another snapshot."""
    assert take(engine, NOON, ECHO) is Kept.CREATED
    assert take(engine, NOON + DAY, ECHO) is Kept.UNCHANGED
    assert take(engine, NOON + 2 * DAY, ECHO, version="1.1") is Kept.CREATED
    assert take(engine, NOON + 3 * DAY, version="1.1") is Kept.CREATED
    assert take(engine, NOON - DAY, ECHO) is Kept.CREATED
    assert take(engine, NOON + 4 * DAY, {"name": "old"}, source=NAMES, version=None) is Kept.CREATED

    with reading(engine) as conn:
        kept = read_catalogue.snapshots(conn, {1})
        assert [(each.at_us, each.version) for each in kept] == [
            (NOON - DAY, "1.0"), (NOON, "1.0"), (NOON + 2 * DAY, "1.1"), (NOON + 3 * DAY, "1.1"),
        ]  # fmt: skip
        assert read_catalogue.tools(conn, kept[0].id) == (ECHO,)
        assert read_catalogue.listed_names(conn, 1) == set()
        assert read_catalogue.listed_names(conn, 1, names=True) == {"old"}


def test_a_snapshot_says_by_when_its_version_had_come(engine: Engine) -> None:
    """The earliest one does; what somebody said of the release stands."""
    take(engine, NOON, ECHO)
    take(engine, NOON - DAY, ECHO)
    take(engine, NOON + DAY, ECHO, version=None)

    assert releases(engine) == [("main", "1.0", NOON - DAY, "snapshot")]


def test_two_snapshots_of_one_instant(engine: Engine) -> None:
    """Are refused where somebody gave the instant, and told apart where it was the clock."""
    take(engine, NOON, ECHO)

    with pytest.raises(BadParameter, match="another snapshot of that instant"):
        take(engine, NOON, {"name": "other"})
    assert take(engine, NOON, {"name": "other"}, dated=False) is Kept.CREATED
    times = query(engine, "SELECT at_us FROM snapshot ORDER BY 1")
    assert times == [(NOON,), (NOON + 1,)]
