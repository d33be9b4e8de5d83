"""The account of what arrived: records by fate, hours heard, and the quarantine."""

from service.events import Kind, Quarantined, Reason, Rejected
from service.store import tallies
from service.store.engine import Engine, driver_of, writing
from tests.store.support import DAY, NOON, NOON_DAY, SECOND, query, row, store

TALLIES = "SELECT day, fate, reason, records FROM tally ORDER BY 1, 2, 3"


def _rejects(count: int, first: int = 0) -> list[Quarantined]:
    rejected = Rejected(reason=Reason.MISSING_TOOL, excerpt="{}\0")
    return [Quarantined(position=first + n, rejected=rejected) for n in range(count)]


def test_every_record_has_one_fate(engine: Engine) -> None:
    """Two new rows, one of them sent twice in the same portion, two ignored and one rejected."""
    stored = store(engine, [row(1), row(2), row(1)], ignored=2, rejected=_rejects(1))

    assert (stored.accepted, stored.duplicates) == (2, 1)
    assert stored.events == {Kind.STALE_CALL: 2}
    assert query(engine, TALLIES) == [
        (NOON_DAY, "accepted", "", 2),
        (NOON_DAY, "duplicate", "", 1),
        (NOON_DAY, "ignored", "", 2),
        (NOON_DAY, "rejected", "missing_tool", 1),
    ]


def test_fates_are_counted_under_the_day_of_arrival(engine: Engine) -> None:
    """An old line that arrives today belongs to today; the next day begins a row of its own."""
    store(engine, [row(1, NOON - 30 * DAY)])
    store(engine, [row(1, NOON - 30 * DAY)], arrived_us=NOON + DAY)
    assert query(engine, TALLIES) == [
        (NOON_DAY, "accepted", "", 1),
        (NOON_DAY + 1, "duplicate", "", 1),
    ]


def test_hours_heard_are_added_up(engine: Engine) -> None:
    """The ledger holds a source's lines by hour and batch."""
    store(engine, hours={10: 3, 11: 1})
    store(engine, hours={10: 2})
    store(engine, hours={10: 7}, label="next")
    assert query(engine, "SELECT hour, lines FROM ledger ORDER BY 1, 2") == [
        (10, 5),
        (10, 7),
        (11, 1),
    ]


def test_the_quarantine_holds_ten_thousand_of_a_batch_and_counts_all(engine: Engine) -> None:
    """What finds no room is counted all the same; another batch has room of its own."""
    store(engine, rejected=_rejects(9_999))
    store(engine, rejected=_rejects(3, first=9_999))
    store(engine, rejected=_rejects(1), label="next")
    assert query(engine, "SELECT count(*), max(position) FROM reject") == [(10_001, 9_999)]
    assert query(engine, "SELECT sum(records) FROM tally") == [(10_003,)]
    assert query(engine, "SELECT excerpt FROM reject LIMIT 1") == [("{}",)]


def test_the_quarantine_forgets_after_its_days(engine: Engine) -> None:
    """A rejected record of 14 days ago is dropped with the next portion, a younger one is kept."""
    store(engine, rejected=_rejects(1), arrived_us=NOON)
    store(engine, rejected=_rejects(1), arrived_us=NOON + SECOND)
    store(engine, arrived_us=NOON + 14 * DAY + SECOND)
    assert query(engine, "SELECT arrived_us FROM reject") == [(NOON + SECOND,)]


def test_suppressed_and_resent_stand_beside_the_fates(engine: Engine) -> None:
    """They add up over deliveries; a zero leaves no row."""
    batch = store(engine, [row(1)]).batch
    for suppressed, resend in ((2, 0), (1, 0), (0, 5)):
        with writing(engine) as conn:
            tallies.add_suppressed(driver_of(conn), batch, NOON_DAY, suppressed, resend)
    assert query(engine, TALLIES)[1:] == [
        (NOON_DAY, "resend", "", 5),
        (NOON_DAY, "suppressed", "", 3),
    ]
