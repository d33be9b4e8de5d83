"""Batches taken back: what is left is what would be there if they had never come."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.errors import NotFound, TooLate
from service.events import Kind, Native, Quarantined, Reason, Rejected, Row
from service.store import undo as undoing
from service.store.engine import Engine, driver_of, reading, writing
from service.store.undo import Undone
from tests.store.rows import some_rows
from tests.store.support import (
    DAY,
    NOON,
    SECOND,
    assert_alike,
    contents,
    differences,
    execute,
    query,
    row,
    store,
    wipe,
)

ACCOUNTS = """
SELECT b.label, t.day, t.fate, t.reason, t.records FROM tally AS t JOIN batch AS b ON b.id = t.batch_id
ORDER BY 1, 2, 3, 4
"""
HEARD = """
SELECT b.label, s.name, l.hour, l.lines FROM ledger AS l JOIN batch AS b ON b.id = l.batch_id
JOIN source AS s ON s.id = l.source_id ORDER BY 1, 2, 3
"""
OWNERS = """
SELECT e.key, b.label, b.source_id - e.source_id FROM event AS e JOIN batch AS b ON b.id = e.batch_id
ORDER BY 1
"""
NOTED = """
SELECT b.label, r.time_us, r.key FROM redelivery AS r JOIN batch AS b ON b.id = r.batch_id
ORDER BY 1, 2, 3
"""


def number_of(engine: Engine, label: str) -> int:
    [(number,)] = query(engine, f"SELECT id FROM batch WHERE label = '{label}'")
    return int(number)


def undo(engine: Engine, label: str, now_us: int = NOON) -> Undone:
    number = number_of(engine, label)
    with writing(engine) as conn:
        return undoing.undo(driver_of(conn), number, now_us, actor="command")


def plan(engine: Engine, label: str) -> Undone:
    number = number_of(engine, label)
    with reading(engine) as conn:
        return undoing.plan(driver_of(conn), number, NOON)


def test_what_only_this_batch_brought_goes_and_the_rest_is_handed_over(engine: Engine) -> None:
    """To the oldest of the other batches that brought it; a dry run says the same and changes nothing."""
    listing = row(4, NOON + SECOND, Kind.LISTING)
    store(engine, [row(1), row(2), row(3), listing], label="first", ignored=2, hours={5: 3})
    store(engine, [row(2)], label="second")
    store(engine, [row(2), row(3)], label="third")
    before = contents(engine)

    planned = plan(engine, "first")

    assert contents(engine) == before
    assert (planned.kind, planned.label, planned.dry_run) == ("ingest", "first", True)
    assert planned.events == {Kind.STALE_CALL: 1, Kind.LISTING: 1}
    heirs = {number_of(engine, "second"): 1, number_of(engine, "third"): 1}
    assert planned.handed_over == heirs
    assert planned.records == {"accepted": 4, "ignored": 2}

    done = undo(engine, "first")

    assert (done.events, done.handed_over) == (planned.events, heirs)
    assert query(engine, OWNERS) == [(2, "second", 0), (3, "third", 0)]
    assert query(engine, "SELECT label FROM batch ORDER BY 1") == [("second",), ("third",)]
    assert query(engine, HEARD) == []
    assert query(engine, "SELECT action, subject, actor FROM audit") == [
        ("undo", f"batch {done.batch}", "command")
    ]
    assert differences(engine) == []


def test_what_is_handed_over_is_in_the_account_as_if_it_had_been_new(engine: Engine) -> None:
    """The heir's duplicates become accepted, of a resend before those that may have been calls."""
    rows = [row(key) for key in range(4)]
    store(engine, rows, label="first")
    store(engine, rows, label="second")
    store(engine, rows[:1], label="second")
    number = number_of(engine, "second")
    execute(
        engine,
        f"INSERT INTO tally SELECT {number}, day, 'suppressed', '', 3 FROM tally WHERE fate = 'duplicate'",
    )
    execute(
        engine,
        f"INSERT INTO tally SELECT {number}, day, 'resend', '', 2 FROM tally WHERE fate = 'duplicate'",
    )
    undo(engine, "first")
    assert [found[2:] for found in query(engine, ACCOUNTS)] == [
        ("accepted", "", 4),
        ("duplicate", "", 1),
        ("suppressed", "", 1),
    ]


