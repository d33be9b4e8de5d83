"""Sessions, calls on several lines, roll-ups: what follows from rows, in whatever order they come."""

from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.events import Kind, Row
from service.store.engine import Engine
from tests.store.rows import some_rows
from tests.store.support import (
    ACTIVITY,
    CALL_DAYS,
    DAY,
    MINUTE,
    NOON,
    NOON_DAY,
    NOON_QUARTER,
    SECOND,
    SESSIONS,
    contents,
    differences,
    query,
    rebuild,
    row,
    store,
    wipe,
)


def test_a_late_hello_names_the_client_of_earlier_lines(engine: Engine) -> None:
    """Two unnamed calls move from nobody to Zed when their session's hello arrives; a third, of
    another session, stays, and becomes the first and last of its cell."""
    store(
        engine,
        [
            row(1, NOON, session="s1"),
            row(2, NOON + 2 * SECOND, session="s1"),
            row(3, NOON + SECOND, session="s2"),
        ],
    )
    assert query(engine, CALL_DAYS) == [
        ("main", "old_tool", None, 1, NOON_DAY, 3, NOON, NOON + 2 * SECOND)
    ]

    store(engine, [row(4, NOON + MINUTE, Kind.HELLO, session="s1", client="Zed", version="2")])

    assert query(engine, CALL_DAYS) == [
        ("main", "old_tool", None, 1, NOON_DAY, 1, NOON + SECOND, NOON + SECOND),
        ("main", "old_tool", "Zed", 1, NOON_DAY, 2, NOON, NOON + 2 * SECOND),
    ]
    assert query(engine, ACTIVITY) == [
        ("main", None, 1, NOON_QUARTER, 1),
        ("main", "Zed", 1, NOON_QUARTER, 2),
        ("main", "Zed", 6, NOON_QUARTER, 1),
    ]
    at = NOON + MINUTE
    assert query(engine, SESSIONS) == [
        ("main", "s1", at, "Zed", "2", at, "Zed", NOON, at, 2),
        ("main", "s2", None, None, None, None, None, NOON + SECOND, NOON + SECOND, 1),
    ]


def test_a_line_that_comes_with_the_hello_was_never_anybody_elses(engine: Engine) -> None:
    """Of the three unattributed calls stored before, only that of the session moves; the new call
    of the session is counted for Zed alone."""
    store(engine, [row(1, NOON, session="s"), row(2, NOON + SECOND), row(3, NOON + SECOND)])
    hello = row(5, NOON + MINUTE, Kind.HELLO, session="s", client="Zed")
    store(engine, [row(4, NOON + 2 * SECOND, session="s"), hello])
    assert query(engine, CALL_DAYS) == [
        ("main", "old_tool", None, 1, NOON_DAY, 2, NOON + SECOND, NOON + SECOND),
        ("main", "old_tool", "Zed", 1, NOON_DAY, 2, NOON, NOON + 2 * SECOND),
    ]
    assert differences(engine) == []


def test_a_still_earlier_hello_of_another_client_moves_them_again(engine: Engine) -> None:
    """The earliest hello counts, also over days and when the emptied cell goes for good."""
    store(engine, [row(1, NOON, session="s"), row(2, NOON + DAY, session="s")])
    store(engine, [row(3, NOON + MINUTE, Kind.HELLO, session="s", client="Zed")])
    store(engine, [row(4, NOON - MINUTE, Kind.HELLO, session="s", client="Cursor")])
    assert query(engine, CALL_DAYS) == [
        ("main", "old_tool", "Cursor", 1, NOON_DAY, 1, NOON, NOON),
        ("main", "old_tool", "Cursor", 1, NOON_DAY + 1, 1, NOON + DAY, NOON + DAY),
    ]


def test_a_session_belongs_to_its_server(engine: Engine) -> None:
    """A hello on one server says nothing about the same session id on another."""
    store(engine, [row(1, session="s"), row(2, server="other", session="s")])
    store(engine, [row(3, NOON, Kind.HELLO, session="s", client="Zed")])
    assert [found[:3] for found in query(engine, CALL_DAYS)] == [
        ("main", "old_tool", "Zed"),
        ("other", "old_tool", None),
    ]


