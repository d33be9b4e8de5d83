"""
The write seam: bytes → records → events → rows → stored, with an account of every record.

A **delivery** is one request, one stream or one pass over a file. It is stored in portions, one
transaction each: a request is one portion, a file commits every `commit_records` records.
"""

import secrets as random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

from service import names
from service.clock import Clock, system_clock
from service.errors import UnreadableInput
from service.events import (
    POSITIONS_SHOWN,
    BatchName,
    Event,
    Ignored,
    Portion,
    Quarantined,
    Reason,
    Receipt,
    Rejected,
    Row,
)
from service.ingest import body, keys, recognise, rows, sources
from service.ingest.profiles import load_profiles
from service.settings import Settings
from service.store import engine as db
from service.store import secrets, tallies, writer

HOUR_NS = 3_600 * 10**9
DAY_US = 86_400 * 10**6
COVERAGE_CHUNK = 1_000
"""Lines whose first and last time decide which hours were heard."""

Watcher = Callable[[body.Record, Event | Rejected | Ignored], None]
"""Told of each record and of what became of it."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Feed:
    """Where a delivery comes from, and what it can be taken back with."""

    server: str | None
    """None leaves it to the lines, else `default`."""
    source: str
    batch: BatchName


def new_run(now_us: int) -> BatchName:
    """Name the batch of one `ingest` run."""
    return BatchName(kind="ingest", label=f"{_iso(now_us, 'seconds')} {random.token_hex(4)}")


def request_batch(now_us: int) -> BatchName:
    """Name the batch that holds a source's requests of this UTC hour."""
    return BatchName(kind="http", label=_iso(now_us, "hours"))


def _iso(now_us: int, spec: str) -> str:
    return (
        datetime.fromtimestamp(now_us / 1e6, UTC).replace(tzinfo=None).isoformat(timespec=spec)
        + "Z"
    )


def recogniser(
    settings: Settings, hasher: keys.Hasher, clock: Clock = system_clock
) -> recognise.Recogniser:
    """
    Return what reads lines by the settings, the user's own profiles before the built-in ones.

    Raises:
        LastCallError: A profile of the user's is wrong; it says which and where.
    """
    folder = settings.profile_dir
    if folder is not None and not folder.is_dir():
        raise UnreadableInput(f"LASTCALL_PROFILE_DIR: {folder} is not a folder")
    own = sorted(folder.glob("*.toml")) if folder else []
    return recognise.Recogniser(
        load_profiles(own),
        hasher,
        max_depth=settings.max_depth,
        skew_s=settings.future_skew_s,
        clock=clock,
    )


