"""The writer's own connection: what it refuses, what it survives, and what it does without."""

import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from service.errors import Busy, LastCallError, SchemaOutOfDate, StorageUnavailable
from service.store import driver, secrets, writer
from service.store.address import PostgresDatabase, SqliteFile, read_url
from service.store.columns import COLUMNS
from service.store.driver import Connection, Writer
from service.store.engine import Engine, make_engine, reading, writing
from service.store.schema import metadata
from tests.store.support import portion, query, rich_rows, row

STORES = """
import sys
from service.events import BatchName, Kind, Portion, Subject
from service.store import driver, secrets, writer
opened = driver.Writer(sys.argv[1])
opened.ensure_ready(False)
with opened.reading() as conn:
    secrets.read_secrets(conn)
said = Subject(kind=Kind.HELLO, server="maps", client="zed")
rows = [(time_us, 1, said, "s", None, 0) for time_us in range(2_000)]
named = BatchName(kind="ingest", label="run")
given = Portion(server="maps", source="files", batch=named, arrived_us=0, rows=rows)
with opened.transaction() as conn:
    print(writer.add(conn, given, quarantine_days=14).accepted)
opened.close()
print(sorted({name.partition(".")[0] for name in sys.modules} & {"sqlalchemy", "alembic"}))
"""


def test_storing_imports_no_sqlalchemy(database_url: str) -> None:
    """Neither to open a database that is up to date, nor to store two thousand rows in it."""
    done = subprocess.run(
        [sys.executable, "-c", STORES, database_url], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["2000", "[]"]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:pass@host:5433/base",
        "postgres://me@host/base",
        "postgresql+psycopg://me:a%40b%2Fc@host/my%20base?sslmode=require&connect_timeout=5",
        "postgresql://[::1]:5432/base",
        "postgresql:///base?host=/run/postgresql",
        "postgresql://host",
    ],
)
def test_a_postgresql_url_is_read_as_sqlalchemy_reads_it(url: str) -> None:
    """Both open the same database; where the URL does not say how long to wait for the server, it is 10 s."""
    parsed = sa.make_url(url)
    expected = parsed.translate_connect_args(username="user", database="dbname")
    expected = {"connect_timeout": "10", **expected, **parsed.query}
    found = read_url(url)
    assert isinstance(found, PostgresDatabase)
    assert found.parameters == {name: str(value) for name, value in expected.items()}


def test_a_server_that_says_nothing_is_given_up() -> None:
    """It takes the connection and never answers, as behind a firewall: whoever asks is told so."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"postgresql://me@127.0.0.1:{deaf.getsockname()[1]}/base?connect_timeout=2"
        writer, engine = Writer(url), make_engine(url)
        with pytest.raises(StorageUnavailable, match="timeout"), writer.reading():
            pass
        with pytest.raises(StorageUnavailable, match="timeout"), reading(engine):
            pass
        engine.dispose()


def test_a_path_of_a_sqlite_url_may_be_relative_or_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative one is below the working folder, as it was when the URL was read."""
    monkeypatch.chdir(tmp_path)
    found = [read_url(url) for url in ("sqlite:///a%20b.db", f"sqlite:///{tmp_path}/a b.db")]
    assert found == [SqliteFile(tmp_path / "a b.db")] * 2


@pytest.mark.parametrize("url", ["", "lastcall.db", "mysql://me:secret@x/y", "sqlite://", "mysql:"])
def test_a_url_that_cannot_be_used_is_refused_with_one_that_can(url: str) -> None:
    """Nothing of what was given is repeated: it may hold a password."""
    with pytest.raises(LastCallError, match=r"use sqlite:///.* or postgresql://") as refused:
        Writer(url)
    assert "secret" not in refused.value.detail


def test_the_types_of_columns_are_those_of_the_schema() -> None:
    """What the hot path knows by heart is what SQLAlchemy creates."""
    names = {
        sa.SmallInteger: "int2",
        sa.BigInteger: "int8",
        sa.Integer: "int4",
        sa.Boolean: "bool",
        sa.Text: "text",
    }
    for table, columns in COLUMNS.items():
        schema = metadata.tables[table].c
        assert columns == {
            name: next(said for kind, said in names.items() if isinstance(schema[name].type, kind))
            for name in columns
        }
        left_out = {column.name for column in schema if not column.nullable} - columns.keys()
        assert left_out <= {"id"}


def test_a_transaction_is_all_or_nothing(opened: Writer, engine: Engine) -> None:
    """What raises is rolled back, and the next one finds a clean connection."""
    with pytest.raises(ZeroDivisionError), opened.transaction() as conn:
        _add_and_fail(conn)
    assert query(engine, "SELECT count(*) FROM batch") == [(0,)]
    with opened.transaction() as conn:
        writer.add(conn, portion(rich_rows()), quarantine_days=14)
    assert query(engine, "SELECT count(*) FROM event") == [(len(rich_rows()),)]


