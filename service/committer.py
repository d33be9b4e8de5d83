"""
Group commit: what several threads want stored at the same time shares one transaction.

A commit that lasts costs the disk the same however much is in it, and there is one writer at a time.
So whoever's turn it is stores for all that wait.
"""

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar, cast

from service.errors import Busy, StorageUnavailable
from service.store.driver import Connection, Writer

MOST = 64
"""Works of one transaction: it bounds how long the first of them waits for the last."""

_INTERRUPTED = "storing was interrupted, so nothing is stored; send it again"

T = TypeVar("T")


class _Job(Generic[T]):
    """One work, and what came of it."""

    __slots__ = ("done", "error", "result", "work")

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self.work = work
        self.done = False
        self.error: BaseException | None = None
        self.result: T | None = None

    def run(self, conn: Connection) -> None:
        self.result = self.work(conn)

    def end(self, error: BaseException | None) -> None:
        """The transaction has ended, well or with this error, which does not hide one of its own."""
        self.error = self.error or error
        self.done = True


class Committer:
    """
    Stores the works of many threads in few transactions. Threads share one.

    There is no thread of its own that could die or be waited for in vain: one of the waiting threads
    does the work, and the next takes over from it.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: deque[_Job[object]] = deque()
        self._turn = Lock()
        self._closed = False

    def commit(self, work: Callable[[Connection], T]) -> T:
        """
        Run *work* within a write transaction and return its result once that is committed.

        *work* may share the transaction with others, so it must neither end it nor call `commit`.
        When it raises, what it stored is taken back, and the error is raised here and nowhere else.

        Raises:
            Busy, StorageUnavailable: Nothing is stored; the same work will succeed later.
        """
        job: _Job[T] = _Job(work)
        if self._closed:
            raise StorageUnavailable("the server is stopping; send it again when it is back")
        self._waiting.append(cast(_Job[object], job))
        with self._turn:
            while not job.done:
                if not (jobs := self._gather()):  # whoever took it was interrupted at once
                    raise StorageUnavailable(_INTERRUPTED)
                self._store(jobs)
        if job.error is not None:
            raise job.error
        return cast(T, job.result)

    def close(self) -> None:
        """Refuse further works; those that wait already are stored before this returns."""
        self._closed = True
        with self._turn:
            while jobs := self._gather():
                self._store(jobs)

    def _gather(self) -> list[_Job[object]]:
        jobs: list[_Job[object]] = []
        while self._waiting and len(jobs) < MOST:
            jobs.append(self._waiting.popleft())
        return jobs

    def _store(self, jobs: list[_Job[object]]) -> None:
        """Run works in one transaction; whatever happens, none of them is left undone."""
        failed: BaseException | None = None
        try:
            with self._writer.transaction() as conn:
                if len(jobs) == 1:
                    jobs[0].run(conn)
                else:
                    for job in jobs:
                        self._part(conn, job)
        except Exception as error:  # noqa: BLE001 (it goes to the threads that wait for it)
            failed = error
        except BaseException:
            failed = StorageUnavailable(_INTERRUPTED)
            raise
        finally:
            for job in jobs:
                job.end(_own(failed))

    def _part(self, conn: Connection, job: _Job[object]) -> None:
        """Run one work of several, so that its failure leaves the others as they are."""
        try:
            with conn.savepoint():
                job.run(conn)
        except Exception as error:
            if not conn.stands:
                raise
            job.error = error


def _own(error: BaseException | None) -> BaseException | None:
    """The error for one of several threads, each of which adds its own traceback."""
    return type(error)(error.detail) if isinstance(error, Busy) else error