def test_of_two_hellos_in_one_instant_the_least_text_counts(engine: Engine) -> None:
    """And of one client's two versions in one instant, the least; none comes last."""
    store(
        engine,
        [
            row(1, NOON, Kind.HELLO, session="s", client="Zed", version="1"),
            row(2, NOON, Kind.HELLO, session="s", client="Cursor"),
            row(3, NOON, Kind.HELLO, session="s", client="Cursor", version="b"),
            row(4, NOON, Kind.HELLO, session="s", client="Cursor", version="a"),
        ],
    )
    assert query(engine, SESSIONS)[0][2:5] == (NOON, "Cursor", "a")


def test_a_client_named_in_another_line_is_noted_but_not_read_in_its_place(engine: Engine) -> None:
    """Only a hello speaks for a session: the unnamed call beside a named one stays unattributed."""
    store(engine, [row(1, NOON, session="s"), row(2, NOON - SECOND, session="s", client="Zed")])
    assert query(engine, SESSIONS)[0][2:7] == (None, None, None, NOON - SECOND, "Zed")
    assert [found[2] for found in query(engine, CALL_DAYS)] == [None, "Zed"]


LINES = [
    row(1, NOON, Kind.CALL, session="s", request_id="7"),
    row(2, NOON + SECOND, Kind.UNKNOWN_CALL, session="s", request_id="7", client="Zed"),
    row(3, NOON + 2 * SECOND, Kind.STALE_CALL, session="s", request_id="7"),
]


@pytest.mark.parametrize("order", list(permutations(LINES)))
def test_lines_of_one_call_count_once(engine: Engine, order: tuple[Row, ...]) -> None:
    """The stale call stands for the unknown call and the call, in whatever order they arrive."""
    for line in order:
        store(engine, [line])
    assert query(engine, "SELECT key, counted FROM event ORDER BY key") == [(1, 0), (2, 0), (3, 1)]
    at = NOON + 2 * SECOND
    assert query(engine, CALL_DAYS) == [("main", "old_tool", None, 1, NOON_DAY, 1, at, at)]
    assert query(engine, ACTIVITY) == [("main", None, 1, NOON_QUARTER, 1)]
    assert differences(engine) == []


def test_of_two_equal_kinds_the_earlier_line_counts(engine: Engine) -> None:
    """Then the least text of client and version, none last."""
    given: dict[str, Any] = {"session": "s", "request_id": "7"}
    store(engine, [row(1, NOON + SECOND, client="A", **given)])
    store(engine, [row(2, NOON, **given), row(3, NOON, client="Zed", **given)])
    store(engine, [row(4, NOON, client="Cursor", **given)])
    store(engine, [row(5, NOON, client="Cursor", version="1", **given)])
    assert query(engine, "SELECT key FROM event WHERE counted = 1") == [(5,)]
    assert [found[1:] for found in query(engine, CALL_DAYS)] == [
        ("old_tool", "Cursor", 1, NOON_DAY, 1, NOON, NOON)
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"request_id": "8"},
        {"session": "t"},
        {"session": None},
        {"request_id": None},
        {"server": "other"},
        {"tool": "a_tool"},
    ],
    ids=str,
)
def test_calls_differ_by_server_session_request_or_tool(
    engine: Engine, other: dict[str, str | None]
) -> None:
    """What does not have all four in common is a call of its own: a session may use a request id
    again."""
    same: dict[str, Any] = {"session": "s", "request_id": "7"}
    store(engine, [row(1, **same), row(2, **{**same, **other})])
    assert query(engine, "SELECT sum(counted) FROM event") == [(2,)]


def test_a_listing_and_a_call_with_one_request_id_both_count(engine: Engine) -> None:
    """Only lines of calls stand for each other."""
    same: dict[str, Any] = {"session": "s", "request_id": "7"}
    store(engine, [row(1, **same), row(2, NOON, Kind.LISTING, **same)])
    assert query(engine, "SELECT sum(counted) FROM event") == [(2,)]