def test_the_quarantine_of_the_batch_goes_with_it(engine: Engine) -> None:
    """And no other."""
    broken = [Quarantined(position=0, rejected=Rejected(reason=Reason.INVALID_JSON, excerpt="{"))]
    store(engine, label="first", rejected=broken)
    store(engine, label="second", rejected=broken)
    assert undo(engine, "first").quarantined == 1
    assert query(
        engine, "SELECT b.label FROM reject AS r JOIN batch AS b ON b.id = r.batch_id"
    ) == [("second",)]


def test_a_feed_and_a_server_go_with_their_last_batch(engine: Engine) -> None:
    """A feed that somebody retired stays, as does a server with a release."""
    store(engine, [row(1, server="maps")], server="maps", label="first")
    store(engine, [row(2, server="shop")], server="shop", label="second")
    store(engine, [row(3)], label="third")
    execute(engine, "UPDATE source SET retired_us = 1 WHERE id = (SELECT max(id) FROM source)")
    execute(
        engine,
        "INSERT INTO release (server_id, version, at_us, source) "
        "SELECT id, '1', 0, 'rest' FROM server WHERE name = 'shop'",
    )
    for label in ("first", "second", "third"):
        undo(engine, label)
    assert query(engine, "SELECT name FROM server ORDER BY 1") == [("main",), ("shop",)]
    assert query(
        engine, "SELECT s.name FROM source AS c JOIN server AS s ON s.id = c.server_id"
    ) == [("main",)]


def test_a_batch_is_taken_back_once(engine: Engine) -> None:
    """Then its number is nobody's, so that asking twice cannot meet another batch."""
    store(engine, [row(1)], label="first")
    store(engine, [row(2)], label="second")
    number = undo(engine, "second").batch
    store(engine, [row(3)], label="third")
    assert number_of(engine, "third") > number
    with (
        writing(engine) as conn,
        pytest.raises(NotFound, match="taken back already, on 2026-10-05T12"),
    ):
        undoing.undo(driver_of(conn), number, NOON, actor="rest")
    with writing(engine) as conn, pytest.raises(NotFound, match="no batch 99; `lastcall db stats`"):
        undoing.undo(driver_of(conn), 99, NOON, actor="rest")


def test_a_batch_can_be_taken_back_for_30_days(engine: Engine) -> None:
    """A moment later it is refused, and nothing is changed."""
    store(engine, [row(1)], label="first")
    with pytest.raises(TooLate, match="began on 2026-10-05T12:00:00Z, more than 30 days ago"):
        undo(engine, "first", NOON + 30 * DAY + 1)
    assert len(query(engine, OWNERS)) == 1
    undo(engine, "first", NOON + 30 * DAY)
    assert query(engine, OWNERS) == []


def test_what_was_taken_back_can_come_again(engine: Engine) -> None:
    """As new, in a batch of its own; what is sent again without a time is of the time it comes again."""
    lines = [row(1, NOON), row(2, NOON + SECOND, arrival=True)]
    store(engine, lines, label="first")
    undo(engine, "first")
    assert store(engine, [lines[0], row(2, NOON + DAY, arrival=True)], label="first").accepted == 2
    assert query(engine, "SELECT key, time_us FROM event ORDER BY 1") == [
        (1, NOON),
        (2, NOON + DAY),
    ]


def test_ids_of_a_carrier_still_tell_equal_records_apart(engine: Engine) -> None:
    """Of two equal records in two batches the first is taken back: the second stays one event however
    often it comes, and the first, come again, is an event again."""

    def named(native_id: int, label: str) -> int:
        natives = [Native(0, native_id, lambda ordinal: 100 + ordinal)]
        return store(engine, [row(100)], natives=natives, label=label).accepted

    assert [named(7, "first"), named(8, "second")] == [1, 1]
    undo(engine, "first")
    assert [named(8, "third"), named(7, "third"), named(7, "third")] == [0, 1, 0]
    for label in ("second", "third"):
        undo(engine, label)
    assert query(engine, "SELECT * FROM native") == query(engine, "SELECT * FROM event") == []


