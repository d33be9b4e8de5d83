"""
From the records of one delivery to the portions of it that are stored, one transaction each.
"""

import re
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
from service.ingest.scan import DENSE, Block

HOUR_NS: Final = 3_600 * 10**9

KEPT: Final = 50_000
"""Rejected records that are held at most until they are stored; more of them are only counted, so that
a body of nothing but braces does not become a hundred times its size."""

_SHORTEST_TIME: Final = len("2026-10-05")
_DIGITS: Final = re.compile(rb"\d\d")

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

    def take(self, records: Iterable[bytes | Record]) -> None:
        """
        Add records in order: blocks of whole lines, and single ones. The ignored ones among single
        records that follow one another are heard together.
        """
        single: list[Record] = []
        for record in records:
            if not isinstance(record, bytes):
                single.append(record)
                continue
            if single:  # they came before it
                self._single(single)
                single = []
            if self._watch is None:
                self._block(record)
            else:
                self._single(list(lines_of(record)))
        self._single(single)

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

    def _block(self, text: bytes) -> None:
        """Add a block of whole lines."""
        if b"\0" in text:  # dropped wherever it stands, also within a needle
            text = text.replace(b"\0", b"")
        block = Block(text, self._recogniser.search, dense=self._dense)
        find, read = self._reading.find, self._reading.line
        server, latest_ns = self._server, self._recogniser.latest_ns
        blank = taken = number = counted = 0
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
                if block.dense:
                    number = place
                else:  # places ascend, so each newline is looked at once, however many are kept
                    number += text.count(b"\n", counted, place)
                    counted = place
                self._keep(outcome, self._position + number - blank, known)
                taken += 1
                if outcome.time_ns is None:
                    self._hear_in_passing(outcome, self._recogniser.line_time(raw), known)
        records = block.newlines - blank
        self._position += records
        self._dense = taken > records * DENSE
        if taken < records:
            time_of = self._line_time
            first = block.first(time_of) if _DIGITS.search(text) else None
            last = None if first is None else block.last(time_of)
            self._ignore(records - taken, first, last, block.each(time_of), known)

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
            self._ignore(count - taken, first, last, map(time_of, records), known)

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

    def _ignore(
        self,
        number: int,
        first: int | None,
        last: int | None,
        times: Iterable[int | None],
        known: Iterable[int],
    ) -> None:
        """
        Count *number* ignored records, and mark the hours in which they were heard.

        *times* are those of the records in the order in which they came, kept ones among them whose
        times are *known* and heard already; *first* and *last* the ends of them. Reading the time of
        every one would cost more than all else, so the ends decide, unless they lie more than an hour
        apart.
        """
        part = self._part(None)
        part.ignored += number
        if first is None or last is None:
            return
        if abs(last - first) > HOUR_NS:
            hours = Counter(time // HOUR_NS for time in times if time is not None)
            hours.subtract(time // HOUR_NS for time in known)
            for hour, lines in hours.items():
                if lines > 0:
                    part.hear(hour * HOUR_NS, lines)
            return
        part.hear(first, number)
        if last // HOUR_NS != first // HOUR_NS:
            part.hear(last)

    def _line_time(self, raw: bytes) -> int | None:
        """The time of a line; of the millions of tiny ones that a body may have, none is looked at long."""
        if len(raw) < _SHORTEST_TIME or _DIGITS.search(raw) is None:
            return None
        return self._recogniser.line_time(raw)

    def _time_of(self, record: Record) -> int | None:
        """The time of a record that may be ignored: its own, else that of its wrapper."""
        if isinstance(record, Line):
            own = self._line_time(record.raw)
        else:
            own = self._recogniser.value_time(record.value)
        return self._recogniser.origin_time(record.origin) if own is None else own


def _first(times: Iterable[int | None]) -> int | None:
    return next((time for time in times if time is not None), None)
