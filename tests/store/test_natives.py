"""Equal records that their carrier tells apart by ids, and the same ones without."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import permutations

import pytest
from alembic import command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.events import Kind, Native, Receipt
from service.ingest.records import Body, Limits, Line, Origin
from service.pipeline import Pipeline
from service.settings import Settings
from service.store import migrate, writer
from service.store.driver import Connection, Writer
from service.store.engine import Engine, driver_of, make_engine, writing
from tests.store.support import NOON, SECOND, differences, portion, query, row, store, wipe

Record = tuple[int, str | None]
"""Which of several records, all equal but for this number, and its id."""


def line(number: int) -> bytes:
    return json.dumps(
        {
            "time": f"2026-10-05T10:15:{number:02}.114Z",
            "data": {"tool": "gone", "sessionId": "s"},
            "msg": "Retired tool called",
        }
    ).encode()


def deliver(pipeline: Pipeline, records: Sequence[Record]) -> Receipt:
    """One request of these records."""
    lines = [Line(line(number), origin=Origin(native_id=id_)) for number, id_ in records]

    def read(data: bytes, _limits: Limits) -> Body:
        return Body(lines, data)

    return pipeline.request(b"", read, server="main", source="shipper").receipt


@pytest.fixture
def open_pipeline(database_url: str) -> Iterator[Callable[[], Pipeline]]:
    """Opens pipelines, each with a connection of its own, on one database."""
    with ExitStack() as opened:

        def open_() -> Pipeline:
            connection = Writer(database_url)
            opened.callback(connection.close)
            pipeline = Pipeline(connection, Settings(database_url=database_url))
            opened.callback(pipeline.close)
            return pipeline

        yield open_


@pytest.fixture
def pipeline(open_pipeline: Callable[[], Pipeline]) -> Pipeline:
    return open_pipeline()


def stored(engine: Engine) -> int:
    """Events in the database, which agrees with itself."""
    assert differences(engine) == []
    [(number,)] = query(engine, "SELECT count(*) FROM event")
    return int(number)


def test_two_ids_are_two_events_and_the_same_id_is_one(pipeline: Pipeline, engine: Engine) -> None:
    """However the ids are spread over requests, and in whichever order they come again."""
    first = deliver(pipeline, [(1, "a"), (1, "b")])
    assert (first.accepted, first.duplicates) == (2, 0)
    again = deliver(pipeline, [(1, "b")])
    assert (again.accepted, again.duplicates) == (0, 1)
    more = deliver(pipeline, [(1, "c"), (1, "b"), (1, "a"), (1, "c")])
    assert (more.accepted, more.duplicates) == (1, 3)
    assert stored(engine) == 3


def test_an_id_does_not_make_different_records_one(pipeline: Pipeline, engine: Engine) -> None:
    """It only tells equal ones apart: a document that changed under its id is another event."""
    assert deliver(pipeline, [(1, "a"), (2, "a")]).accepted == 2
    assert deliver(pipeline, [(2, "a"), (1, "a")]).duplicates == 2
    assert stored(engine) == 2


DELIVERIES: list[list[Record]] = [
    [(1, "a"), (1, "b")],
    [(1, None)],
    [(1, None), (1, None), (1, None)],
    [(1, "b"), (1, "c")],
    [(1, "a")],
]


@pytest.mark.parametrize("order", list(permutations(range(len(DELIVERIES))))[::7], ids=str)
def test_with_and_without_ids_the_larger_number_counts(
    order: tuple[int, ...], pipeline: Pipeline, engine: Engine
) -> None:
    """Three ids came, and a file with three: three events, in every order, and nothing the second time."""
    receipts = [deliver(pipeline, DELIVERIES[at]) for at in order]
    assert sum(receipt.accepted for receipt in receipts) == stored(engine) == 3
    assert all(deliver(pipeline, DELIVERIES[at]).accepted == 0 for at in order)
    assert stored(engine) == 3


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    deliveries=st.lists(
        st.lists(
            st.tuples(st.integers(0, 2), st.none() | st.sampled_from("abcd")),
            min_size=1,
            max_size=8,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_deliveries_come_to_what_the_definition_says(
    deliveries: list[list[Record]], pipeline: Pipeline, engine: Engine
) -> None:
    """Of equal records: as many as there are ids, or as one delivery had without, if that is more."""
    wipe_events(engine)
    accepted = sum(deliver(pipeline, records).accepted for records in deliveries)
    expected = 0
    for number in range(3):
        ids = {id_ for records in deliveries for n, id_ in records if n == number and id_}
        without = [Counter(records)[number, None] for records in deliveries]
        expected += max(len(ids), *without)
    assert accepted == stored(engine) == expected


def wipe_events(engine: Engine) -> None:
    """Empty the database, but keep its secrets."""
    meta = query(engine, "SELECT name, value FROM meta")
    wipe(engine)
    with writing(engine) as conn:
        conn.exec_driver_sql("DELETE FROM meta")
        for name, value in meta:
            conn.exec_driver_sql(f"INSERT INTO meta (name, value) VALUES ('{name}', '{value}')")


def test_concurrent_copies_are_stored_once(
    open_pipeline: Callable[[], Pipeline], engine: Engine
) -> None:
    """Four services on one database take each of eight requests at once, cut differently: every id
    counts once, whoever numbers it first."""
    ids = [f"id {n}" for n in range(40)]
    parts = [ids[at : at + size] for size in (5, 8, 40) for at in range(0, 40, size)]
    pipelines = [open_pipeline() for _ in range(4)]
    works = [(pipeline, part) for part in parts for pipeline in pipelines]

    def send(work: tuple[Pipeline, list[str]]) -> int:
        pipeline, part = work
        return deliver(pipeline, [(1, id_) for id_ in part]).accepted

    with ThreadPoolExecutor(16) as pool:
        accepted = sum(pool.map(send, works))

    assert accepted == stored(engine) == 40
    assert query(engine, "SELECT count(*), min(ordinal), max(ordinal) FROM native") == [(40, 0, 39)]


def test_many_ids_of_many_records(pipeline: Pipeline, engine: Engine) -> None:
    """More than any one statement holds, half of them known already."""
    records: list[Record] = [(n % 50, f"id {n // 50}") for n in range(3_000)]
    assert deliver(pipeline, records[:1_500]).accepted == 1_500
    receipt = deliver(pipeline, records)
    assert (receipt.accepted, receipt.duplicates) == (1_500, 1_500)
    assert stored(engine) == 3_000


def test_what_is_rolled_back_gives_no_id_away(engine: Engine) -> None:
    """An id that was numbered in a transaction that failed is new the next time."""

    def keys(ordinal: int) -> int:
        return 100 + ordinal

    natives = [Native(0, 7, keys)]

    def fail(conn: Connection) -> None:
        writer.add(conn, portion([row(100)], natives=natives), quarantine_days=14)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), writing(engine) as conn:
        fail(driver_of(conn))
    assert query(engine, "SELECT count(*) FROM native") == [(0,)]
    assert store(engine, [row(100)], natives=natives).accepted == 1
    assert query(engine, "SELECT time_us, key, native_id, ordinal FROM native") == [
        (NOON, 100, 7, 0)
    ]


def test_rows_from_before_there_were_ids_are_known(empty_database_url: str) -> None:
    """Brought up from the revision before, a row that was stored without an id is met by the first id,
    and the revision before can be gone back to with every row in place."""
    engine = make_engine(empty_database_url)
    migrate.upgrade(engine)
    store(engine, [row(100), row(5, NOON + SECOND, Kind.CALL)])
    with writing(engine) as conn:
        command.downgrade(migrate.alembic_config(conn), "0004")
    migrate.upgrade(engine)

    natives = [Native(n, 7 + n, lambda n: 100 + n) for n in range(2)]
    found = store(engine, [row(100), row(100)], natives=natives)
    assert (found.accepted, found.duplicates) == (1, 1)
    with writing(engine) as conn:
        command.downgrade(migrate.alembic_config(conn), "0004")
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(5,), (100,), (101,)]
    engine.dispose()
