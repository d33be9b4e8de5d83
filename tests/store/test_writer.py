"""What one portion leaves in the database, with numbers counted by hand."""

import json
import threading
from collections.abc import Callable

import pytest

from service.errors import StorageUnavailable
from service.events import (
    Caller,
    CallerLevel,
    Fact,
    Kind,
    Portion,
    Row,
)
from service.store import writer
from service.store.driver import Connection
from service.store.engine import Engine, driver_of, make_engine, writing
from tests.store.support import (
    ACTIVITY,
    CALL_DAYS,
    DAY,
    NOON,
    NOON_DAY,
    NOON_QUARTER,
    SECOND,
    contents,
    differences,
    portion,
    query,
    rich_rows,
    row,
    store,
)


def test_what_is_sent_again_is_a_duplicate_and_changes_nothing(engine: Engine) -> None:
    """Exactly once: the second time, in reverse order, nothing is stored."""
    rows = rich_rows()
    assert store(engine, rows).accepted == len(rows)
    before = contents(engine)

    again = store(engine, rows[::-1], label="again")

    assert (again.accepted, again.duplicates, again.events) == (0, len(rows), {})
    assert contents(engine) == before


def test_the_split_into_portions_does_not_matter(new_engine: Callable[[], Engine]) -> None:
    """Wherever the border lies, and whichever half comes first, the content is the same."""
    rows = rich_rows()
    whole = new_engine()
    store(whole, rows)
    expected = contents(whole)
    for border in range(1, len(rows)):
        for halves in ((rows[:border], rows[border:]), (rows[border:], rows[:border])):
            engine = new_engine()
            for half in halves:
                store(engine, half)
            assert contents(engine) == expected
            assert differences(engine) == []


@pytest.mark.parametrize("number", [1, 255, 257, 999, 1_000, 1_001, 2_500])
def test_a_portion_of_any_size_is_stored_whole(engine: Engine, number: int) -> None:
    """Rows go in by the piece: none is lost or doubled at an edge, also where cells exist already."""
    hour = 3_600 * SECOND
    rows = [row(key, NOON + key * hour, client="zed", session="s") for key in range(number)]
    more = [row(-1 - key, NOON + key * hour, client="zed") for key in range(number)]

    assert store(engine, rows).accepted == number
    assert store(engine, more).accepted == number

    assert query(engine, "SELECT time_us, key FROM event ORDER BY time_us, key") == [
        (NOON + key * hour, each) for key in range(number) for each in (-1 - key, key)
    ]
    assert query(engine, "SELECT events, count(*) FROM activity GROUP BY 1") == [(2, number)]
    assert differences(engine) == []


def test_calls_and_activity_are_rolled_up(engine: Engine) -> None:
    """Two stale calls in one quarter-hour and one on the next day, and a listing beside them."""
    store(
        engine,
        [
            row(1, NOON, client="Zed"),
            row(2, NOON + SECOND, client="Zed"),
            row(3, NOON + DAY, client="Zed"),
            row(4, NOON, Kind.LISTING),
        ],
    )
    assert query(engine, CALL_DAYS) == [
        ("main", "old_tool", "Zed", 1, NOON_DAY, 2, NOON, NOON + SECOND),
        ("main", "old_tool", "Zed", 1, NOON_DAY + 1, 1, NOON + DAY, NOON + DAY),
    ]
    assert query(engine, ACTIVITY) == [
        ("main", None, 5, NOON_QUARTER, 1),
        ("main", "Zed", 1, NOON_QUARTER, 2),
        ("main", "Zed", 1, NOON_QUARTER + 96, 1),
    ]


def test_a_client_of_which_nothing_is_left_is_unattributed(engine: Engine) -> None:
    """A name of control characters names nobody; "unknown" is a client like any other."""
    store(engine, [row(1, client="\x01 \x02"), row(2, client="unknown")])
    assert [found[2] for found in query(engine, CALL_DAYS)] == [None, "unknown"]


def test_rare_fields_stand_beside_the_row_only_where_there_are_some(engine: Engine) -> None:
    """A plain row leaves no extra; zero nanoseconds are no field."""
    store(
        engine, [row(1), row(2, request_id="7", ns=5), row(3, NOON, Kind.LISTING, listed_count=0)]
    )
    assert query(
        engine,
        "SELECT key, ns, listed_count, arrival FROM event_extra ORDER BY 1",
    ) == [(2, 5, None, None), (3, None, 0, None)]


def test_a_fact_is_stored_once_and_pointed_to(engine: Engine) -> None:
    """Nothing said and "nothing replaces it" are two facts."""
    silent = Fact(last_release="1", replaced_by=None, message=None)
    none = Fact(last_release="1", replaced_by=(), message=None)
    store(engine, [row(1, fact=silent), row(2, fact=none), row(3, fact=silent), row(4)])
    assert query(
        engine,
        "SELECT f.replaced_by, count(*) FROM event AS e JOIN fact AS f ON f.id = e.fact_id "
        "GROUP BY f.replaced_by ORDER BY count(*)",
    ) == [("[]", 1), (None, 2)]


def test_a_record_without_a_time_keeps_its_first_arrival(engine: Engine) -> None:
    """Sent again a day later it is a duplicate, and stands where it first stood."""
    assert store(engine, [row(1, NOON, arrival=True)]).accepted == 1
    again = store(engine, [row(1, NOON + DAY, arrival=True), row(2, NOON + DAY, arrival=True)])
    assert (again.accepted, again.duplicates) == (1, 1)
    assert query(engine, "SELECT key, time_us FROM event ORDER BY key") == [
        (1, NOON),
        (2, NOON + DAY),
    ]


