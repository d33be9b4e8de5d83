"""Connections: what is refused, what a driver's error becomes, and what a transaction sees."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.errors import Busy, LastCallError, StorageUnavailable
from service.store import engine as engine_module
from service.store import migrate
from service.store.engine import Engine, make_engine, reading, writing
from service.store.meaning import meaning_of
from service.store.schema import tool
from tests.store.support import query


@pytest.mark.parametrize(
    "url", ["", "lastcall.db", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "postgresql"]
)
def test_a_url_that_cannot_be_used_is_refused_with_one_that_can(url: str) -> None:
    """The refusal shows the form of both, and nothing of what was given."""
    with pytest.raises(LastCallError, match=r"use sqlite:///.* or postgresql://"):
        make_engine(url)


def test_a_password_is_not_repeated() -> None:
    """A refused URL may hold one."""
    with pytest.raises(LastCallError) as refused:
        make_engine("mysql://me:secret@host/x")
    assert "secret" not in refused.value.detail


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgresql_is_accepted(scheme: str) -> None:
    """Hosting companies hand out `postgres://`."""
    engine = make_engine(f"{scheme}://me:x@host/db")
    assert engine.driver == "psycopg"
    engine.dispose()


def test_a_sqlite_file_gets_its_folder_and_lasting_commits(tmp_path: Path) -> None:
    """WAL, synchronous FULL (2), foreign keys, 30 s of patience."""
    engine = make_engine(f"sqlite:///{tmp_path / 'a' / 'b' / 'x.db'}")
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
    with reading(engine) as conn:
        found = [conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    assert found == ["wal", 2, 1, 30_000]
    engine.dispose()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file lies where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnavailable, match="cannot be created"):
        make_engine(f"sqlite:///{tmp_path / 'file' / 'x.db'}")


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    """A log file given by mistake is named as such and left as it is."""
    path = tmp_path / "app.log"
    path.write_text("just some text\n" * 100)
    engine = make_engine(f"sqlite:///{path}")
    with pytest.raises(StorageUnavailable, match="not a database"):
        migrate.ensure_ready(engine, auto_upgrade=True)
    engine.dispose()
    assert path.read_text() == "just some text\n" * 100


def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path}")
    with pytest.raises(StorageUnavailable, match="cannot be opened"), reading(engine):
        pass
    engine.dispose()


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """SQLite is told that the file may not grow: the commit is refused, the file stays whole."""
    engine = make_engine(f"sqlite:///{tmp_path / 'x.db'}")
    migrate.ensure_ready(engine, auto_upgrade=True)
    with pytest.raises(StorageUnavailable, match="the disk is full"), writing(engine) as conn:
        _fill(conn)
    assert query(engine, "SELECT count(*) FROM tool") == [(0,)]
    engine.dispose()


def _fill(conn: sa.Connection) -> None:
    pages = conn.exec_driver_sql("PRAGMA page_count").scalar()
    conn.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    conn.execute(tool.insert(), [{"name": "x" * 200 + str(n)} for n in range(5_000)])


def test_a_database_that_may_not_be_written_is_said(engine: Engine) -> None:
    """A read-only file, or a PostgreSQL that only follows another one."""
    sql = {"sqlite": "PRAGMA query_only = ON", "postgresql": "SET TRANSACTION READ ONLY"}
    with pytest.raises(StorageUnavailable, match="cannot be used"), writing(engine) as conn:
        _write_after(conn, sql[engine.dialect.name])


def _write_after(conn: sa.Connection, sql: str) -> None:
    conn.exec_driver_sql(sql)
    conn.execute(tool.insert(), [{"name": "x"}])


def test_a_server_that_is_not_there_is_said() -> None:
    """Nobody listens on port 1."""
    engine = make_engine("postgresql://me:secret@127.0.0.1:1/x")
    with pytest.raises(StorageUnavailable, match="PostgreSQL cannot be used") as said:
        migrate.ensure_ready(engine, auto_upgrade=True)
    assert "secret" not in said.value.detail
    engine.dispose()


def test_a_writer_that_waits_too_long_is_told_to_try_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two writers gets `Busy`, not a hang and not a loss."""
    monkeypatch.setattr(engine_module, "LOCK_WAIT_S", 0.05)
    impatient = make_engine(engine.url.render_as_string(hide_password=False))
    if engine.dialect.name == "sqlite":
        sa.event.listen(
            impatient, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout = 50")
        )
    with writing(engine), pytest.raises(Busy) as told, writing(impatient):
        pass
    assert type(told.value) is Busy
    with writing(impatient) as conn:
        conn.execute(tool.insert(), [{"name": "x"}])
    impatient.dispose()


def test_a_reader_sees_one_moment(engine: Engine) -> None:
    """What is committed while it reads, it does not see; the next reader does."""
    count = sa.select(sa.func.count()).select_from(tool)
    with reading(engine) as early:
        assert early.scalar(count) == 0
        with writing(engine) as conn:
            conn.execute(tool.insert(), [{"name": "x"}])
        assert early.scalar(count) == 0
    assert query(engine, "SELECT count(*) FROM tool") == [(1,)]


def test_a_writer_sees_what_the_writer_before_it_committed(engine: Engine) -> None:
    """Read, add one, write: fifty times in each of four threads makes two hundred."""
    with writing(engine) as conn:
        conn.exec_driver_sql("INSERT INTO meta (name, value) VALUES ('n', '0')")

    def count_up() -> None:
        for _ in range(50):
            with writing(engine) as conn:
                n = conn.exec_driver_sql("SELECT value FROM meta WHERE name = 'n'").scalar_one()
                conn.exec_driver_sql(f"UPDATE meta SET value = '{int(n) + 1}' WHERE name = 'n'")

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert query(engine, "SELECT value FROM meta WHERE name = 'n'") == [("200",)]


def test_a_commit_that_fails_raises(new_engine: Callable[[], Engine]) -> None:
    """A deferred constraint is looked at when the transaction ends: the writer hears of it."""
    engine = new_engine()
    with writing(engine) as conn:
        conn.exec_driver_sql("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        conn.exec_driver_sql(
            "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"
        )
    with pytest.raises(sa.exc.IntegrityError), writing(engine) as conn:
        conn.exec_driver_sql("INSERT INTO child VALUES (1)")
    assert query(engine, "SELECT count(*) FROM child") == [(0,)]


def test_a_fault_of_ours_is_not_dressed_up(engine: Engine) -> None:
    """Wrong SQL stays the driver's error: nothing a user does would mend it."""
    with pytest.raises(sa.exc.DBAPIError), reading(engine) as conn:
        conn.exec_driver_sql("SELECT nothing FROM nowhere")
    assert meaning_of(sqlite3.IntegrityError("x")) is None
    assert meaning_of(ValueError("x")) is None