def _add_and_fail(conn: Connection) -> None:
    writer.add(conn, portion(rich_rows()), quarantine_days=14)
    raise ZeroDivisionError


def test_a_lost_connection_is_opened_again(opened: Writer, engine: Engine) -> None:
    """Lost between two transactions, as when PostgreSQL was restarted, nobody hears of it."""
    _store(opened, 1)
    _lose(opened, engine)
    _store(opened, 2)
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(1,), (2,)]


def test_a_connection_lost_within_a_transaction_stores_nothing(
    opened: Writer, engine: Engine
) -> None:
    """The writer hears of it; the same transaction succeeds later."""
    with pytest.raises((StorageUnavailable, sqlite3.ProgrammingError)):
        _lose_while_storing(opened, engine)
    assert query(engine, "SELECT count(*) FROM event") == [(0,)]
    _store(opened, 1)
    assert query(engine, "SELECT key FROM event") == [(1,)]


def _lose_while_storing(opened: Writer, engine: Engine) -> None:
    with opened.transaction() as conn:
        writer.add(conn, portion([row(1)]), quarantine_days=14)
        _lose(opened, engine, conn)
        writer.add(conn, portion([row(2)]), quarantine_days=14)


def _store(opened: Writer, key: int) -> None:
    with opened.transaction() as conn:
        writer.add(conn, portion([row(key)]), quarantine_days=14)


def _lose(opened: Writer, engine: Engine, conn: Connection | None = None) -> None:
    """Take the connection away from the writer."""
    if conn is None:
        with opened.reading() as conn:
            pass
    if conn.embedded:
        conn.raw.close()
    else:
        query(engine, f"SELECT pg_terminate_backend({conn.raw.info.backend_pid})")


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """SQLite is told that the file may not grow; once it may, the same rows are stored."""
    opened = Writer(f"sqlite:///{tmp_path / 'x.db'}")
    opened.ensure_ready(auto_upgrade=False)
    rows = [row(key, key, client=f"client {key}") for key in range(5_000)]
    with opened.reading() as conn:
        [(pages,)] = conn.rows("PRAGMA page_count")
        conn.rows(f"PRAGMA max_page_count = {pages}")
    with (
        pytest.raises(StorageUnavailable, match="the disk is full"),
        opened.transaction() as conn,
    ):
        writer.add(conn, portion(rows), quarantine_days=14)
    with opened.reading() as conn:
        conn.rows("PRAGMA max_page_count = 1000000")
    with opened.transaction() as conn:
        assert conn.rows("SELECT count(*) FROM client") == [(0,)]
        assert writer.add(conn, portion(rows), quarantine_days=14).accepted == 5_000
    opened.close()


def test_a_failure_that_was_swallowed_is_not_taken_for_a_commit(
    opened: Writer, engine: Engine, database: str
) -> None:
    """PostgreSQL forgets the whole transaction then: the writer must hear of it."""
    if database == "postgresql":
        with pytest.raises(StorageUnavailable, match="nothing of it is stored"):
            _swallow(opened)
        assert query(engine, "SELECT count(*) FROM event") == [(0,)]
    else:
        _swallow(opened)
        assert query(engine, "SELECT count(*) FROM event") == [(1,)]


def _swallow(opened: Writer) -> None:
    with opened.transaction() as conn:
        writer.add(conn, portion([row(1)]), quarantine_days=14)
        with pytest.raises(Exception, match="no_such_table"):
            conn.rows("SELECT * FROM no_such_table")