NUMBERED: dict[str, Callable[[int], str]] = {
    "one after the other": str,
    "downwards": lambda n: str(10_000 - n),
    "far apart": lambda n: str(n * 5_000),
    "by text": lambda n: f"request {n}",
    "in turns": lambda n: str(n ^ 1),
}


@pytest.mark.parametrize("number", NUMBERED.values(), ids=NUMBERED)
def test_of_two_logs_of_the_same_calls_one_counts(
    engine: Engine, number: Callable[[int], str]
) -> None:
    """1,500 calls in 25 sessions, told by an access log as calls and by another as stale calls, which
    arrive a third at a time, the one before or after the other. However the clients number their
    requests, every stale call counts and none of the calls does."""
    access, application = (
        [
            row(
                1_000_000 * kind + n,
                NOON + n * SECOND + kind,
                kind,
                session=f"s{n % 25}",
                request_id=number(n // 25),
                client="zed" if n % 3 else None,
            )
            for n in range(1_500)
        ]
        for kind in (Kind.CALL, Kind.STALE_CALL)
    )
    for first, second in ((access, application), (application, access)):
        wipe(engine)
        for start in range(0, 1_500, 500):
            store(engine, first[start : start + 500])
        for start in (1_000, 0, 500):
            store(engine, second[start : start + 500] + first[:7])
        assert query(engine, "SELECT kind, sum(counted) FROM event GROUP BY kind ORDER BY 1") == [
            (1, 1_500),
            (3, 0),
        ]
        assert query(engine, "SELECT sum(calls) FROM call_day") == [(1_500,)]
        assert differences(engine) == []


def test_both_logs_of_the_same_calls_may_come_in_one_portion(engine: Engine) -> None:
    """Of 1,200 calls told twice in one go, each counts once, by its earlier line."""
    rows = [
        row(key, NOON + key, Kind.CALL, session=f"s{n % 7}", request_id=str(n), client="zed")
        for n in range(1_200)
        for key in (n, 50_000 + n)
    ]
    store(engine, rows)
    assert query(engine, "SELECT count(*), max(key) FROM event WHERE counted = 1") == [
        (1_200, 1_199)
    ]
    assert query(engine, "SELECT sum(events) FROM activity") == [(1_200,)]
    assert differences(engine) == []


def test_a_call_that_names_its_request_again_counts_again_for_another_tool(engine: Engine) -> None:
    """Also where the lines are stored one after the other: each tool has a call of its own."""
    given: dict[str, Any] = {"session": "s", "request_id": "7"}
    for key, tool in enumerate(["a", "b", "a", "b", "c"]):
        store(engine, [row(key, NOON + key, tool=tool, **given)])
    assert query(engine, "SELECT key FROM event WHERE counted = 1 ORDER BY key") == [
        (0,),
        (1,),
        (4,),
    ]
    assert differences(engine) == []


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), rows=some_rows())
def test_no_order_split_or_resend_changes_what_is_stored(
    two_engines: tuple[Engine, Engine], data: st.DataObject, rows: list[Row]
) -> None:
    """Some rows twice, shuffled and cut anywhere, leave what one portion in order leaves; and a
    rebuild has nothing to mend in either."""
    again = data.draw(st.lists(st.sampled_from(rows), max_size=5), label="again")
    shuffled = data.draw(st.permutations(rows + again), label="shuffled")
    borders = data.draw(st.sets(st.integers(0, len(shuffled)), max_size=6), label="borders")
    whole, pieces = two_engines
    wipe(whole)
    wipe(pieces)
    store(whole, rows)
    for start, end in pairwise([0, *sorted(borders), len(shuffled)]):
        store(pieces, shuffled[start:end])

    assert contents(pieces) == contents(whole)
    assert differences(pieces) == []
    assert rebuild(pieces) == 0
