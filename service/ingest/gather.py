"""
From the records of one delivery to the portions of it that are stored, one transaction each.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from service import names
from service.events import (
    BatchName,
    Event,
    Ignored,
    Native,
    Portion,
    Quarantined,
    Reason,
    Rejected,
    Row,
)
from service.ingest.forms import Known
from service.ingest.keys import Delivery
from service.ingest.lines import lines_of
from service.ingest.memory import Memory, Outcome, Reading
from service.ingest.records import Line, Parsed, Record
from service.ingest.rows import DEFAULT_SERVER, request_number, row_of, server_of
from service.ingest.scan import DENSE, HOUR_NS, Block, Heard, Sifted, by_hour, timed

KEPT: Final = 50_000
"""Rejected records that are held at most until they are stored; more of them are only counted, so that
a body of nothing but braces does not become a hundred times its size."""

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

    __slots__ = ("hours", "ignored", "natives", "rejected", "rows", "unkept")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.natives: list[Native] = []
        self.rejected: list[Quarantined] = []
        self.unkept: dict[Reason, int] = {}
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
        reader: Memory,
        delivery: Delivery,
        feed: Feed,
        now_us: int,
        *,
        watch: Watcher | None = None,
    ) -> None:
        """*now_us* is when the delivery arrived: the time of records without any of their own."""
        self._recogniser = reader.recogniser
        self._hasher = reader.recogniser.hasher
        self._recogniser.look_at(now_us)
        self._delivery = delivery
        self._feed = feed
        self._server = names.bounded(feed.server) if feed.server else None
        self._reading = Reading(reader, self._server)
        self._now_us = now_us
        self._watch = watch
        self._position = 0
        self._parts: dict[str, _Part] = {}
        self._dense = False

    @property
    def size(self) -> int:
        """Records gathered since they were last handed over."""
        return sum(
            len(part.rows) + len(part.rejected) + sum(part.unkept.values()) + part.ignored
            for part in self._parts.values()
        )

    def take(self, records: Iterable[bytes | Sifted | Record]) -> None:
        """
        Add records in order: blocks of whole lines, what matters of such, and single ones. The ignored ones
        among single records that follow one another are heard together.
        """
        single: list[Record] = []
        for record in records:
            if not isinstance(record, bytes | Sifted):
                single.append(record)
                continue
            if single:  # they came before it
                self._single(single)
                single = []
            if isinstance(record, Sifted):
                self._block(record)
            elif self._watch is None:
                self._block(Block(record, self._recogniser.search, dense=self._dense))
            else:
                self._single(list(lines_of(record)))
        self._single(single)

    @property
    def held(self) -> int:
        """How many of them are more than counted: events, and rejected records that are kept."""
        return sum(len(part.rows) + len(part.rejected) for part in self._parts.values())

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
                natives=part.natives,
                rejected=part.rejected,
                unkept=part.unkept,
                ignored=part.ignored,
                hours=part.hours,
            )
            for server, part in sorted(parts.items())
        ]

    def sifted(self, text: bytes) -> Sifted:
        """What matters of a block of whole lines; nothing is added. Another process may do it."""
        recogniser = self._recogniser
        return Block(text, recogniser.search, dense=False).sifted(recogniser.line_time)

    def _block(self, block: Block | Sifted) -> None:
        """Add a block of whole lines."""
        find, read = self._reading.find, self._reading.line
        server, latest_ns = self._server, self._recogniser.latest_ns
        blank = taken = 0
        known: list[int] = []
        for place, raw in block.lines():
            event = find(raw, server, latest_ns)
            if event is not None:
                self._keep_known(event, known)
                taken += 1
                continue
            outcome = read(raw)
            if type(outcome) is tuple:  # an Event's type is Event
                self._keep_known(outcome, known)  # type: ignore[arg-type]
                taken += 1
            elif outcome is None:
                blank += 1
            elif isinstance(outcome, Event | Rejected):
                self._keep(outcome, self._position + block.number(place) - blank, known)
                taken += 1
                if outcome.time_ns is None:
                    self._hear_in_passing(outcome, self._recogniser.line_time(raw), known)
        records = block.newlines - blank
        self._position += records
        self._dense = taken > records * DENSE
        if taken < records:
            self._ignore(records - taken, block.when(self._recogniser.line_time), known)

    def _single(self, records: list[Record]) -> None:
        """Add single records."""
        taken = count = 0
        known: list[int] = []
        for record in records:
            outcome = self._outcome(record)
            if outcome is None:
                continue
            count += 1
            if type(outcome) is tuple:
                self._keep_known(outcome, known)  # type: ignore[arg-type] # as above
                taken += 1
            elif isinstance(outcome, Event | Rejected):
                self._keep(outcome, self._position, known)
                taken += 1
                if outcome.time_ns is None:
                    self._hear_in_passing(outcome, self._time_of(record), known)
            self._position += 1
        if taken < count:
            time_of = self._time_of
            first = _first(map(time_of, records))
            last = None if first is None else _first(map(time_of, reversed(records)))
            heard = None
            if first is not None and last is not None:
                heard = Heard(first, last, by_hour(first, last, map(time_of, records)))
            self._ignore(count - taken, heard, known)

    def _outcome(self, record: Record) -> Outcome | None:
        if self._watch is None:
            return self._reading.single(record)
        if isinstance(record, Parsed):
            outcome: Event | Rejected | Ignored | None = self._recogniser.value(
                record.value, record.origin, broken=record.broken
            )
        else:
            outcome = self._recogniser.read(record)
        if outcome is not None:
            self._watch(record, outcome)
        return outcome

    def _part(self, server: str | None) -> _Part:
        return self._parts.setdefault(self._server or server or DEFAULT_SERVER, _Part())

    def _keep_known(self, outcome: Known, known: list[int]) -> None:
        """Keep an event of a form that was read before; its time is added to *known*."""
        (subject, frame, kind, is_call), time_ns, session, request = outcome
        number = None
        if session is None:
            digest = None
            filled = frame.fill(time_ns, None, request)
        else:
            _, digest, ascii_digest = session
            filled = frame.fill(time_ns, ascii_digest, request)
            if request is not None and is_call:
                number = request_number(request)
        key = self._delivery.varied_key(filled, kind)
        time_us = time_ns // 1_000
        part = self._parts.get(subject.server) or self._part(subject.server)
        part.rows.append((time_us, key, subject, digest, number, time_ns - time_us * 1_000))
        known.append(time_ns)
        hour = time_ns // HOUR_NS
        part.hours[hour] = part.hours.get(hour, 0) + 1

    def _keep(self, outcome: Event | Rejected, position: int, known: list[int]) -> None:
        """Keep an outcome; its time, where it has one of its own, is added to *known*."""
        if outcome.time_ns is not None:
            known.append(outcome.time_ns)
        if isinstance(outcome, Rejected):
            part = self._part(None)
            if len(part.rejected) < KEPT:
                part.rejected.append(Quarantined(position=position, rejected=outcome))
            else:
                part.unkept[outcome.reason] = part.unkept.get(outcome.reason, 0) + 1
            if outcome.time_ns is not None:
                part.hear(outcome.time_ns)
            return
        server = server_of(outcome, self._server)
        part = self._part(server)
        if outcome.native_id is None or outcome.time_ns is None:
            key = self._delivery.key(server, outcome, position)
        else:
            keys = self._delivery.numbered(server, outcome)
            native_id = self._delivery.native(outcome.native_id)
            part.natives.append(Native(len(part.rows), native_id, keys))
            key = keys(0)
        row = row_of(outcome, server=server, key=key, now_us=self._now_us, hasher=self._hasher)
        part.rows.append(row)
        part.hear(row[0] * 1_000)

    def _hear_in_passing(
        self, outcome: Event | Rejected, seen: int | None, known: list[int]
    ) -> None:
        """Hear a rejected record that has no time of its own at the time that was *seen* in it, if one
        was; an event without one is heard at its arrival."""
        if seen is not None:
            known.append(seen)
            if isinstance(outcome, Rejected):
                self._part(None).hear(seen)

    def _ignore(self, number: int, heard: Heard | None, known: Iterable[int]) -> None:
        """
        Count *number* ignored records, and mark the hours in which they were *heard*, the kept ones among
        them, whose times are *known* and heard already.
        """
        part = self._part(None)
        part.ignored += number
        if heard is None:
            return
        first, last, counted = heard
        if counted is not None:
            hours = Counter(counted)
            hours.subtract(time // HOUR_NS for time in known)
            for hour, lines in hours.items():
                if lines > 0:
                    part.hear(hour * HOUR_NS, lines)
            return
        part.hear(first, number)
        if last // HOUR_NS != first // HOUR_NS:
            part.hear(last)

    def _time_of(self, record: Record) -> int | None:
        """The time of a record that may be ignored: its own, else that of its wrapper."""
        if isinstance(record, Line):
            own = timed(record.raw, self._recogniser.line_time)
        else:
            own = self._recogniser.value_time(record.value)
        return self._recogniser.origin_time(record.origin) if own is None else own


def _first(times: Iterable[int | None]) -> int | None:
    return next((time for time in times if time is not None), None)
