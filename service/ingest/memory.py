"""
Reading with a memory: the outcome is that of `recognise`, found on a shorter way where it can be.
"""

from typing import Any

from service.events import Event, Ignored, Rejected
from service.ingest.alike import Alike
from service.ingest.forms import Forms, Known
from service.ingest.recognise import Recogniser
from service.ingest.records import Origin, Parsed, Record

Outcome = Event | Known | Rejected | Ignored


class Memory:
    """Remembers the forms of what a recogniser reads, and their lines. Threads may share it."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.recogniser = recogniser
        self.forms = Forms(recogniser.json_profiles, recogniser.hasher)
        self.alike = Alike(self.forms, recogniser.search)


class Reading:
    """Reads the records of one delivery with a memory, as its recogniser does."""

    def __init__(self, memory: Memory, server: str | None) -> None:
        """*server* is the delivery's; where it names none, an event belongs to that of its record."""
        self._recogniser = memory.recogniser
        self._forms = memory.forms
        self._alike = memory.alike
        self._server = server
        self.find = self._alike.find
        """`known` without a call in between."""

    def known(self, raw: bytes) -> Known | None:
        """Return what a line is that is known by its bytes."""
        return self._alike.find(raw, self._server, self._recogniser.latest_ns)

    def line(self, raw: bytes) -> Outcome | None:
        """Return what one whole line is that is not `known`, or None for a blank one."""
        return self._recogniser.line(raw, reader=self)

    def single(self, record: Record) -> Outcome | None:
        """Return what a record is, or None for a blank line."""
        if isinstance(record, Parsed):
            return self._recogniser.value(
                record.value, record.origin, broken=record.broken, reader=self
            )
        return self._recogniser.read(record, reader=self)

    def bare(self, record: dict[str, Any], origin: Origin, raw: bytes | None) -> Outcome:
        """Read a record that is no wrapper; *raw* is the line that it was."""
        taken = self._forms.read(record) if origin.native_id is None else None
        if taken is None:
            return self._recogniser.bare(record, origin)
        found = self._forms.find(taken)
        if found is None:
            outcome = self._recogniser.bare(record, origin)
            if isinstance(outcome, Event):
                self._forms.learn(taken, outcome)
            return outcome
        form, values = found
        known = self._forms.known(form, values, self._server, self._recogniser.latest_ns)
        if known is None:
            return self._recogniser.bare(record, origin)
        if raw is not None:
            self._alike.learn(raw, form, values)
        return known
