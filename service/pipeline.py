"""
The write seam: bytes → records → events → rows → stored, with an account of every record.

A **delivery** is one request, one stream or one pass over a file. It is stored in portions, one
transaction each: a request is one portion, a file commits now and then (`commit_records`).
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from service import names, tokens
from service.clock import DAY_US, Clock, system_clock, utc_text
from service.committer import Committer
from service.errors import BodyNotDecodable, BodyTooLarge, UnreadableInput
from service.events import BatchName, Portion, Reason, Receipt, Stored
from service.ingest import ahead, body, keys, recognise, sources
from service.ingest.follow import Piece
from service.ingest.gather import Feed, Gathering, Watcher
from service.ingest.memory import Memory
from service.ingest.profiles import Profile, load_profiles
from service.ingest.records import Limits, Reader, Record
from service.settings import Settings
from service.store import follow, secrets, tallies, writer
from service.store.driver import Connection, Writer

__all__ = ["Delivered", "Feed", "Pipeline", "Watcher", "new_run", "profiles_of", "recogniser"]


COUNTED: Final = 20
"""How many records that are only counted weigh as much as one that is stored."""


class Delivered(NamedTuple):
    """What a request came to."""

    receipt: Receipt
    rejected: list[tuple[int, Reason]]
    """The places of rejected records among the records, blank lines left out, ascending: all of them,
    unless there are more than `gather.KEPT`."""


def new_run(now_us: int) -> BatchName:
    """Name the batch of one `ingest` run."""
    return BatchName(kind="ingest", label=f"{utc_text(now_us)} {os.urandom(4).hex()}")


def request_batch(now_us: int) -> BatchName:
    """Name the batch that holds a source's requests of this UTC hour."""
    return BatchName(kind="http", label=utc_text(now_us, "hours"))


def day_batch(now_us: int, path: str) -> BatchName:
    """Name the batch that holds what came of a followed file on this UTC day."""
    day = utc_text(now_us, "hours")[:10]
    return BatchName(kind="follow", label=names.bounded(names.clean(f"{day} {path}")))


def profiles_of(settings: Settings) -> tuple[Profile, ...]:
    """
    Return the profiles in the order in which they are asked: the user's own, then the built-in ones.

    Raises:
        LastCallError: A profile of the user's is wrong; it says which and where.
    """
    folder = settings.profile_dir
    if folder is not None and not folder.is_dir():
        raise UnreadableInput(f"LASTCALL_PROFILE_DIR: {folder} is not a folder")
    return load_profiles(sorted(folder.glob("*.toml")) if folder else [])


def recogniser(
    settings: Settings, hasher: keys.Hasher, clock: Clock = system_clock
) -> recognise.Recogniser:
    """Return what reads lines by the settings. Raises what `profiles_of` does."""
    return recognise.Recogniser(
        profiles_of(settings),
        hasher,
        max_depth=settings.max_depth,
        skew_s=settings.future_skew_s,
        clock=clock,
    )


