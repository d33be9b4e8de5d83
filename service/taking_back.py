"""
A write seam: what was stored is taken out again. REST, pages and commands all come here.

Each method is told by whom (`actor`: the way in, such as `rest` or `command`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from service.clock import Clock, system_clock
from service.errors import BadParameter
from service.settings import Settings
from service.store import forget as forgetting
from service.store import undo as undoing
from service.store.driver import Writer, open_writer


class TakingBack:
    """
    Takes batches back, and forgets. Safe to share between threads.

    Whatever a method raises, nothing is changed then; after Busy and StorageUnavailable the same will succeed
    later.
    """

    def __init__(self, writer: Writer, *, clock: Clock = system_clock) -> None:
        """The database of *writer* must be ready."""
        self._writer = writer
        self._clock = clock

    def undo(self, batch: int, *, actor: str, dry_run: bool = False) -> undoing.Undone:
        """
        Take back a batch or (*dry_run*) say what that would come to.

        Raises:
            NotFound: There is no such batch, or it was taken back already.
            TooLate: It began too long ago.
        """
        if dry_run:
            with self._writer.reading() as connection:
                return undoing.plan(connection, batch, self._clock())
        with self._writer.transaction() as connection:
            return undoing.undo(connection, batch, self._clock(), actor=actor)

    def forget(
        self, client: str | None, server: str | None, *, actor: str, dry_run: bool = False
    ) -> forgetting.Forgotten:
        """
        Delete all data of a client, at one server or everywhere, or (no client) of a whole server; or
        (*dry_run*) say what that would come to.

        Raises:
            BadParameter: Neither is named.
            NotFound: Nothing is known of it.
        """
        if client is None and server is None:
            raise BadParameter("--client", "missing; name a client, a server (--server), or both")
        if dry_run:
            with self._writer.reading() as connection:
                return forgetting.plan(connection, client, server)
        with self._writer.erasing() as connection:
            return forgetting.forget(connection, client, server, self._clock(), actor=actor)


@contextmanager
def open_taking_back(settings: Settings) -> Iterator[TakingBack]:
    """What does it, over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        yield TakingBack(writer)