def test_of_a_caller_in_two_networks_the_least_is_kept(engine: Engine) -> None:
    """A principal that moves has one network on record, whichever was seen first."""
    for key, network in enumerate(["n5", None, "n3", "n4"]):
        who = Caller(level=CallerLevel.PRINCIPAL, digest="p", network=network)
        store(engine, [row(key, caller=who)])
    assert query(engine, "SELECT level, digest, network FROM caller") == [(1, "p", "n3")]


def test_every_transaction_that_stores_raises_the_data_version(engine: Engine) -> None:
    """An empty portion does not; a duplicate does, since the account changes."""
    version = "SELECT value FROM meta WHERE name = 'data_version'"
    store(engine)
    assert query(engine, version) == []
    store(engine, [row(1)])
    store(engine, [row(1)])
    assert query(engine, version) == [("2",)]


def test_ten_thousand_names_are_ten_thousand_names(engine: Engine) -> None:
    """Whatever a stranger sends is stored truly: quotes, emoji, long text, percent signs, braces."""
    hostile = [
        "'; DROP TABLE event; --",
        "{keys}",
        "%s %(x)s",
        "😀" * 64,
        "x" * 300,
        "\\N",
        '"{}",',
    ]
    names = [f"client {n}" for n in range(10_000)] + hostile
    rows = [
        row(key, NOON + key, client=name, tool=name, version=name, session=name, request_id=name)
        for key, name in enumerate(names)
    ]
    assert store(engine, rows).accepted == len(rows)
    for column, table in (("raw", "client"), ("name", "tool"), ("name", "version")):
        assert {name for (name,) in query(engine, f"SELECT {column} FROM {table}")} == set(names)
    assert store(engine, rows).duplicates == len(rows)
    assert differences(engine) == []


def test_a_transaction_that_fails_leaves_nothing(engine: Engine) -> None:
    """An error after the portion was added takes all of it back."""
    before = contents(engine)
    with pytest.raises(ZeroDivisionError), writing(engine) as conn:
        _add_and_fail(driver_of(conn), portion(rich_rows(), hours={1: 1}))
    assert contents(engine) == before
    assert query(engine, "SELECT count(*) FROM batch") == [(0,)]


def test_a_savepoint_takes_back_one_portion_only(engine: Engine) -> None:
    """Of two requests in one transaction the failing one leaves its neighbour alone."""
    with writing(engine) as conn:
        raw = driver_of(conn)
        writer.add(raw, portion([row(1)]), quarantine_days=14)
        with pytest.raises(ZeroDivisionError), raw.savepoint():
            _add_and_fail(raw, portion([row(2)]))
    assert query(engine, "SELECT key FROM event") == [(1,)]
    assert differences(engine) == []


def _add_and_fail(conn: Connection, given: Portion) -> None:
    writer.add(conn, given, quarantine_days=14)
    raise ZeroDivisionError


def test_a_failure_that_was_swallowed_is_not_taken_for_a_commit(
    engine: Engine, database: str
) -> None:
    """PostgreSQL forgets the whole transaction then: the writer must hear of it."""
    swallow = pytest.raises(StorageUnavailable, match="nothing of it is stored")
    if database == "postgresql":
        with swallow:
            _swallowing(engine)
        assert query(engine, "SELECT count(*) FROM event") == [(0,)]
    else:
        _swallowing(engine)
        assert query(engine, "SELECT count(*) FROM event") == [(1,)]


def _swallowing(engine: Engine) -> None:
    with writing(engine) as conn:
        writer.add(driver_of(conn), portion([row(1)]), quarantine_days=14)
        with pytest.raises(Exception, match="no_such_table"):
            conn.exec_driver_sql("SELECT * FROM no_such_table")


def test_writers_at_once_lose_nothing_and_double_nothing(database_url: str) -> None:
    """Four threads store overlapping portions; each row is in once and the roll-ups agree."""
    rows = [row(key, NOON + key, client=f"c{key % 7}", session=f"s{key % 5}") for key in range(400)]
    accepted: list[int] = []
    failed: list[Exception] = []

    def write(first: int) -> None:
        engine = make_engine(database_url)
        try:
            for start in range(0, 400, 20):
                begin = (start + first) % 400
                accepted.append(store(engine, _cut(rows, begin, 40)).accepted)
        except Exception as error:  # noqa: BLE001
            failed.append(error)
        finally:
            engine.dispose()

    threads = [threading.Thread(target=write, args=(n * 100,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    engine = make_engine(database_url)
    assert failed == []
    assert sum(accepted) == 400
    assert query(engine, "SELECT count(*) FROM event") == [(400,)]
    assert query(engine, "SELECT fate, sum(records) FROM tally GROUP BY fate ORDER BY 1") == [
        ("accepted", 400),
        ("duplicate", 4 * 20 * 40 - 400),
    ]
    assert differences(engine) == []
    engine.dispose()


def _cut(rows: list[Row], start: int, length: int) -> list[Row]:
    return (rows + rows)[start : start + length]


def test_a_replacement_list_is_readable_json(engine: Engine) -> None:
    """Names with quotes and other alphabets come back as they were."""
    names = ('say "hi"', "инструмент")
    store(engine, [row(1, fact=Fact(last_release=None, replaced_by=names, message=None))])
    assert json.loads(query(engine, "SELECT replaced_by FROM fact")[0][0]) == list(names)