class Pipeline:
    """Turns deliveries into stored events. Safe to share between threads."""

    def __init__(self, writer: Writer, settings: Settings, *, clock: Clock = system_clock) -> None:
        """The database of *writer* must be ready. The writer stays the caller's, to be closed after."""
        self._writer = writer
        self._committer = Committer(writer)
        self._settings = settings
        self._clock = clock
        with writer.reading() as connection:
            key, identity = secrets.read_secrets(connection)
        hasher = keys.Hasher(keys.Secrets(key=key, identity=identity))
        self.recogniser = recogniser(settings, hasher, clock)
        self._memory = Memory(self.recogniser)
        self._shallow: dict[int, Memory] = {}
        """For tokens that may nest less deeply than the settings say, by how deeply."""

    def close(self) -> None:
        """Answer the requests that wait, and take no more."""
        self._committer.close()

    def read(self, data: bytes, read: Reader, limits: tokens.Limits) -> None:
        """
        Read a request's body of which nothing is to be stored. The reader knows afterwards what was in it.

        Raises:
            BodyTooLarge, BodyNotDecodable: It cannot be read.
        """
        for _ in read(data, self._limits(limits)).records:
            pass

    def request(
        self,
        data: bytes,
        read: Reader,
        *,
        server: str | None,
        source: str,
        limits: tokens.Limits = tokens.NO_LIMITS,
    ) -> Delivered:
        """
        Store one request's body, whole, in one transaction.

        Args:
            data: The body as it came.
            read: Makes records of it, by the protocol that it came in.
            server: The MCP server that its sender names, or None.
            source: The name of the feed.
            limits: What its sender is allowed, where that is less than the settings say.

        Raises:
            BodyTooLarge, BodyNotDecodable: nothing is stored.
            Busy, StorageUnavailable: nothing is stored; the same request will succeed later.
        """
        now_us = self._clock()
        records, identity = read(data, self._limits(limits))
        feed = Feed(server=server, source=source, batch=request_batch(now_us))
        gathering = Gathering(
            self._memory_of(limits.depth),
            keys.Delivery(self.recogniser.hasher, identity),
            feed,
            now_us,
        )
        gathering.take(records)
        portions = gathering.portions()
        account = _Account(Receipt())
        account.add(*self._committer.commit(self._work(portions, account)))
        rejected = [
            (item.position, item.rejected.reason) for each in portions for item in each.rejected
        ]
        return Delivered(account.receipt, sorted(rejected))

    def _limits(self, limits: tokens.Limits) -> Limits:
        """What is taken of a body: the lesser of what its sender and the settings say."""
        settings = self._settings
        return Limits(
            min(settings.max_body_bytes, limits.body_bytes or settings.max_body_bytes),
            min(settings.max_line_bytes, limits.line_bytes or settings.max_line_bytes),
        )

    def _memory_of(self, depth: int | None) -> Memory:
        """What reads lines of at most that depth. Two threads may make the same one: the last one stays."""
        if depth is None or depth >= self._settings.max_depth:
            return self._memory
        if depth not in self._shallow:
            made = recogniser(
                replace(self._settings, max_depth=depth), self.recogniser.hasher, self._clock
            )
            self._shallow[depth] = Memory(made)
        return self._shallow[depth]

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
        Store one pass over a file or stream, committing about every `commit_records` records that are
        more than counted, and every `COUNTED` times as many.

        `receipt` is filled as it goes, so that a caller has the account even of a file that breaks
        off; `progress` is told of it now and then; `watch` sees each record, which makes reading
        slower.

        Raises:
            UnreadableInput, BodyTooLarge, BodyNotDecodable: the file broke off, or is a JSON array
                that cannot be read; what came before it is stored.
        """
        account = _Account(receipt or Receipt())
        gathering = Gathering(
            self._memory,
            keys.Delivery(self.recogniser.hasher),
            feed,
            self._clock(),
            watch=watch,
        )
        limits = self._settings
        try:
            records = body.stream_records(
                source.chunks(), limits.max_line_bytes, limits.max_body_bytes
            )
            items: Iterable[ahead.Item] = records
            if watch is None and ahead.is_worth_it(source):
                items = ahead.read_ahead(source, records, gathering.sifted)
            for record in items:
                gathering.take([record])
                if self._is_full(gathering):
                    self._store(gathering.portions(), account)
                if progress is not None:
                    progress(account.receipt)
        except (UnreadableInput, BodyTooLarge, BodyNotDecodable):
            self._store(gathering.portions(), account)
            raise
        if gathering.size or account.receipt.batch is None:
            self._store(gathering.portions(), account)
        return account.receipt

    def piece(
        self,
        records: Iterable[bytes | Record],
        place: follow.Place,
        delivery: keys.Continued,
        reached: Callable[[follow.Place], follow.Place],
        *,
        server: str | None,
        source: str,
    ) -> tuple[Receipt, follow.Place]:
        """
        Store what came of a followed file since *place*, and the new place, in one transaction.

        Args:
            records: What came, in order.
            place: How far the file was read before.
            delivery: As it was then; it has gone on in any case, so is of no use after an error.
            reached: Says, once the records were read, how far that is.
            server: The MCP server whose log it is; None leaves it to the lines.
            source: The name of the feed.

        Returns:
            The account of the piece, and the place as it is stored.

        Raises:
            Overtaken: Another process went on from this place first; nothing is stored.
            Busy, StorageUnavailable: nothing is stored; the same piece will succeed later.
        """
        now_us = self._clock()
        feed = Feed(server=server, source=source, batch=day_batch(now_us, place.path))
        piece = Piece(self._memory, delivery, feed, now_us, place.records)
        piece.take(records)
        place = reached(place)
        portions = piece.portions() if piece.size else []
        day = now_us // DAY_US
        account = _Account(Receipt(accepted=place.accepted, ignored=place.records - place.accepted))
        if day == place.day:
            account.said = {batch: _Due(*due) for batch, due in place.said.items()}
        work = self._work(portions, account)
        with self._writer.transaction() as connection:
            done, said = work(connection) if portions else ([], account.said)
            receipt = Receipt()
            for each in done:
                receipt.add(_receipt_of(*each))
            place = follow.save(
                connection,
                server,
                source,
                replace(
                    place,
                    records=piece.records,
                    chain=delivery.fingerprint,
                    accepted=place.accepted + receipt.accepted,
                    day=day,
                    said={batch: (due.suppressed, due.resend) for batch, due in said.items()},
                ),
                now_us=now_us,
                changed=delivery.pages,
                oldest=delivery.oldest,
            )
        delivery.settle()
        return receipt, place

    def _is_full(self, gathering: Gathering) -> bool:
        """Whether it is time to store: a transaction costs as much as reading some megabytes."""
        most = self._settings.commit_records
        return gathering.held >= most or gathering.size >= COUNTED * most

    def _store(self, portions: list[Portion], account: "_Account") -> None:
        """Store what was gathered in a transaction of its own."""
        work = self._work(portions, account)
        with self._writer.transaction() as connection:
            done, said = work(connection)
        account.add(done, said)

    def _work(
        self, portions: list[Portion], account: "_Account"
    ) -> Callable[[Connection], "tuple[Done, dict[int, _Due]]"]:
        """What is to be done within a transaction; once that is committed, the account is told of the
        result."""
        days = self._settings.quarantine_days

        def work(connection: Connection) -> tuple[Done, dict[int, _Due]]:
            stored = [writer.add(connection, each, quarantine_days=days) for each in portions]
            done = list(zip(portions, stored, strict=True))
            said = account.say(done)
            mine = {each.batch for each in stored}
            for batch, due in said.items():
                if batch not in mine and not tallies.knows(connection, batch):
                    continue  # it was taken back meanwhile
                more = due - account.said.get(batch, _Due())
                day = portions[0].arrived_us // DAY_US
                tallies.add_suppressed(connection, batch, day, more.suppressed, more.resend)
            return done, said

        return work


@dataclass(frozen=True, slots=True)
class _Due:
    """What a batch's tallies hold beside the fates; the sum is all its duplicates."""

    suppressed: int = 0
    resend: int = 0

    def __sub__(self, other: "_Due") -> "_Due":
        return _Due(self.suppressed - other.suppressed, self.resend - other.resend)


