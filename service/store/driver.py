"""
Transactions spoken to through the driver itself: the hot path of writing, without SQLAlchemy.

One writer at a time, as in `engine`: on SQLite by `BEGIN IMMEDIATE`, on PostgreSQL by an advisory lock.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from service.errors import Busy, StorageUnavailable
from service.store.address import LOCK_WAIT_S, VERSION_TABLE, SqliteFile, read_url
from service.store.meaning import meaning_of, translated

HEAD = "0012"
"""The revision this version of the product works with: the last file in `migrations/versions`. Known
here so that a start with an up-to-date database loads neither Alembic nor SQLAlchemy."""

SECRETS = ("key_secret", "identity_secret")
"""Names in `meta` of the two secrets that every database has."""

WRITER_LOCK = 7_019_251_148
"""Number of the advisory lock on PostgreSQL; any constant will do."""

_CACHE_KIB = 8_000
"""Pages of a SQLite file that the writer may hold. With the usual 2 MB a portion of 50,000 rows is
written twice, since its first pages have to leave before its last ones come."""

Values = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """A driver's connection within a transaction. SQL has a `?` for each value on both databases."""

    raw: Any
    """The `sqlite3.Connection` or `psycopg.Connection`."""
    embedded: bool
    """Whether the database is SQLite."""
    known: dict[str, dict[Any, Any]] = field(default_factory=dict)
    """Ids that this transaction has found or made, by kind; the works of a group commit share them."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run one statement and return the driver's cursor."""
        if self.embedded:
            return self.raw.execute(sql, values)
        return self.raw.execute(sql.replace("?", "%s"), values or None)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Values]:
        """Run one query and return its rows."""
        found: list[Values] = self.run(sql, values).fetchall()
        return found

    @property
    def stands(self) -> bool:
        """Whether the transaction can still be committed or, at a savepoint, gone on with."""
        if self.embedded:
            return bool(self.raw.in_transaction)
        return bool(self.raw.info.transaction_status.name == "INTRANS")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """
        A part of the transaction that is taken back by itself when it raises.

        Raises:
            StorageUnavailable: The part failed without saying so, or the whole transaction is lost.
        """
        self.raw.execute("SAVEPOINT part")
        try:
            with translated():
                yield
                self.refuse_aborted()
        except BaseException:
            if self.embedded and not self.stands:  # such as on a full disk
                raise
            self.known.clear()  # some of it may have been made here
            self.raw.execute("ROLLBACK TO SAVEPOINT part")
            self.raw.execute("RELEASE SAVEPOINT part")
            raise
        self.raw.execute("RELEASE SAVEPOINT part")

    def refuse_aborted(self) -> None:
        """PostgreSQL answers the COMMIT of a failed transaction with a silent ROLLBACK: say so aloud."""
        if not self.stands:
            raise StorageUnavailable(
                "the transaction failed before its commit, so nothing of it is stored; send it again"
            )


