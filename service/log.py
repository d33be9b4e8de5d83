"""
The log of a running service: one JSON object a line on standard error, the times in UTC.

No secret and no text of a record goes into it. Of an exception it therefore says type and place, never
the message, which may quote what a stranger sent.
"""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final

import structlog
from structlog.typing import EventDict, WrappedLogger

from service.errors import Busy

QUIET_S: Final = 5.0
"""An outage is over with the first success so long after its last failure."""


def _without_messages(_logger: WrappedLogger, _method: str, said: EventDict) -> EventDict:
    """Replace an exception by its type and the places it came through, of its causes too."""
    error = said.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    chain = []
    while isinstance(error, BaseException):
        places = [
            f"{Path(frame.f_code.co_filename).name}:{line} {frame.f_code.co_name}"
            for frame, line in walk_tb(error.__traceback__)
        ]
        chain.append({"type": type(error).__qualname__, "places": places[-20:]})
        error = error.__cause__ or error.__context__
    if chain:
        said["exceptions"] = chain[:5]
    return said


_SHARED: Final[list[structlog.typing.Processor]] = [
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    _without_messages,
]


def configure() -> None:
    """Write what the service and its web server log, from warnings up, in one form."""
    rendering = structlog.processors.JSONRenderer(ensure_ascii=True)
    structlog.configure(
        processors=[*_SHARED, rendering],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, rendering],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)


class Outage:
    """
    Whether something that requests need is there. Logs when that changes, not at every request.

    Safe to share between threads.
    """

    def __init__(self, what: str) -> None:
        """*what* fails while the outage lasts: `writing to the database`."""
        self._what = what
        self._lock = threading.Lock()
        self._began: float | None = None
        self._failed = 0.0
        self._failures = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note whether the block fails as `Busy`, or succeeds; other errors say nothing."""
        try:
            yield
        except Busy as error:
            self.failed(error)
            raise
        self._note_success()

    def failed(self, error: Busy) -> None:
        """Note that it could not even be tried."""
        with self._lock:
            self._failed = time.monotonic()
            self._failures += 1
            if self._began is None:
                self._began = self._failed
                _say("error", f"{self._what} fails", detail=error.detail)

    def _note_success(self) -> None:
        with self._lock:
            if self._began is None or time.monotonic() - self._failed < QUIET_S:
                return
            lasted, self._began = self._failed - self._began, None
            failures, self._failures = self._failures, 0
            _say("warning", f"{self._what} works again", after_s=round(lasted), failures=failures)


class Outages:
    """What can be out of order while the service runs."""

    def __init__(self) -> None:
        self.reading = Outage("reading the database")
        self.writing = Outage("writing to the database")
        self.taking = Outage("taking deliveries")


class Trouble:
    """Whether work that is done again and again succeeds. Logs when that changes; for one thread."""

    def __init__(self, what: str) -> None:
        """*what* is the work: `the weekly look`."""
        self._what = what
        self._failures = 0

    def failed(self, error: Exception) -> None:
        """Note that it failed, and say so of the first time."""
        self._failures += 1
        if self._failures == 1:
            _say("error", f"{self._what} fails, and is tried again", exc_info=error)

    def passed(self) -> None:
        """Note that it succeeded."""
        if self._failures:
            _say("warning", f"{self._what} works again", failures=self._failures)
        self._failures = 0


def _say(level: str, event: str, **more: Any) -> None:
    getattr(structlog.get_logger(), level)(event, **more)
