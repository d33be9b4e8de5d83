"""A row whose (time, key) is stored already counts for nothing, whatever else it says."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.events import Caller, CallerLevel, Fact, Kind, Outcome, Row
from service.store.engine import Engine
from tests.store.rows import some_rows
from tests.store.support import (
    MINUTE,
    NOON,
    SECOND,
    again,
    contents,
    differences,
    query,
    rich_rows,
    row,
    store,
    wipe,
)

OTHERWISE: list[dict[str, Any]] = [
    {"client": "Newcomer", "version": "9"},
    {"client": None},
    {"tool": "a_tool"},
    {"session": "s0"},
    {"session": "s1"},
    {"session": "s1", "request_id": "7"},
    {"request_id": "8"},
    {"server": "another"},
    {"kind": Kind.HELLO, "client": "Newcomer"},
    {"kind": Kind.STALE_CALL, "session": "s1", "request_id": "7"},
    {"caller": Caller(level=CallerLevel.ADDRESS, digest="ab", network="n0")},
    {"caller": Caller(level=CallerLevel.PRINCIPAL, digest="new")},
    {"fact": Fact(last_release="0", replaced_by=None, message=None)},
    {"outcome": Outcome.SUCCEEDED, "trigger": "t", "protocol_version": "p", "ttl_ms": 1, "ns": 7},
]


def test_a_duplicate_with_another_request_id_silences_no_call(engine: Engine) -> None:
    """The key of some profiles leaves the request id out. Sent again under the id of a later call,
    the first line does not stand for that call: both count, as they did."""
    given: dict[str, Any] = {"session": "s", "kind": Kind.CALL}
    first = row(1, NOON, request_id="7", **given)
    store(engine, [first, row(2, NOON + SECOND, request_id="8", **given)])

    store(engine, [again(first, request_id="8")])

    assert query(engine, "SELECT key, counted FROM event ORDER BY key") == [(1, 1), (2, 1)]
    assert differences(engine) == []


def test_a_duplicate_does_not_silence_a_new_line(engine: Engine) -> None:
    """Nor does it when both come in one portion."""
    given: dict[str, Any] = {"session": "s", "kind": Kind.CALL}
    first = row(1, NOON, request_id="7", **given)
    store(engine, [first])
    store(engine, [again(first, request_id="8"), row(2, NOON + SECOND, request_id="8", **given)])
    assert query(engine, "SELECT key, counted FROM event ORDER BY key") == [(1, 1), (2, 1)]
    assert differences(engine) == []


@pytest.mark.parametrize("said", OTHERWISE, ids=str)
def test_a_duplicate_that_says_something_else_leaves_no_trace(
    engine: Engine, said: dict[str, Any]
) -> None:
    """No client, tool, session, caller or fact of its own, and every number as it was."""
    rows = rich_rows()
    store(engine, rows)
    before = contents(engine)

    resent = store(engine, [again(line, **said) for line in rows])

    assert (resent.accepted, resent.duplicates) == (0, len(rows))
    assert contents(engine) == before
    assert differences(engine) == []


def test_of_two_in_one_portion_the_first_is_stored(engine: Engine) -> None:
    """The second, though none of it was stored before, is a duplicate like any other."""
    first = row(1, client="Zed", session="s")
    store(engine, [first, again(first, client="Newcomer", session="t")])
    assert query(engine, "SELECT raw FROM client") == [("Zed",)]
    assert query(engine, "SELECT digest FROM session") == [("s",)]
    assert differences(engine) == []


@st.composite
def otherwise(draw: st.DrawFn, rows: list[Row]) -> list[Row]:
    """Some of *rows* again, with fields that are drawn anew; time and key stay."""
    chosen = draw(st.lists(st.sampled_from(rows), max_size=6))
    return [again(line, **draw(st.sampled_from(OTHERWISE))) for line in chosen]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), rows=some_rows())
def test_new_rows_and_duplicates_in_one_portion_leave_what_the_new_ones_leave(
    two_engines: tuple[Engine, Engine], data: st.DataObject, rows: list[Row]
) -> None:
    """Whatever the duplicates say, the database is that of the new rows alone."""
    border = data.draw(st.integers(1, len(rows)), label="border")
    stored, new = rows[:border], rows[border:]
    mixed = data.draw(st.permutations(new + data.draw(otherwise(stored))), label="mixed")
    alone, beside = two_engines
    for engine, portions in ((alone, (stored, new)), (beside, (stored, mixed))):
        wipe(engine)
        for part in portions:
            store(engine, part)
    assert contents(beside) == contents(alone)
    assert differences(beside) == []


def test_a_hello_sent_again_under_another_session_opens_none(engine: Engine) -> None:
    """The unnamed call of that session stays unattributed."""
    hello = row(1, NOON, Kind.HELLO, session="s", client="Zed")
    store(engine, [hello, row(2, NOON + MINUTE, session="t")])
    store(engine, [again(hello, session="t"), again(hello, session="u")])
    assert query(engine, "SELECT digest, hello_client_id FROM session WHERE digest <> 's'") == [
        ("t", None)
    ]
    assert differences(engine) == []


@pytest.mark.parametrize("step", [0, 1, SECOND], ids=["one instant", "1 µs", "1 s"])
def test_of_many_rows_each_is_stored_once(engine: Engine, step: int) -> None:
    """3,000 rows of which 1,000 are stored already and 500 come twice, in no order, whether they
    share an instant or not."""
    rows = [row(key, NOON + key // 5 * step, session=f"s{key % 9}") for key in range(3_000)]
    assert store(engine, rows[1_000:2_000]).accepted == 1_000
    given = rows + rows[:500]
    random.Random(7).shuffle(given)

    stored = store(engine, given)

    assert (stored.accepted, stored.duplicates) == (2_000, 1_500)
    assert query(engine, "SELECT count(*) FROM event") == [(3_000,)]
    assert query(engine, "SELECT sum(calls) FROM call_day") == [(3_000,)]
    assert differences(engine) == []


def test_rows_of_several_servers_may_come_together(new_engine: Callable[[], Engine]) -> None:
    """What a portion of three servers leaves is what three portions of one server leave."""
    rows = [
        row(
            key,
            NOON + key * SECOND,
            Kind.HELLO if key % 50 == 49 else Kind.CALL,
            server=f"server {key % 3}",
            session=f"s{key % 4}",
            request_id=str(key // 20),
            client=f"client {key % 4}" if key % 50 == 49 else None,
            tool=None if key % 50 == 49 else "a_tool",
        )
        for key in range(2_000)
    ]
    together, apart = new_engine(), new_engine()
    store(together, rows[:1_000])
    store(together, rows[1_000:])
    for number in range(3):
        store(apart, rows[number::3])
    assert contents(together) == contents(apart)
    assert differences(together) == []


def test_subjects_may_be_as_many_as_rows(engine: Engine) -> None:
    """Each of 1,500 rows has a caller, a version and a time to live of its own."""
    rows = [
        row(
            key,
            NOON + key,
            Kind.LISTING if key % 2 else Kind.CALL,
            caller=Caller(level=CallerLevel.ADDRESS, digest=f"{key:x}", network=f"n{key % 10}"),
            version=str(key),
            ttl_ms=key,
        )
        for key in range(1_500)
    ]
    assert store(engine, rows).accepted == 1_500
    assert query(
        engine,
        "SELECT count(*) FROM event AS e JOIN caller AS c ON c.id = e.caller_id "
        "JOIN version AS v ON v.id = e.version_id "
        "JOIN event_extra AS x ON x.time_us = e.time_us AND x.key = e.key "
        "WHERE CAST(v.name AS INTEGER) = e.key AND x.ttl_ms = e.key",
    ) == [(1_500,)]
    assert differences(engine) == []
