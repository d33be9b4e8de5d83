"""What `lastcall db stats` counts."""

from service.events import Kind, Quarantined, Reason, Rejected
from service.store.engine import Engine, reading
from service.store.stats import stats
from tests.store.support import DAY, NOON, row, store


def test_an_empty_database_has_nothing_to_tell(engine: Engine) -> None:
    with reading(engine) as conn:
        found = stats(conn)
    assert (found["events"], found["first_us"], found["last_us"]) == ({}, None, None)
    assert found["batches"] == []
    assert found["bytes"] > 0


def test_events_dimensions_and_batches_are_counted(engine: Engine) -> None:
    """Three events of two kinds in two batches, the newer one first."""
    rejected = Rejected(reason=Reason.INVALID_JSON, excerpt="{")
    store(engine, [row(1, client="Zed"), row(2, NOON + DAY)], label="one", ignored=4)
    store(
        engine,
        [row(1, client="Zed"), row(3, NOON, Kind.LISTING, session="s")],
        label="two",
        rejected=[Quarantined(position=0, rejected=rejected)],
    )
    with reading(engine) as conn:
        found = stats(conn)
    assert found["events"] == {"stale_call": 2, "listing": 1}
    assert (found["first_us"], found["last_us"]) == (NOON, NOON + DAY)
    assert found["dimensions"] == {
        "server": 1, "source": 1, "client": 1, "tool": 1,
        "version": 0, "caller": 0, "session": 1, "fact": 0,
    }  # fmt: skip
    assert found["quarantined"] == 1
    assert found["releases"] == 0
    assert [(batch["label"], batch["records"]) for batch in found["batches"]] == [
        ("two", {"accepted": 1, "duplicate": 1, "rejected": 1}),
        ("one", {"accepted": 2, "ignored": 4}),
    ]
