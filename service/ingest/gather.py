"""
From the records of one delivery to the portions of it that are stored, one transaction each.
"""

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


class Gathering:
    """One delivery under way: counts its records and gathers what is to be stored next."""

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
        self._now_us = now_us
        self._watch = watch
        self._position = 0
        self._begin()

    @property
    def size(self) -> int:
        """Records gathered since the last portion."""
        return len(self._rows) + len(self._rejected) + self._ignored

    def take(self, records: Iterable[Record]) -> None:
        """Add single records. Their hours are found as in `take_block`."""
        heard: list[tuple[Record, int | None]] = []
        for record in records:
            outcome = self._outcome(record)
            if outcome is None:
                continue
            if self._watch is not None:
                self._watch(record, outcome)
            if isinstance(outcome, Ignored):
                self._ignored += 1
            else:
                self._keep(outcome, self._position)
            heard.append((record, outcome.time_ns))
            self._position += 1
        self._hear(heard, self._time_of)

    def take_block(self, block: bytes) -> None:
        """
        Add a block of whole lines.

        Reading the time of every ignored line would cost more than all else, so the first and the
        last time of the block say in which hours it was heard, unless they lie more than an hour
        apart.
        """
        scanned = self._scanner.scan(block)
        for offset, outcome in scanned.found:
            self._keep(outcome, self._position + offset)
        self._ignored += scanned.records - len(scanned.found)
        self._position += scanned.records
        self._hear(block.split(b"\n"), self._recogniser.line_time)

    def portion(self) -> Portion:
        """Hand over what was gathered, and begin anew."""
        portion = Portion(
            server=self._feed.server or DEFAULT_SERVER,
            source=self._feed.source,
            batch=self._feed.batch,
            arrived_us=self._now_us,
            rows=self._rows,
            rejected=self._rejected,
            ignored=self._ignored,
            hours=self._hours,
        )
        self._begin()
        return portion

    def _begin(self) -> None:
        self._rows: list[Row] = []
        self._rejected: list[Quarantined] = []
        self._ignored = 0
        self._hours: dict[int, int] = {}

    def _outcome(self, record: Record) -> Event | Rejected | Ignored | None:
        if isinstance(record, Parsed):
            return self._recogniser.value(record.value)
        return self._recogniser.read(record)

    def _keep(self, outcome: Event | Rejected, position: int) -> None:
        if isinstance(outcome, Rejected):
            self._rejected.append(Quarantined(position=position, rejected=outcome))
            return
        server = names.bounded(self._feed.server or outcome.server or DEFAULT_SERVER)
        key = self._delivery.key(server, outcome, position)
        hasher = self._recogniser.hasher
        self._rows.append(
            row_of(outcome, server=server, key=key, now_us=self._now_us, hasher=hasher)
        )

    def _hear(self, items: Sequence[_T], time_of: Callable[[_T], int | None]) -> None:
        """Mark the hours of these items, which lie in the order in which they came."""
        first = next((time for item in items if (time := time_of(item)) is not None), None)
        if first is None:
            return
        last = next(time for item in reversed(items) if (time := time_of(item)) is not None)
        if abs(last - first) <= HOUR_NS:
            self._add_hour(first, len(items) - 1)
            self._add_hour(last, 1)
            return
        for item in items:
            if (time := time_of(item)) is not None:
                self._add_hour(time, 1)

    def _add_hour(self, time_ns: int, lines: int) -> None:
        hour = time_ns // HOUR_NS
        self._hours[hour] = self._hours.get(hour, 0) + lines

    def _time_of(self, heard: tuple[Record, int | None]) -> int | None:
        record, time_ns = heard
        if time_ns is None and isinstance(record, Line):
            return self._recogniser.line_time(record.raw)
        return time_ns
