"""What a driver's error means to a user."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.errors import Busy, LastCallError, StorageUnavailable

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


def meaning_of(error: Any) -> LastCallError | None:
    """What a driver's error means to a user; None where it is not about the state of the database."""
    if isinstance(error, sqlite3.Error):
        return _meaning_of_sqlite(error)
    if type(error).__module__.partition(".")[0] == "psycopg":
        return _meaning_of_postgres(error)
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Turn what a driver says into what a user can act on; a fault of ours stays as it is."""
    try:
        yield
    except Exception as error:
        if (meaning := meaning_of(error)) is not None:
            raise meaning from error
        raise


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