def test_a_writer_that_waits_too_long_is_told_to_try_again(
    opened: Writer, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The locks are those of every other writer; afterwards the same connection stores."""
    monkeypatch.setattr(driver, "LOCK_WAIT_S", 0.05)
    with opened.reading() as conn:
        if conn.embedded:
            conn.rows("PRAGMA busy_timeout = 50")
    with writing(engine), pytest.raises(Busy) as told:
        _store(opened, 1)
    assert type(told.value) is Busy
    _store(opened, 1)


def test_threads_that_share_a_writer_take_turns(opened: Writer) -> None:
    """One that waits too long for another thread is told to try again, like one of another process."""
    began, done = threading.Event(), threading.Event()

    def hold() -> None:
        with opened.transaction():
            began.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    began.wait(60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "LOCK_WAIT_S", 0.05)
        with pytest.raises(Busy, match="another thread"):
            _store(opened, 1)
    done.set()
    thread.join()
    _store(opened, 1)


def test_a_writer_and_sqlalchemy_wait_for_each_other(opened: Writer, engine: Engine) -> None:
    """Read, add one, write: fifty times in each of four threads, two of each kind, makes 200."""
    with opened.transaction() as conn:
        conn.run("INSERT INTO meta (name, value) VALUES ('n', '0')")
    read, write = (
        "SELECT value FROM meta WHERE name = 'n'",
        "UPDATE meta SET value = '{}' WHERE name = 'n'",
    )

    def count_raw() -> None:
        for _ in range(50):
            with opened.transaction() as conn:
                [(n,)] = conn.rows(read)
                conn.run(write.format(int(n) + 1))

    def count_core() -> None:
        for _ in range(50):
            with writing(engine) as conn:
                n = conn.exec_driver_sql(read).scalar_one()
                conn.exec_driver_sql(write.format(int(n) + 1))

    threads = [threading.Thread(target=target) for target in (count_raw, count_core) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert query(engine, read) == [("200",)]


def test_an_empty_database_is_made_ready_where_that_is_allowed(
    empty_database_url: str, database: str
) -> None:
    """PostgreSQL says which command would do it."""
    opened = Writer(empty_database_url)
    if database == "postgresql":
        with pytest.raises(SchemaOutOfDate, match="lastcall db upgrade"):
            opened.ensure_ready(auto_upgrade=False)
    opened.ensure_ready(auto_upgrade=database == "postgresql")
    with opened.reading() as conn:
        key, identity = secrets.read_secrets(conn)
    assert key != identity
    _store(opened, 1)
    opened.close()


@pytest.mark.parametrize(
    "tampering",
    ["UPDATE lastcall_version SET version_num = '9999'", "DELETE FROM meta"],
    ids=["of a newer version", "without its secrets"],
)
def test_what_is_not_as_it_should_be_is_looked_at(
    opened: Writer, engine: Engine, tampering: str
) -> None:
    """The quick look does not take one for ready that is not."""
    _store(opened, 1)
    with writing(engine) as conn:
        conn.exec_driver_sql(tampering)
    with pytest.raises(LastCallError, match=r"newer version|back-up"):
        opened.ensure_ready(auto_upgrade=True)


def test_a_file_of_another_program_keeps_every_byte(tmp_path: Path) -> None:
    """Not even its journal is switched."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    opened = Writer(f"sqlite:///{path}")
    with pytest.raises(SchemaOutOfDate, match="another program"):
        opened.ensure_ready(auto_upgrade=True)
    opened.close()
    assert path.read_bytes() == before


def test_a_server_that_is_not_there_is_said() -> None:
    """Nobody listens on port 1; the password stays unsaid."""
    opened = Writer("postgresql://me:secret@127.0.0.1:1/x")
    with pytest.raises(StorageUnavailable, match="PostgreSQL cannot be used") as said:
        opened.ensure_ready(auto_upgrade=True)
    assert "secret" not in said.value.detail
    with pytest.raises(StorageUnavailable, match="PostgreSQL cannot be used"), opened.transaction():
        pass


def test_of_two_parts_of_a_transaction_one_may_fail(opened: Writer, engine: Engine) -> None:
    """Whether it is a fault of ours or the database that refuses: what came before it stands."""
    with opened.transaction() as conn:
        writer.add(conn, portion([row(1)]), quarantine_days=14)
        with pytest.raises(ZeroDivisionError), conn.savepoint():
            _add_and_fail(conn)
        with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)), conn.savepoint():
            conn.run("INSERT INTO meta (name, value) VALUES ('data_version', '7')")
        with conn.savepoint():
            writer.add(conn, portion([row(3)]), quarantine_days=14)
    assert query(engine, "SELECT key FROM event ORDER BY key") == [(1,), (3,)]


def test_the_settings_of_a_server_do_not_matter(opened: Writer, engine: Engine) -> None:
    """Commits last, and foreign keys hold, whatever the default is."""
    with opened.transaction() as conn:
        if conn.embedded:
            names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            found = [conn.rows(f"PRAGMA {name}")[0][0] for name in names]
            assert found == ["wal", 2, 1, 30_000]
        else:
            found = [
                conn.rows(f"SHOW {name}")[0][0]
                for name in ("transaction_isolation", "lock_timeout")
            ]
            assert found == ["read committed", "30s"]
        with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)), conn.savepoint():
            conn.run("INSERT INTO source (server_id, name) VALUES (99, 'x')")


def test_an_engine_opens_the_same_file(tmp_path: Path) -> None:
    """Wherever the folder of the file has yet to be made."""
    url = f"sqlite:///{tmp_path / 'a' / 'b.db'}"
    opened = Writer(url)
    opened.ensure_ready(auto_upgrade=False)
    _store(opened, 1)
    engine = make_engine(url)
    assert query(engine, "SELECT key FROM event") == [(1,)]
    engine.dispose()
    opened.close()
