"""A row whose (time, key) is stored already counts for nothing, whatever else it says."""

from dataclasses import replace
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

    store(engine, [replace(first, request_id="8")])

    assert query(engine, "SELECT key, counted FROM event ORDER BY key") == [(1, 1), (2, 1)]
    assert differences(engine) == []


def test_a_duplicate_does_not_silence_a_new_line(engine: Engine) -> None:
    """Nor does it when both come in one portion."""
    given: dict[str, Any] = {"session": "s", "kind": Kind.CALL}
    first = row(1, NOON, request_id="7", **given)
    store(engine, [first])
    store(engine, [replace(first, request_id="8"), row(2, NOON + SECOND, request_id="8", **given)])
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

    again = store(engine, [replace(line, **said) for line in rows])

    assert (again.accepted, again.duplicates) == (0, len(rows))
    assert contents(engine) == before
    assert differences(engine) == []


def test_of_two_in_one_portion_the_first_is_stored(engine: Engine) -> None:
    """The second, though none of it was stored before, is a duplicate like any other."""
    first = row(1, client="Zed", session="s")
    store(engine, [first, replace(first, client="Newcomer", session="t", time_us=NOON)])
    assert query(engine, "SELECT raw FROM client") == [("Zed",)]
    assert query(engine, "SELECT digest FROM session") == [("s",)]
    assert differences(engine) == []


@st.composite
def otherwise(draw: st.DrawFn, rows: list[Row]) -> list[Row]:
    """Some of *rows* again, with fields that are drawn anew; time and key stay."""
    chosen = draw(st.lists(st.sampled_from(rows), max_size=6))
    return [replace(line, **draw(st.sampled_from(OTHERWISE))) for line in chosen]


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
    store(engine, [replace(hello, session="t"), replace(hello, session="u")])
    assert query(engine, "SELECT digest, hello_client_id FROM session WHERE digest <> 's'") == [
        ("t", None)
    ]
    assert differences(engine) == []