Done = list[tuple[Portion, Stored]]
"""What one transaction stores, by server."""


class _Account:
    """
    The receipt of a delivery, and how many of its duplicates may have been calls of their own.

    Those are all of them where the delivery also brought something new, or held one record; none
    where it held several and brought nothing new (a resend). The delivery as a whole decides for
    each of its batches (one a server), so what an earlier commit said may change with a later one.
    """

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        self.said: dict[int, _Due] = {}
        """What the commits so far said, by batch."""

    def say(self, done: Done) -> dict[int, _Due]:
        """Return what is to be said of every batch once this is committed."""
        accepted = self.receipt.accepted + sum(stored.accepted for _, stored in done)
        received = self.receipt.received + sum(portion.received for portion, _ in done)
        duplicates = Counter(
            {batch: due.suppressed + due.resend for batch, due in self.said.items()}
        )
        for _, stored in done:
            duplicates[stored.batch] += stored.duplicates
        may_be_calls = accepted > 0 or received == 1
        return {
            batch: _Due(suppressed=number) if may_be_calls else _Due(resend=number)
            for batch, number in duplicates.items()
        }

    def add(self, done: Done, said: dict[int, _Due]) -> None:
        """Take into account what was committed."""
        self.said = said
        for portion, stored in done:
            self.receipt.add(_receipt_of(portion, stored))


def _receipt_of(portion: Portion, stored: Stored) -> Receipt:
    return Receipt(
        accepted=stored.accepted,
        duplicates=stored.duplicates,
        ignored=portion.ignored,
        rejected=sum(portion.reasons.values()),
        reasons=portion.reasons,
        positions=[item.position for item in portion.rejected],
        events={kind.word: number for kind, number in stored.events.items()},
        batch=stored.batch,
    )
