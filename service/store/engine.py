"""
Connections and transactions of SQLAlchemy, the same on both databases: for questions, for the schema
and for what is written by hand.

One writer at a time: on SQLite by `BEGIN IMMEDIATE`, on PostgreSQL by an advisory lock that every
writing transaction takes first, so that no two of them can deadlock. Readers see one snapshot. Events
are stored by way of `driver`, which keeps to the same locks.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from service.errors import Busy
from service.store import driver
from service.store.address import LOCK_WAIT_S, SqliteFile, read_url
from service.store.meaning import meaning_of, translated

__all__ = ["Connection", "Engine", "driver_of", "make_engine", "reading", "writing"]

_WRITING = "lastcall_writing"


def make_engine(url: str) -> Engine:
    """
    Make an engine for *url*; connects to nothing yet, but creates the folder of a SQLite file.

    Raises:
        LastCallError: The URL is of another database, of none, or names no SQLite file.
        StorageUnavailable: The folder of a SQLite file cannot be created.
    """
    address = read_url(url)
    if isinstance(address, SqliteFile):
        return _sqlite_engine(address)
    parsed = sa.make_url(url).set(drivername="postgresql+psycopg")
    wait = address.parameters["connect_timeout"]
    parsed = parsed.update_query_dict({"connect_timeout": wait})
    return sa.create_engine(parsed, pool_pre_ping=True, max_overflow=20)


def _sqlite_engine(file: SqliteFile) -> Engine:
    """An engine for a SQLite file, with our own BEGIN and the pragmas that make a commit last."""
    file.make_folder()
    url = sa.URL.create("sqlite+pysqlite", database=str(file.path))
    engine = sa.create_engine(url, creator=file.connect, max_overflow=-1)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    """Begin the transaction ourselves: the driver's own BEGIN would come too late for a lock."""
    writes = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def driver_of(connection: Connection) -> driver.Connection:
    """The driver's own connection, inside the transaction that *connection* has open."""
    return driver.Connection(
        connection.connection.driver_connection, embedded=connection.dialect.name == "sqlite"
    )


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
                    f"SELECT pg_advisory_xact_lock({driver.WRITER_LOCK})"
                )
                yield connection
                driver_of(connection).refuse_aborted()
        else:
            connection.execution_options(**{_WRITING: True})
            with connection.begin():
                yield connection
                driver_of(connection).refuse_aborted()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what a driver says into what a user can act on; a fault of ours stays as it is."""
    try:
        with translated():
            yield
    except sa.exc.DBAPIError as error:
        if (meaning := meaning_of(error.orig)) is not None:
            raise meaning from error
        raise
    except sa.exc.TimeoutError as error:
        raise Busy("every connection to the database is in use; try again later") from error
