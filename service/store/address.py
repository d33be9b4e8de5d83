"""
Where a database is: what its URL says, and a connection of its driver to it.

Read without SQLAlchemy, which takes longer to import than a short log takes to store.
"""

import os
import re
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qsl, unquote

from service.errors import LastCallError, StorageUnavailable

LOCK_WAIT_S = 30
"""How long a writer waits for the one before it."""
CONNECT_WAIT_S = 10
"""How long a PostgreSQL server that says nothing is waited for, where its URL names no `connect_timeout`."""
_AGAIN_S = 0.01

VERSION_TABLE = "lastcall_version"
"""Where Alembic keeps the revision: a name of our own, so that a database that another program keeps
with Alembic is not taken for ours."""

_STATEMENTS = 512
"""That a connection keeps ready: what the writer says comes in a few sizes each."""

GOOD_URLS = "use sqlite:///path/to/lastcall.db or postgresql://user:password@host:5432/database"

_URL = re.compile(
    r"""
    (?P<scheme>\w+)(?:\+\w+)?://
    (?:(?P<user>[^:/]*)(?::(?P<password>[^@]*))?@)?
    (?:\[(?P<host6>[^/?]+)\]|(?P<host>[^/:?]+))?
    (?::(?P<port>\d*))?
    (?:/(?P<database>[^?]*))?
    (?:\?(?P<query>.*))?
    """,
    re.VERBOSE,
)
_PARAMETERS = {"host": "host", "host6": "host", "port": "port", "user": "user"} | {
    "password": "password",
    "database": "dbname",
}


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A SQLite file."""

    path: Path

    def connect(self, *, cache_kib: int = 2_000) -> sqlite3.Connection:
        """
        Open it, in a mode in which a commit lasts; a new file, or one of ours, is switched to WAL. A new file is
        its owner's alone, as what SQLite puts beside it is: it holds what logins are signed with.

        *cache_kib* bounds the memory for its pages. The connection begins no transaction by itself,
        and may be handed from thread to thread.
        """
        with suppress(OSError):  # it is there, or SQLite says what is wrong
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(
            self.path,
            timeout=LOCK_WAIT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        try:
            self._prepare(connection, cache_kib)
        except BaseException:
            connection.close()
            raise
        return connection

    def make_folder(self) -> None:
        """Create the folder that the file lies in. Raises StorageUnavailable."""
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageUnavailable(
                f"the folder {folder} cannot be created ({error.strerror}); "
                "name a file in a folder that can be written"
            ) from error

    def _prepare(self, connection: sqlite3.Connection, cache_kib: int) -> None:
        connection.execute(f"PRAGMA busy_timeout = {int(LOCK_WAIT_S * 1000)}")
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not tables or VERSION_TABLE in tables:  # another program's file stays as it is
                _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{cache_kib}")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """
    Switch to the write-ahead log. Of two that do so at once SQLite refuses one without waiting
    (pragma journal_mode knows no busy_timeout), so that this one waits.
    """
    until = monotonic() + LOCK_WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(_AGAIN_S)
        else:
            return


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """A database on a PostgreSQL server, by the parameters that libpq knows."""

    parameters: dict[str, str]

    def connect(self) -> Any:
        """Open a psycopg connection, which begins no transaction by itself."""
        import psycopg  # 30 ms that a SQLite database does not need

        return psycopg.connect(**self.parameters, autocommit=True)  # type: ignore[arg-type]


Address = SqliteFile | PostgresDatabase


def read_url(url: str) -> Address:
    """
    Read a database URL.

    Raises:
        LastCallError: The URL is of another database, of none, or names no SQLite file.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise LastCallError(f"this is not a database URL; {GOOD_URLS}")
    if found["scheme"] == "sqlite":
        named = unquote(found["database"] or "")
        if found["host"] or named in ("", ":memory:"):
            raise LastCallError(f"SQLite needs the path of a file; {GOOD_URLS}")
        return SqliteFile(Path(named).expanduser().absolute())
    if found["scheme"] in ("postgresql", "postgres"):
        said = {_PARAMETERS[part]: found[part] for part in _PARAMETERS if found[part]}
        for part in ("user", "password", "dbname"):
            if part in said:
                said[part] = unquote(said[part])
        default = {"connect_timeout": str(CONNECT_WAIT_S)}  # libpq would wait for minutes
        return PostgresDatabase(default | dict(parse_qsl(found["query"] or "")) | said)
    raise LastCallError(f"{found['scheme']} is not a database that can be used; {GOOD_URLS}")
