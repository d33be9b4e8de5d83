"""Group commit: who waits together is stored together, and nobody waits in vain."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from service.committer import MOST, Committer
from service.errors import Busy, StorageUnavailable
from service.events import Row, Stored
from service.store import driver, writer
from service.store.driver import Connection, Writer
from service.store.engine import Engine, writing
from tests.store.support import NOON, differences, portion, query, row

PATIENCE_S = 60


def storing(rows: list[Row]) -> Callable[[Connection], Stored]:
    """A work that stores *rows*."""
    return lambda conn: writer.add(conn, portion(rows), quarantine_days=14)


def count(engine: Engine) -> int:
    """Events that a reader sees."""
    return int(query(engine, "SELECT count(*) FROM event")[0][0])


class Together:
    """Works, each in a thread of its own, that all wait before the first of them may begin."""

    def __init__(self, committer: Committer) -> None:
        self.committer = committer
        self.results: dict[int, object] = {}
        self.errors: dict[int, BaseException] = {}

    def run(self, engine: Engine, works: Sequence[Callable[[Connection], object]]) -> None:
        """Run *works*: the first alone, since it is on its way, then the others in their order."""
        threads = [
            threading.Thread(target=self._run, args=(at, work)) for at, work in enumerate(works)
        ]
        with writing(engine):
            for at, thread in enumerate(threads):
                thread.start()
                self._until(lambda at=at: len(self.committer._waiting) == at)  # type: ignore[misc]
                if at == 0:
                    self._until(self.committer._turn.locked)
        for thread in threads:
            thread.join(PATIENCE_S)
        assert not any(thread.is_alive() for thread in threads)

    def _run(self, at: int, work: Callable[[Connection], object]) -> None:
        try:
            self.results[at] = self.committer.commit(work)
        except BaseException as error:  # noqa: BLE001
            self.errors[at] = error

    def _until(self, reached: Callable[[], bool]) -> None:
        pause = threading.Event()
        for _ in range(PATIENCE_S * 1_000):
            if reached():
                return
            pause.wait(0.001)
        raise AssertionError("the works did not come to wait")


@pytest.fixture
def committer(opened: Writer) -> Committer:
    return Committer(opened)


@pytest.fixture
def together(committer: Committer) -> Together:
    return Together(committer)


def test_a_work_is_stored_when_commit_returns(committer: Committer, engine: Engine) -> None:
    """Its result comes back, and a reader sees it."""
    assert committer.commit(storing([row(1)])).accepted == 1
    assert count(engine) == 1


def test_works_that_wait_share_a_transaction(together: Together, engine: Engine) -> None:
    """While the first is on its way five come to wait. A reader that each of them asks sees what the
    transactions before had committed: of the five it sees none."""

    def work(key: int) -> Callable[[Connection], int]:
        def store(conn: Connection) -> int:
            writer.add(conn, portion([row(key)]), quarantine_days=14)
            return count(engine)

        return store

    together.run(engine, [work(key) for key in range(6)])
    assert together.errors == {}
    assert together.results == {0: 0} | dict.fromkeys(range(1, 6), 1)
    assert count(engine) == 6
    assert differences(engine) == []


def test_a_transaction_holds_so_many_works_at_most(together: Together, engine: Engine) -> None:
    """Of 70 that wait, 64 are stored together and six after them."""
    numbers = itertools.count()

    def seen(conn: Connection) -> int:
        conn.run("INSERT INTO tool (name) VALUES (?)", (str(next(numbers)),))
        return int(query(engine, "SELECT count(*) FROM tool")[0][0])

    together.run(engine, [seen] * (1 + MOST + 6))
    assert together.errors == {}
    assert Counter(together.results.values()) == {0: 1, 1: MOST, 1 + MOST: 6}


def test_equal_rows_of_two_works_are_stored_once(together: Together, engine: Engine) -> None:
    """The later work of a transaction finds what the earlier one stored: dimensions, batch and rows."""
    rows = [row(key, NOON + key, client="zed", session="s") for key in range(10)]
    together.run(
        engine, [storing([row(99)]), storing(rows), storing(rows[::-1]), storing(rows[:5])]
    )
    accepted = [together.results[at].accepted for at in range(4)]  # type: ignore[attr-defined]
    assert accepted == [1, 10, 0, 0]
    assert query(engine, "SELECT fate, records FROM tally ORDER BY fate") == [
        ("accepted", 11),
        ("duplicate", 15),
    ]
    assert query(engine, "SELECT count(*) FROM batch") == [(1,)]
    assert differences(engine) == []


def test_a_work_that_fails_takes_nothing_but_itself_back(
    together: Together, engine: Engine
) -> None:
    """Its error is its caller's alone; a fault in SQL is one like any other. A name that went with it is
    made anew by the next work that needs it."""

    def fault(conn: Connection) -> None:
        writer.add(conn, portion([row(50, client="zed")]), quarantine_days=14)
        conn.rows("SELECT x FROM nowhere")

    def mistake(conn: Connection) -> None:
        writer.add(conn, portion([row(51, client="never", tool="new")]), quarantine_days=14)
        raise ZeroDivisionError

    later = storing([row(3, client="zed", tool="new")])
    together.run(engine, [storing([row(1)]), storing([row(2)]), fault, mistake, later])
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(1,), (2,), (3,)]
    assert query(engine, "SELECT raw FROM client") == [("zed",)]
    assert sorted(together.errors) == [2, 3]
    assert type(together.errors[3]) is ZeroDivisionError
    assert "nowhere" in str(together.errors[2])
    assert differences(engine) == []


def test_a_work_that_fails_alone_stores_nothing(committer: Committer, engine: Engine) -> None:
    """And the next one is stored as if nothing had been."""

    def fail(conn: Connection) -> None:
        writer.add(conn, portion([row(1)]), quarantine_days=14)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        committer.commit(fail)
    assert count(engine) == 0
    committer.commit(storing([row(2)]))
    assert query(engine, "SELECT key FROM event") == [(2,)]


def test_when_the_transaction_is_lost_everybody_hears_of_it(
    together: Together, engine: Engine
) -> None:
    """The server ends the connection, or SQLite rolls all of it back as it may on a full disk, while
    the second of three works is stored."""

    def lose(conn: Connection) -> None:
        if conn.embedded:
            conn.raw.rollback()
        else:
            query(engine, f"SELECT pg_terminate_backend({conn.raw.info.backend_pid})")
            conn.rows("SELECT 1")

    works = [storing([row(1)]), storing([row(2)]), lose, storing([row(3)])]
    together.run(engine, works)
    assert sorted(together.errors) == [1, 2, 3]
    assert all(isinstance(error, StorageUnavailable) for error in together.errors.values())
    assert len(set(map(id, together.errors.values()))) == 3
    assert query(engine, "SELECT key FROM event") == [(1,)]


def test_after_a_lost_transaction_works_are_stored_again(
    committer: Committer, opened: Writer, engine: Engine
) -> None:
    """On a connection of its own: nobody has to restart the server."""
    committer.commit(storing([row(1)]))
    with opened.reading() as conn:
        pass
    conn.raw.close()
    committer.commit(storing([row(2)]))
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(1,), (2,)]


def test_a_commit_that_fails_fails_for_all(together: Together, engine: Engine) -> None:
    """A deferred constraint is looked at when the transaction ends."""
    with writing(engine) as conn:
        conn.exec_driver_sql("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        conn.exec_driver_sql(
            "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
        )

    def orphan(conn: Connection) -> None:
        conn.run("INSERT INTO child VALUES (1)")

    together.run(engine, [storing([row(1)]), storing([row(2)]), orphan])
    assert sorted(together.errors) == [1, 2]
    assert query(engine, "SELECT key FROM event") == [(1,)]


def test_who_waits_too_long_for_another_process_is_told_to_try_again(
    committer: Committer, opened: Writer, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored; afterwards the same work is."""
    monkeypatch.setattr(driver, "LOCK_WAIT_S", 0.05)
    with opened.reading() as conn:
        if conn.embedded:
            conn.rows("PRAGMA busy_timeout = 50")
    with writing(engine), pytest.raises(Busy) as told:
        committer.commit(storing([row(1)]))
    assert type(told.value) is Busy
    assert committer.commit(storing([row(1)])).accepted == 1