class Writer:
    """
    The connection by which a process writes: opened when it is needed, and again when it was lost.

    Threads may share it; they take turns.
    """

    def __init__(self, url: str) -> None:
        """
        Connects to nothing yet.

        Raises:
            LastCallError: *url* names no database that can be used.
        """
        self._url = url
        self._address = read_url(url)
        self._connection: Connection | None = None
        self._turn = Lock()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """
        The one write transaction: committed when the context ends, rolled back when it raises.

        Waits up to `LOCK_WAIT_S` seconds for the writer before it.

        Raises:
            Busy: Another writer held the lock too long; the same transaction will succeed later.
            StorageUnavailable: The database cannot be written: full, read-only, gone.
        """
        with self._held(writes=True) as connection:
            yield connection
            connection.refuse_aborted()
            connection.raw.commit()

    @contextmanager
    def erasing(self) -> Iterator[Connection]:
        """
        Do the same for rows that must not be found again: SQLite overwrites them in the file and, as soon
        as nobody reads an older state of it, in its log. PostgreSQL does so when it sees fit.
        """
        with self._held(writes=True) as connection:
            if connection.embedded:
                connection.raw.execute("PRAGMA secure_delete = ON")
            yield connection
            connection.refuse_aborted()
            connection.raw.commit()
            if connection.embedded:
                connection.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """
        Read without the lock, between transactions; nothing is committed.

        Raises:
            Busy, StorageUnavailable: The database cannot be read now.
        """
        with self._held(writes=False) as connection:
            yield connection
            connection.raw.rollback()

    def ensure_ready(self, auto_upgrade: bool) -> None:
        """
        Make sure that the database has the schema of this version, and its secrets.

        The embedded database upgrades itself; PostgreSQL only where *auto_upgrade* allows it.

        Raises:
            SchemaOutOfDate: It must be upgraded by hand, or a newer version of the product wrote it.
            Busy, StorageUnavailable: It cannot be used.
            LastCallError: It holds events, but their secrets are lost.
        """
        if not self._is_ready():
            from service.store import migrate  # and with it Alembic, for which nobody should wait

            migrate.ensure_ready_at(self._url, auto_upgrade)

    def close(self) -> None:
        """Close the connection, when the transaction that is under way has ended."""
        with self._turn:
            self._discard()

    def _is_ready(self) -> bool:
        """Whether the database is as this version wants it; False also where that cannot be told."""
        names = ", ".join(f"'{name}'" for name in SECRETS)
        try:
            with self.reading() as connection:
                [(revision, secrets)] = connection.rows(
                    f"SELECT version_num, (SELECT count(*) FROM meta WHERE name IN ({names})) "
                    f"FROM {VERSION_TABLE}"
                )
        except Exception:  # noqa: BLE001 (what is wrong is said by what mends it)
            return False
        return bool(revision == HEAD and secrets == len(SECRETS))

    @contextmanager
    def _held(self, *, writes: bool) -> Iterator[Connection]:
        """A transaction for the thread whose turn it is; rolled back where it is not ended."""
        if not self._turn.acquire(timeout=LOCK_WAIT_S):
            raise Busy("another thread is writing to the database; try again later")
        try:
            with translated():
                connection = self._begun(writes=writes)
                try:
                    yield connection
                except BaseException:
                    self._roll_back(connection)
                    raise
        finally:
            self._turn.release()

    def _begun(self, *, writes: bool) -> Connection:
        """Begin a transaction, on a new connection where there is none or it was lost meanwhile."""
        if self._connection is not None:
            try:
                self._begin(self._connection, writes=writes)
            except Exception as error:
                self._roll_back(self._connection)
                if type(meaning_of(error)) is Busy:
                    raise
                self._discard()
            else:
                return self._connection
        opened = self._open()
        try:
            self._begin(opened, writes=writes)
        except BaseException:
            opened.raw.close()
            raise
        self._connection = opened
        return opened

    def _open(self) -> Connection:
        if isinstance(self._address, SqliteFile):
            self._address.make_folder()
            return Connection(self._address.connect(cache_kib=_CACHE_KIB), embedded=True)
        return Connection(self._address.connect(), embedded=False)

    def _begin(self, connection: Connection, *, writes: bool) -> None:
        connection.known.clear()
        if connection.embedded:
            connection.raw.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            return
        # Read committed, so that the first statement after the wait sees what the writer before us
        # has committed, whatever the server's default is.
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
        if writes:
            begin += (
                f"; SET LOCAL lock_timeout = '{LOCK_WAIT_S}s'; "
                f"SELECT pg_advisory_xact_lock({WRITER_LOCK})"
            )
        connection.raw.execute(begin, prepare=False)

    def _roll_back(self, connection: Connection) -> None:
        """End the transaction; a connection that cannot even do that is closed."""
        try:
            connection.raw.rollback()
        except Exception:  # noqa: BLE001 (what went wrong before is what matters)
            self._discard()

    def _discard(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.raw.close()


@contextmanager
def open_writer(url: str, *, auto_upgrade: bool) -> Iterator[Writer]:
    """
    A writer over a database, its schema made ready; closed at the end.

    Raises:
        LastCallError: The database cannot be used.
    """
    writer = Writer(url)
    try:
        writer.ensure_ready(auto_upgrade)
        yield writer
    finally:
        writer.close()
