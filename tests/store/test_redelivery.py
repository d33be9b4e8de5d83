"""Which batches delivered an event again: noted, kept as long as it is needed, and no longer."""

from service.store.engine import Engine
from tests.store.support import DAY, NOON, SECOND, query, row, store

NOTED = """
SELECT b.label, r.key FROM redelivery AS r JOIN batch AS b ON b.id = r.batch_id ORDER BY 1, 2
"""


def test_a_batch_that_brings_what_another_brought_is_noted(engine: Engine) -> None:
    """Once, however often it brings it; what is new, or is the batch's own, leaves no note."""
    store(engine, [row(1), row(2)], label="first")
    store(engine, [row(2), row(2)], label="first")
    for _ in range(2):
        store(engine, [row(2), row(2), row(3)], label="second")
    store(engine, [row(1), row(2), row(3)], label="third")
    assert query(engine, NOTED) == [("second", 2), ("third", 1), ("third", 2), ("third", 3)]


def test_thousands_are_noted_in_whatever_order_they_come(engine: Engine) -> None:
    """Of 3,000 that come again, the second half first and then all of them, each is noted once."""
    rows = [row(key, NOON + key * SECOND) for key in range(3_000)]
    store(engine, rows, label="first")
    store(engine, rows[1_500:], label="second")
    store(engine, reversed(rows), label="second")
    assert query(engine, "SELECT count(*), min(key), max(key) FROM redelivery") == [
        (3_000, 0, 2_999)
    ]


def test_what_can_no_longer_be_taken_back_needs_no_note(engine: Engine) -> None:
    """30 days after a batch began, what comes again of it is not noted; a moment before, it is."""
    store(engine, [row(1)], label="old")
    store(engine, [row(1)], label="in time", arrived_us=NOON + 30 * DAY)
    store(engine, [row(1)], label="late", arrived_us=NOON + 30 * DAY + 1)
    assert query(engine, NOTED) == [("in time", 1)]


def test_notes_go_when_neither_batch_can_be_taken_back(engine: Engine) -> None:
    """That of an old batch stays while the event belongs to a younger one, as where a stream that has
    run for weeks brings what a new file brought; all go as soon as a batch begins after that."""
    later = NOON + 20 * DAY
    store(engine, [row(1)], label="stream")
    store(engine, [row(2)], label="file", arrived_us=later)
    store(engine, [row(1)], label="file", arrived_us=later)
    store(engine, [row(2)], label="stream")
    store(engine, [row(3)], label="next", arrived_us=NOON + 31 * DAY)
    assert query(engine, NOTED) == [("file", 1), ("stream", 2)]
    store(engine, [row(4)], label="last", arrived_us=later + 31 * DAY)
    assert query(engine, NOTED) == []