def test_a_line_that_another_stood_for_counts_again(engine: Engine) -> None:
    """The call of an access log, once the log with the stale calls is taken back."""
    same: dict[str, Any] = {"session": "s", "request_id": "7", "client": "zed"}
    store(engine, [row(1, NOON, Kind.CALL, **same)], label="access")
    store(engine, [row(2, NOON + DAY, **same)], label="application")
    undo(engine, "application")
    assert query(engine, "SELECT key, counted FROM event") == [(1, 1)]
    assert query(engine, "SELECT kind, calls, first_us FROM call_day") == [(3, 1, NOON)]
    assert differences(engine) == []


def test_a_session_is_nobodys_again_without_its_hello(engine: Engine) -> None:
    """Its calls on other days than the hello's are unattributed then, also in the roll-ups."""
    store(engine, [row(1, NOON, session="s"), row(2, NOON + 3 * DAY, session="s")], label="calls")
    hello = row(3, NOON + 2 * DAY, Kind.HELLO, session="s", client="zed")
    store(engine, [hello], label="hello")
    undo(engine, "hello")
    assert query(engine, "SELECT day - 20731, client_id FROM call_day ORDER BY 1") == [
        (0, 0),
        (3, 0),
    ]
    assert query(engine, "SELECT hello_us, named_us, unnamed FROM session") == [(None, None, 2)]
    assert differences(engine) == []


def test_days_between_those_of_the_batch_stay_as_they_are(engine: Engine) -> None:
    """Each cell is computed once, whatever lies between."""
    store(engine, [row(1, NOON - DAY), row(2, NOON + DAY)], label="around")
    store(engine, [row(3, NOON), row(4, NOON + DAY)], label="between")
    undo(engine, "around")
    assert query(engine, "SELECT day - 20731, calls FROM call_day ORDER BY 1") == [(0, 1), (1, 1)]
    assert differences(engine) == []


def test_a_name_stays_as_long_as_any_line_has_it(engine: Engine) -> None:
    """Also where that line is one for which another of its call stands."""
    same: dict[str, Any] = {"session": "s", "request_id": "7"}
    store(engine, [row(1, client="zed", version="1", tool="a")], label="first")
    store(engine, [row(2, NOON, Kind.CALL, client="zed", version="1", **same)], label="access")
    store(engine, [row(3, NOON, client="Cursor", version="2", **same)], label="application")
    undo(engine, "first")
    assert query(engine, "SELECT raw FROM client ORDER BY 1") == [("Cursor",), ("zed",)]
    assert query(engine, "SELECT name FROM version ORDER BY 1") == [("1",), ("2",)]
    assert query(engine, "SELECT name FROM tool") == [("old_tool",)]
    assert differences(engine) == []


def test_names_beyond_a_number_stay_where_nothing_shows_them(engine: Engine) -> None:
    """Of 250 clients that only this batch named, 200 go."""
    store(engine, [row(n, client=f"client {n}") for n in range(250)], label="strange")
    store(engine, [row(1_000, client="zed")], label="other")
    undo(engine, "strange")
    assert query(engine, "SELECT count(*) FROM client") == [(51,)]
    assert differences(engine) == []


@st.composite
def worlds(draw: st.DrawFn) -> list[tuple[str, list[list[Row]]]]:
    """Up to four batches, each of one to three portions of the same rows."""
    rows = draw(some_rows())
    one = st.lists(st.sampled_from(rows), max_size=8)
    return [(label, draw(st.lists(one, min_size=1, max_size=3))) for label in "abcd"]


def fill(engine: Engine, world: Sequence[tuple[str, list[list[Row]]]]) -> None:
    wipe(engine)
    for label, portions in world:
        for rows in portions:
            hours = {each[0] // 3_600_000_000: 1 for each in rows}
            store(engine, rows, label=label, hours=hours, ignored=1)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), world=worlds())
def test_undone_in_any_order_is_as_if_never_come(
    two_engines: tuple[Engine, Engine],
    data: st.DataObject,
    world: list[tuple[str, list[list[Row]]]],
) -> None:
    """Rows, sessions, roll-ups, names, accounts, hours, owners and notes are those of a database that got
    the other batches alone; and a rebuild has nothing to mend."""
    undone, never = two_engines
    gone = data.draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4), label="gone")
    fill(undone, world)
    for label in gone:
        undo(undone, label)
    fill(never, [each for each in world if each[0] not in gone])

    for said in (ACCOUNTS, HEARD, OWNERS, NOTED):
        assert query(undone, said) == query(never, said)
    assert_alike(undone, never)
