"""
Connections and transactions, the same on both databases.

One writer at a time: on SQLite by `BEGIN IMMEDIATE`, on PostgreSQL by an advisory lock that every
writing transaction takes first, so that no two of them can deadlock. Readers see one snapshot.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from service.errors import Busy, LastCallError, StorageUnavailable
from service.store.schema import VERSION_TABLE

__all__ = ["Connection", "Engine", "make_engine", "reading", "writing"]

LOCK_WAIT_S = 30
"""How long a writer waits for the one before it."""

WRITER_LOCK = 7_019_251_148
"""Number of the advisory lock on PostgreSQL; any constant will do."""

_GOOD_URLS = "use sqlite:///path/to/lastcall.db or postgresql://user:password@host:5432/database"
_WRITING = "lastcall_writing"

_SQLITE_BUSY = {5, 6}
_SQLITE_UNAVAILABLE = {
    3: "no permission to use it",
    8: "it is read-only",
    10: "reading or writing failed",
    11: "the file is damaged",
    13: "the disk is full",
    14: "the file cannot be opened",
    26: "the file is not a database",
}
_POSTGRES_BUSY = ("40001", "40P01", "55P03", "57014", "53300")
_POSTGRES_UNAVAILABLE = ("08", "25006", "28", "3D", "53", "57P", "58")


def make_engine(url: str) -> Engine:
    """
    Make an engine for *url*; connects to nothing yet, but creates the folder of a SQLite file.

    Raises:
        LastCallError: The URL is of another database, of none, or names no SQLite file.
        StorageUnavailable: The folder of a SQLite file cannot be created.
    """
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise LastCallError(f"this is not a database URL; {_GOOD_URLS}") from None
    family = parsed.drivername.partition("+")[0]
    if family == "sqlite":
        return _sqlite_engine(parsed)
    if family in ("postgresql", "postgres"):
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, max_overflow=20
        )
    raise LastCallError(f"{family} is not a database that can be used; {_GOOD_URLS}")


def _sqlite_engine(url: sa.URL) -> Engine:
    """An engine for a SQLite file, with our own BEGIN and the pragmas that make a commit last."""
    if url.database in (None, "", ":memory:"):
        raise LastCallError(f"SQLite needs the path of a file; {_GOOD_URLS}")
    path = Path(str(url.database)).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(
            f"the folder {path.parent} cannot be created ({error.strerror}); "
            "name a file in a folder that can be written"
        ) from error
    engine = sa.create_engine(
        sa.URL.create("sqlite+pysqlite", database=str(path), query=url.query),
        connect_args={"timeout": LOCK_WAIT_S, "isolation_level": None},
        max_overflow=-1,
    )
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Set what SQLite keeps per connection; switch a new file, or one of ours, to WAL."""
    connection.execute(f"PRAGMA busy_timeout = {LOCK_WAIT_S * 1000}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not tables or VERSION_TABLE in tables:  # another program's file stays as it is
            connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    """Begin the transaction ourselves: the driver's own BEGIN would come too late for a lock."""
    writes = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """
    One snapshot of the database, for as long as the context lasts.

    Raises:
        Busy, StorageUnavailable: The database cannot be read now.
    """
    with _translated(), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """
    The one write transaction: committed when the context ends, rolled back when it raises.

    Waits up to `LOCK_WAIT_S` seconds for the writer before it.

    Raises:
        Busy: Another writer held the lock too long; the same transaction will succeed later.
        StorageUnavailable: The database cannot be written: full, read-only, gone.
    """
    with _translated(), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            # Read committed, so that the first statement after the wait sees what the writer
            # before us has committed, whatever the server's default is.
            connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin():
                connection.exec_driver_sql(
                    f"SET LOCAL lock_timeout = '{LOCK_WAIT_S}s'; "
                    f"SELECT pg_advisory_xact_lock({WRITER_LOCK})"
                )
                yield connection
                _refuse_aborted(connection)
        else:
            connection.execution_options(**{_WRITING: True})
            with connection.begin():
                yield connection


def _refuse_aborted(connection: Connection) -> None:
    """PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK: say so aloud."""
    status = connection.connection.driver_connection.info.transaction_status  # type: ignore[union-attr]
    if status.name == "INERROR":
        raise StorageUnavailable(
            "the transaction failed before its commit, so nothing of it is stored; send it again"
        )


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what a driver says into what a user can act on; a fault of ours stays as it is."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        if (meaning := meaning_of(error.orig)) is not None:
            raise meaning from error
        raise
    except sa.exc.TimeoutError as error:
        raise Busy("every connection to the database is in use; try again later") from error
    except Exception as error:
        if (meaning := meaning_of(error)) is not None:
            raise meaning from error
        raise


def meaning_of(error: Any) -> LastCallError | None:
    """What a driver's error means to a user; None where it is not about the state of the database."""
    if isinstance(error, sqlite3.Error):
        return _meaning_of_sqlite(error)
    if type(error).__module__.partition(".")[0] == "psycopg":
        return _meaning_of_postgres(error)
    return None


def _meaning_of_sqlite(error: sqlite3.Error) -> LastCallError | None:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _SQLITE_BUSY:
        return Busy("another process is writing to the database; try again later")
    if code in _SQLITE_UNAVAILABLE:
        return StorageUnavailable(
            f"the database cannot be used: {_SQLITE_UNAVAILABLE[code]} ({error}); "
            "check its path, its permissions and the free space"
        )
    return None


def _meaning_of_postgres(error: Any) -> LastCallError | None:
    from psycopg import OperationalError

    state: str = error.sqlstate or ""
    if state in _POSTGRES_BUSY:
        return Busy("the database is busy with another transaction; try again later")
    if state.startswith(_POSTGRES_UNAVAILABLE) or (
        not state and isinstance(error, OperationalError)
    ):
        first_line = str(error).strip().partition("\n")[0]
        return StorageUnavailable(
            f"PostgreSQL cannot be used: {first_line}; check that it runs, that the URL is right "
            "and that it can be written"
        )
    return None