class Pipeline:
    """Turns deliveries into stored events. Safe to share between threads."""

    def __init__(
        self,
        engine: db.Engine,
        settings: Settings,
        *,
        clock: Clock = system_clock,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._clock = clock
        with db.writing(engine) as connection:
            key, identity = secrets.read_secrets(connection)
        self.hasher = keys.Hasher(keys.Secrets(key=key, identity=identity))
        self.recogniser = recogniser(settings, self.hasher, clock)

    def request(
        self, data: bytes, *, server: str | None, source: str, content_encoding: str | None = None
    ) -> Receipt:
        """
        Store one request's body, whole, in one transaction.

        Raises:
            BodyTooLarge, BodyNotDecodable: nothing is stored.
            Busy, StorageUnavailable: nothing is stored; the same request will succeed later.
        """
        now_us = self._clock()
        text = body.decode_body(data, content_encoding, self._settings.max_body_bytes)
        feed = Feed(server=server, source=source, batch=request_batch(now_us))
        delivery = _Delivery(self, feed, keys.Delivery(self.hasher, text), now_us)
        for chunk in _chunks(body.records(text, self._settings.max_line_bytes), COVERAGE_CHUNK):
            delivery.take(chunk)
        delivery.commit()
        return delivery.receipt

    def file(
        self,
        source: sources.Source,
        feed: Feed,
        *,
        receipt: Receipt | None = None,
        progress: Callable[[Receipt], None] | None = None,
        watch: Watcher | None = None,
    ) -> Receipt:
        """
        Store one pass over a file or stream, committing every `commit_records` records.

        `receipt` is filled as it goes, so that a caller has the account even of a file that breaks
        off; `progress` is told of it now and then; `watch` sees each line.

        Raises:
            UnreadableInput: the file broke off; what came before it is stored.
        """
        delivery = _Delivery(
            self, feed, keys.Delivery(self.hasher), self._clock(), watch=watch, receipt=receipt
        )
        try:
            records = body.stream_records(
                source.chunks(), self._settings.max_line_bytes, self._settings.max_body_bytes
            )
            for chunk in _chunks(records, min(COVERAGE_CHUNK, self._settings.commit_records)):
                delivery.take(chunk)
                if delivery.uncommitted >= self._settings.commit_records:
                    delivery.commit()
                if progress is not None:
                    progress(delivery.receipt)
        finally:
            delivery.commit()
        return delivery.receipt

    def outcome_of(self, record: body.Record) -> Event | Rejected | Ignored | None:
        """Say what one record is; None for a blank line, which is no record."""
        if isinstance(record, body.Parsed):
            return self.recogniser.value(record.value)
        return self.recogniser.read(record)

    def store(self, portion: Portion, receipt: Receipt, suppressed: "_Suppressed") -> None:
        """Store one portion in a transaction of its own and add it to the receipt."""
        with db.writing(self._engine) as connection:
            stored = writer.add(connection, portion, quarantine_days=self._settings.quarantine_days)
            due = suppressed.after(receipt, portion, stored.accepted, stored.duplicates)
            tallies.add_suppressed(
                connection, stored.batch, portion.arrived_us // DAY_US, due.suppressed, due.resend
            )
        suppressed.note(due)
        _add(receipt, portion, stored.accepted, stored.duplicates)
        receipt.batch = stored.batch
        for kind, number in stored.events.items():
            receipt.events[kind.word] = receipt.events.get(kind.word, 0) + number


@dataclass(frozen=True, slots=True)
class _Due:
    suppressed: int
    resend: int


class _Suppressed:
    """
    How many duplicates of a delivery may have been calls of their own.

    All of them where the delivery also brought something new, or held one record; none where it
    held several and brought nothing new (a resend). What was said after an earlier portion is taken
    into account, so that the sum over a delivery is right whenever it ends.
    """

    def __init__(self) -> None:
        self._said = _Due(0, 0)

    def after(self, before: Receipt, portion: Portion, accepted: int, duplicates: int) -> _Due:
        """Return what to add to the tallies with this portion."""
        total = before.duplicates + duplicates
        received = before.received + len(portion.rows) + len(portion.rejected) + portion.ignored
        alone = before.accepted + accepted > 0 or received == 1
        due = _Due(total, 0) if alone else _Due(0, total)
        return _Due(due.suppressed - self._said.suppressed, due.resend - self._said.resend)

    def note(self, due: _Due) -> None:
        """Remember what was added, once it is committed."""
        self._said = _Due(self._said.suppressed + due.suppressed, self._said.resend + due.resend)


class _Delivery:
    """One delivery under way: counts positions and ordinals, gathers the next portion."""

    def __init__(
        self,
        pipeline: Pipeline,
        feed: Feed,
        keyer: keys.Delivery,
        now_us: int,
        *,
        watch: Watcher | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        self.receipt = receipt or Receipt()
        self._pipeline = pipeline
        self._feed = feed
        self._keyer = keyer
        self._now_us = now_us
        self._watch = watch
        self._position = 0
        self._suppressed = _Suppressed()
        self._portion = self._next_portion()

    @property
    def uncommitted(self) -> int:
        """Records gathered since the last commit."""
        portion = self._portion
        return len(portion.rows) + len(portion.rejected) + portion.ignored

    def take(self, chunk: Iterable[body.Record]) -> None:
        """Recognise a chunk of records and add them to the portion."""
        heard: list[tuple[body.Record, int | None]] = []
        ignored = 0
        for record in chunk:
            outcome = self._pipeline.outcome_of(record)
            if outcome is None:
                continue
            if self._watch is not None:
                self._watch(record, outcome)
            if isinstance(outcome, Ignored):
                ignored += 1
                heard.append((record, None))
            elif isinstance(outcome, Rejected):
                self._portion.rejected.append(
                    Quarantined(position=self._position, rejected=outcome)
                )
            else:
                self._portion.rows.append(self._row(outcome))
                heard.append((record, outcome.time_ns))
            self._position += 1
        self._portion = replace(self._portion, ignored=self._portion.ignored + ignored)
        self._hear(heard)

    def commit(self) -> None:
        """Store what was gathered; on an error it stays gathered and nothing of it is stored."""
        if self.uncommitted == 0 and self.receipt.batch is not None:
            return
        self._pipeline.store(self._portion, self.receipt, self._suppressed)
        self._portion = self._next_portion()

    def _next_portion(self) -> Portion:
        return Portion(
            server=self._feed.server or "default",
            source=self._feed.source,
            batch=self._feed.batch,
            arrived_us=self._now_us,
        )

    def _row(self, event: Event) -> Row:
        server = names.bounded(self._feed.server or event.server or "default")
        key = self._keyer.key(server, event, self._position)
        hasher = self._pipeline.hasher
        return rows.row_of(event, server=server, key=key, now_us=self._now_us, hasher=hasher)

    def _hear(self, heard: list[tuple[body.Record, int | None]]) -> None:
        """
        Mark the hours that a chunk of records was heard in.

        Reading the time of every ignored line would cost more than all else, so the first and the
        last time of the chunk decide, unless they lie more than an hour apart.
        """
        first = next((time for time in map(self._time_of, heard) if time is not None), None)
        last = next(
            (time for time in map(self._time_of, reversed(heard)) if time is not None), None
        )
        if first is None or last is None:
            return
        if abs(last - first) <= HOUR_NS:
            times = [first] * (len(heard) - 1) + [last]
        else:
            times = [time for time in map(self._time_of, heard) if time is not None]
        hours = self._portion.hours
        for time in times:
            hours[time // HOUR_NS] = hours.get(time // HOUR_NS, 0) + 1

    def _time_of(self, heard: tuple[body.Record, int | None]) -> int | None:
        record, time_ns = heard
        if time_ns is not None or isinstance(record, body.Parsed):
            return time_ns
        return self._pipeline.recogniser.line_time(record.raw)


def _add(receipt: Receipt, portion: Portion, accepted: int, duplicates: int) -> None:
    receipt.accepted += accepted
    receipt.duplicates += duplicates
    receipt.ignored += portion.ignored
    receipt.rejected += len(portion.rejected)
    for item in portion.rejected:
        reason: Reason = item.rejected.reason
        receipt.reasons[reason.value] = receipt.reasons.get(reason.value, 0) + 1
        if len(receipt.positions) < POSITIONS_SHOWN:
            receipt.positions.append(item.position)


def _chunks(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
