"""`db check` names what does not follow from the rows, `db rebuild` mends it."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from service.events import Kind
from service.store.engine import Engine
from tests.store.support import (
    DAY,
    NOON,
    SECOND,
    contents,
    differences,
    execute,
    rebuild,
    rich_rows,
    row,
    store,
)


@pytest.mark.parametrize(
    ("tampering", "said"),
    [
        (
            "UPDATE call_day SET calls = calls + 2 WHERE kind = 2",
            (
                "call_day: server main, client Cursor, unknown_call, tool old_tool, day 2026-10-05: "
                "3 calls, the rows say 1"
            ),
        ),
        (
            "UPDATE call_day SET first_us = first_us - 1000000 WHERE kind = 2",
            (
                "call_day: server main, client Cursor, unknown_call, tool old_tool, day 2026-10-05: "
                "from 2026-10-05T12:00:01.000000Z to 2026-10-05T12:00:02.000000Z, the rows say "
                "from 2026-10-05T12:00:02.000000Z to 2026-10-05T12:00:02.000000Z"
            ),
        ),
        (
            "DELETE FROM activity WHERE kind = 4",
            (
                "activity: server other, unattributed, notification, "
                "quarter-hour 2026-10-06T12:00:00.000000Z: 0 events, the rows say 1"
            ),
        ),
        (
            "UPDATE session SET unnamed = 9 WHERE digest = 's2'",
            "session s2 of server main: unnamed is 9, the rows say 1",
        ),
        (
            "UPDATE client SET via = NULL WHERE raw LIKE 'Claude%'",
            "client 'Claude-AI (via mcp-remote 1)': via is None, its spelling says 'mcp-remote'",
        ),
        (
            "UPDATE event SET counted = 0 WHERE key = 8",
            (
                "event at 2026-10-06T12:00:00.000000Z with key 8: "
                "counted is 0, the lines of its call say 1"
            ),
        ),
    ],
    ids=["calls", "first", "events", "session", "client", "counted"],
)
def test_an_altered_cell_is_named_and_mended(engine: Engine, tampering: str, said: str) -> None:
    """`db check` says which, with both numbers; `db rebuild` puts it right."""
    rows = [line for line in rich_rows() if line[1] != 4]
    rows[2] = row(3, NOON + 2 * SECOND, Kind.UNKNOWN_CALL, client="Cursor")
    store(engine, rows)
    before = contents(engine)
    assert differences(engine) == []

    execute(engine, tampering)

    assert said in differences(engine)
    assert rebuild(engine) > 0
    assert contents(engine) == before
    assert rebuild(engine) == 0


def test_an_id_that_points_nowhere_is_named(engine: Engine) -> None:
    """Events carry no foreign keys: the check follows each of their ids."""
    store(engine, rich_rows())
    execute(engine, "UPDATE event SET tool_id = 99 WHERE key = 8")
    execute(engine, "DELETE FROM event WHERE key = 9")
    found = differences(engine)
    assert "event: 1 rows point to a tool that does not exist" in found
    assert "event_extra: 1 rows belong to no event" in found
    assert any("tool number 99, which does not exist" in line for line in found)


def test_ids_of_carriers_without_their_event_are_named(engine: Engine) -> None:
    """An id tells equal records apart, the first of which is always stored."""
    store(engine, [row(1), row(2)])
    named = "INSERT INTO native (time_us, key, native_id, ordinal) VALUES ({}, {}, {}, {})"
    for time_us, key, native_id, ordinal in [(NOON, 1, 7, 0), (NOON, 1, 8, 1), (NOON, 2, 7, 0)]:
        execute(engine, named.format(time_us, key, native_id, ordinal))
    assert differences(engine) == []
    for time_us, key, native_id in [(NOON, 3, 7), (NOON + 1, 1, 7)]:
        execute(engine, named.format(time_us, key, native_id, 0))
    assert differences(engine) == ["native: 2 rows belong to no event"]


def test_of_many_differences_a_hundred_are_told_and_all_counted(engine: Engine) -> None:
    """150 wrong cells are a hundred sentences and the number of the others."""
    store(engine, [row(key, NOON + key * DAY) for key in range(150)])
    execute(engine, "UPDATE call_day SET calls = 2")
    found = differences(engine)
    assert len(found) == 101
    assert found[-1] == "… and 50 more"


def test_a_session_without_a_row_is_named_and_goes(engine: Engine) -> None:
    """Nothing but a row makes a session."""
    store(engine, rich_rows())
    before = contents(engine)
    execute(
        engine,
        "INSERT INTO session (server_id, digest, first_us, last_us, unnamed) "
        "SELECT id, 'stray', 1, 1, 0 FROM server WHERE name = 'main'",
    )
    assert differences(engine) == ["session: 1 rows have no event"]
    assert rebuild(engine) == 1
    assert contents(engine) == before


def test_many_rows_are_checked_in_little_memory(engine: Engine, database: str) -> None:
    """50,000 rows, each of them wrong: a list of them would take some 10 MB, the check takes less
    than 2. On PostgreSQL the answer itself stays with the server as well."""
    many = 50_000
    kinds = (Kind.CALL, Kind.STALE_CALL, Kind.LISTING, Kind.HELLO)
    rows = [
        row(
            key,
            NOON + key * SECOND,
            kinds[key % 4],
            client=None if key % 3 else f"client {key % 50}",
            session=f"s{key // 40}",
            request_id=f"{key // 8}",
        )
        for key in range(many)
    ]
    for start in range(0, many, 10_000):
        store(engine, rows[start : start + 10_000])
    assert differences(engine) == []
    execute(engine, "UPDATE event SET counted = 1 - counted")
    with _measured() as taken, _server_side(engine) as streamed:
        found = differences(engine)
    assert len(found) == 101
    assert int(found[-1].split()[2]) >= many - 100
    assert taken[0] < 2_000_000
    if database == "postgresql":
        assert any("COUNTED" in sql.upper() for sql in streamed)


@contextmanager
def _measured() -> Iterator[list[int]]:
    """Greatest number of bytes that Python takes meanwhile."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
        peak.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


@contextmanager
def _server_side(engine: Engine) -> Iterator[list[str]]:
    """Queries whose rows stay with the server until they are asked for."""
    seen: list[str] = []

    def note(_conn: object, cursor: object, statement: str, *_: object) -> None:
        if getattr(cursor, "name", None):
            seen.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)
