"""
The weekly log's write seam: each Monday the questions are asked, and what they say is kept.

`look` does it once. `Weekly` does it beside a service that runs: when it starts, and after each Monday.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event, Thread

from service.analysis.weekly import due, monday
from service.answers.query import Moment
from service.answers.sayings import QUESTIONS, Asked
from service.clock import SECOND_US
from service.log import Trouble
from service.said import Question
from service.store import read_activity, read_audit, read_said
from service.store import said as store
from service.store.engine import Engine, driver_of, reading, writing

SETTLE_US = 10 * 60 * SECOND_US
"""A running service looks so long after midnight, so that lines which were under way have arrived."""
PAUSE_S = 600.0
"""How long it sleeps at a time: a clock may be set, and a machine may sleep."""
RETRY_S = 60.0
CLOSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Looked:
    """One look that was taken: how many words were kept."""

    question: Question
    week_us: int
    words: int


def look(
    engine: Engine,
    moment: Moment,
    *,
    questions: Mapping[Question, Asked] = QUESTIONS,
    settle_us: int = 0,
    stopping: Callable[[], bool] = lambda: False,
) -> list[Looked]:
    """
    Ask each question as of the last Monday (00:00 UTC) that is over for *settle_us*, exactly, and keep what
    it says; before that as of those before it that were missed, eight Mondays in all. What was kept stays
    as it is, so that to look again does nothing. Ends early once *stopping*.

    Raises:
        Busy, StorageUnavailable: The database cannot be read or written now.
    """
    found: list[Looked] = []
    for question, asked in questions.items():
        for week_us in _due(engine, moment.now_us - settle_us, question):
            if stopping():
                return found
            words = _take(engine, moment, question, asked, week_us)
            if words is not None:
                found.append(Looked(question, week_us, words))
    return found


def _take(
    engine: Engine, moment: Moment, question: Question, asked: Asked, week_us: int
) -> int | None:
    """Ask one question, without holding up writers, and keep the words; None where somebody else did."""
    while True:
        with reading(engine) as connection:
            forgotten = read_audit.number_of(connection, "forget")
            sayings = list(asked(connection, week_us, moment))
        with writing(engine) as connection:
            # What was said of a client must not be written once it has been forgotten: ask again then.
            if read_audit.number_of(connection, "forget") == forgotten:
                written = driver_of(connection)
                kept = store.keep(written, question, week_us, sayings, written_us=moment.now_us)
                return len(sayings) if kept else None


def _due(engine: Engine, at_us: int, question: Question) -> tuple[int, ...]:
    with reading(engine) as connection:
        first_us = read_activity.first_event(connection, at_us)
        looked = read_said.looks(connection)[question]
    return () if first_us is None else due(at_us, first_us, looked)


class Weekly:
    """Looks in a thread of its own for as long as a service runs."""

    def __init__(
        self, engine: Engine, moment: Callable[[], Moment], *, retry_s: float = RETRY_S
    ) -> None:
        """
        Does nothing until it is started. *moment* says what time it is; a look that fails is taken again
        after *retry_s*.
        """
        self._engine = engine
        self._moment = moment
        self._retry_s = retry_s
        self._stop = Event()
        self._trouble = Trouble("the weekly look")
        # A daemon, so that a look which takes long does not hold up the end: it is taken at the next start.
        self._thread = Thread(target=self._run, name="weekly", daemon=True)

    def start(self) -> None:
        """Take the looks that are due, and from then on each Monday's."""
        self._thread.start()

    def close(self) -> None:
        """
        Stop: at once, but for a moment in which a look that is under way may end. One that does not keeps
        nothing, or all of its words.
        """
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_S)

    def _run(self) -> None:
        taken: int | None = None
        while not self._stop.is_set():
            moment = self._moment()
            week_us, pause_s = monday(moment.now_us - SETTLE_US), PAUSE_S
            if week_us != taken:
                try:
                    stopping = self._stop.is_set
                    look(self._engine, moment, settle_us=SETTLE_US, stopping=stopping)
                except Exception as error:  # noqa: BLE001 - whatever it is, the service goes on
                    self._trouble.failed(error)
                    pause_s = self._retry_s
                else:
                    self._trouble.passed()
                    taken = week_us
            self._stop.wait(pause_s)
