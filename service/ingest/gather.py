"""
From the records of one delivery to the portions of it that are stored, one transaction each.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from service import names
from service.events import BatchName, Event, Ignored, Portion, Quarantined, Rejected, Row
from service.ingest.body import Parsed, Record
from service.ingest.keys import Delivery
from service.ingest.lines import Line
from service.ingest.recognise import Recogniser
from service.ingest.rows import row_of
from service.ingest.scan import Scanner

HOUR_NS: Final = 3_600 * 10**9

DEFAULT_SERVER: Final = "default"
"""The server of records that neither their delivery nor a field of theirs names one for."""

_T = TypeVar("_T")

Watcher = Callable[[Record, Event | Rejected | Ignored], None]
"""Told of each record and of what became of it."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Where a delivery comes from, and what it can be taken back with."""

    server: str | None
    """None leaves it to the lines, else `DEFAULT_SERVER`."""
    source: str
    batch: BatchName


class _Part:
    """What is gathered for one server."""

    __slots__ = ("hours", "ignored", "rejected", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.rejected: list[Quarantined] = []
        self.ignored = 0
        self.hours: dict[int, int] = {}

    def hear(self, time_ns: int, lines: int = 1) -> None:
        """Note that lines of this hour came."""
        hour = time_ns // HOUR_NS
        self.hours[hour] = self.hours.get(hour, 0) + lines


class Gathering:
    """
    One delivery under way: counts its records and gathers what is to be stored next.

    A record belongs to the delivery's server; where the delivery names none, to the server that a
    field of the record names. What is ignored or rejected then belongs to the default one: no field
    of it was understood.
    """

    def __init__(
        self,
        recogniser: Recogniser,
        delivery: Delivery,
        feed: Feed,
        now_us: int,
        *,
        watch: Watcher | None = None,
    ) -> None:
        """*now_us* is when the delivery arrived: the time of records without any of their own."""
        self._recogniser = recogniser
        self._scanner = Scanner(recogniser)
        self._delivery = delivery
        self._feed = feed
        self._server = names.bounded(feed.server) if feed.server else None
        self._now_us = now_us
        self._watch = watch
        self._position = 0
        self._parts: dict[str, _Part] = {}

    @property
    def size(self) -> int:
        """Records gathered since they were last handed over."""
        return sum(
            len(part.rows) + len(part.rejected) + part.ignored for part in self._parts.values()
        )

    def take(self, records: Iterable[Record]) -> None:
        """Add single records."""
        ignored: list[Record] = []
        for record in records:
            outcome = self._outcome(record)
            if outcome is None:
                continue
            if self._watch is not None:
                self._watch(record, outcome)
            if isinstance(outcome, Ignored):
                ignored.append(record)
            else:
                self._keep(outcome, self._position)
            self._position += 1
        self._ignore(ignored, len(ignored), self._time_of)

    def take_block(self, block: bytes) -> None:
        """Add a block of whole lines."""
        scanned = self._scanner.scan(block)
        for offset, outcome in scanned.found:
            self._keep(outcome, self._position + offset)
        self._position += scanned.records
        ignored = scanned.records - len(scanned.found)
        known = [found.time_ns for _, found in scanned.found if found.time_ns is not None]
        self._ignore(block.split(b"\n"), ignored, self._recogniser.line_time, known)

    def portions(self) -> list[Portion]:
        """Hand over what was gathered, one portion a server, and begin anew."""
        parts, self._parts = self._parts, {}
        if not parts:
            parts = {self._server or DEFAULT_SERVER: _Part()}
        return [
            Portion(
                server=server,
                source=self._feed.source,
                batch=self._feed.batch,
                arrived_us=self._now_us,
                rows=part.rows,
                rejected=part.rejected,
                ignored=part.ignored,
                hours=part.hours,
            )
            for server, part in sorted(parts.items())
        ]

    def _part(self, server: str | None) -> _Part:
        return self._parts.setdefault(self._server or server or DEFAULT_SERVER, _Part())

    def _outcome(self, record: Record) -> Event | Rejected | Ignored | None:
        if isinstance(record, Parsed):
            return self._recogniser.value(record.value)
        return self._recogniser.read(record)

    def _keep(self, outcome: Event | Rejected, position: int) -> None:
        if isinstance(outcome, Rejected):
            part = self._part(None)
            part.rejected.append(Quarantined(position=position, rejected=outcome))
            if outcome.time_ns is not None:
                part.hear(outcome.time_ns)
            return
        server = self._server or names.bounded(outcome.server or DEFAULT_SERVER)
        key = self._delivery.key(server, outcome, position)
        row = row_of(
            outcome,
            server=server,
            key=key,
            now_us=self._now_us,
            hasher=self._recogniser.hasher,
        )
        part = self._part(server)
        part.rows.append(row)
        part.hear(row.time_us * 1_000)

    def _ignore(
        self,
        items: Sequence[_T],
        number: int,
        time_of: Callable[[_T], int | None],
        known: Iterable[int] = (),
    ) -> None:
        """
        Count *number* ignored records, and mark the hours in which they were heard.

        *items* lie in the order in which they came, blank lines among them and those whose time is
        *known* and heard already. Reading the time of every one would cost more than all else, so
        the first and the last time decide, unless they lie more than an hour apart.
        """
        if not number:
            return
        part = self._part(None)
        part.ignored += number
        first = next((time for item in items if (time := time_of(item)) is not None), None)
        if first is None:
            return
        last = next(time for item in reversed(items) if (time := time_of(item)) is not None)
        if abs(last - first) > HOUR_NS:
            times = (time for item in items if (time := time_of(item)) is not None)
            hours = Counter(time // HOUR_NS for time in times)
            hours.subtract(time // HOUR_NS for time in known)
            for hour, lines in hours.items():
                if lines > 0:
                    part.hear(hour * HOUR_NS, lines)
            return
        part.hear(first, number)
        if last // HOUR_NS != first // HOUR_NS:
            part.hear(last)

    def _time_of(self, record: Record) -> int | None:
        if isinstance(record, Line):
            return self._recogniser.line_time(record.raw)
        return self._recogniser.value_time(record.value)