def test_closing_stores_what_waits_and_refuses_what_comes(
    committer: Committer, together: Together, engine: Engine
) -> None:
    """Two that wait when it is closed are stored; a third is told that the server stops."""
    with _closing_meanwhile(committer) as closed:

        def first(conn: Connection) -> None:
            closed.set()

        together.run(engine, [first, storing([row(1)]), storing([row(2)])])
    assert together.errors == {}
    with pytest.raises(StorageUnavailable, match="stopping"):
        committer.commit(storing([row(3)]))
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(1,), (2,)]


@contextmanager
def _closing_meanwhile(committer: Committer) -> Iterator[threading.Event]:
    """Close the committer in another thread once the event is set."""
    due = threading.Event()

    def close() -> None:
        due.wait(PATIENCE_S)
        committer.close()

    thread = threading.Thread(target=close)
    thread.start()
    yield due
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_an_interrupt_leaves_nobody_waiting(together: Together, engine: Engine) -> None:
    """Whatever a work raises, those that share its transaction hear that nothing is stored, and those
    behind them are stored."""

    def interrupted(conn: Connection) -> None:
        raise KeyboardInterrupt

    works = [storing([row(1)]), storing([row(2)]), interrupted, storing([row(3)])]
    together.run(engine, works)
    assert sorted(together.errors) == [1, 2, 3]
    interrupts = [type(error) for error in together.errors.values()].count(KeyboardInterrupt)
    assert interrupts <= 1  # it is raised in the thread that stored
    assert query(engine, "SELECT key FROM event") == [(1,)]
    assert together.committer.commit(storing([row(4)])).accepted == 1


def test_many_threads_lose_nothing_and_double_nothing(committer: Committer, engine: Engine) -> None:
    """Eight threads store overlapping pieces of 400 rows; each row is in once and the roll-ups agree."""
    rows = [row(key, NOON + key, client=f"c{key % 7}", session=f"s{key % 5}") for key in range(400)]
    accepted: list[int] = []

    def store(first: int) -> None:
        for start in range(0, 400, 20):
            begin = (start + first) % 400
            accepted.append(committer.commit(storing((rows + rows)[begin : begin + 40])).accepted)

    threads = [threading.Thread(target=store, args=(n * 50,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(accepted) == 400
    assert count(engine) == 400
    assert query(engine, "SELECT fate, sum(records) FROM tally GROUP BY fate ORDER BY 1") == [
        ("accepted", 400),
        ("duplicate", 8 * 20 * 40 - 400),
    ]
    assert differences(engine) == []
