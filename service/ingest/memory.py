"""
Reading with a memory: the outcome is that of `recognise`, found on a shorter way where it can be.
"""

from typing import Any

from service.events import Event, Ignored, Rejected
from service.ingest.alike import Alike
from service.ingest.forms import Forms, Known
from service.ingest.recognise import Recogniser

Outcome = Event | Known | Rejected | Ignored


class Memory:
    """Reads records as its recogniser does, and remembers their forms. Threads may share it."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.recogniser = recogniser
        self._forms = Forms(recogniser.profiles, recogniser.hasher)
        self._alike = Alike(self._forms, recogniser.search)
        self.find = self._alike.find

    def line(self, raw: bytes, server: str | None) -> Outcome | None:
        """
        Return what one whole line is that `find` does not know, or None for a blank one.

        *server* is the delivery's; where it names none, an event belongs to that of its record.
        """

        def record(value: dict[str, Any]) -> Outcome:
            return self._record(value, server, raw)

        return self.recogniser.line(raw, record=record)

    def value(self, value: object, server: str | None) -> Outcome:
        """Return what an already parsed record is; *server* as in `line`."""

        def record(value: dict[str, Any]) -> Outcome:
            return self._record(value, server)

        return self.recogniser.value(value, record=record)

    def _record(
        self, record: dict[str, Any], server: str | None, raw: bytes | None = None
    ) -> Outcome:
        """Read a record; *raw* is the line that it is."""
        taken = self._forms.read(record)
        if taken is None:
            return self.recogniser.record(record)
        found = self._forms.find(taken)
        if found is None:
            outcome = self.recogniser.record(record)
            if isinstance(outcome, Event):
                self._forms.learn(taken, outcome)
            return outcome
        form, values = found
        known = self._forms.known(form, values, server, self.recogniser.latest_ns)
        if known is None:
            return self.recogniser.record(record)
        if raw is not None:
            self._alike.learn(raw, form, values)
        return known
