"""
The write seam: bytes → records → events → rows → stored, with an account of every record.

A **delivery** is one request, one stream or one pass over a file. It is stored in portions, one
transaction each: a request is one portion, a file commits every `commit_records` records.

What no line says, somebody says outright: releases, the catalogue and snapshots are recorded here too.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from service import names
from service.clock import DAY_US, Clock, system_clock
from service.committer import Committer
from service.entries import Entry, Kept, Snapshot, Told, tool_name
from service.errors import BadParameter, BodyNotDecodable, BodyTooLarge, UnreadableInput
from service.events import BatchName, Portion, Reason, Receipt, Recorded, Release, Stored
from service.ingest import body, keys, recognise, sources
from service.ingest.follow import Piece
from service.ingest.gather import Feed, Gathering, Watcher
from service.ingest.memory import Memory
from service.ingest.profiles import Profile, load_profiles
from service.ingest.records import Limits, Reader, Record
from service.settings import Settings
from service.store import catalogue, follow, releases, secrets, tallies, writer
from service.store import forget as forgetting
from service.store import undo as undoing
from service.store.driver import Connection, Writer

__all__ = ["Delivered", "Feed", "Pipeline", "Watcher", "new_run", "profiles_of", "recogniser"]


class Delivered(NamedTuple):
    """What a request came to."""

    receipt: Receipt
    rejected: list[tuple[int, Reason]]
    """The places of rejected records among the records, blank lines left out, ascending: all of them,
    unless there are more than `gather.KEPT`."""


def new_run(now_us: int) -> BatchName:
    """Name the batch of one `ingest` run."""
    return BatchName(kind="ingest", label=f"{_iso(now_us, 'seconds')} {os.urandom(4).hex()}")


def request_batch(now_us: int) -> BatchName:
    """Name the batch that holds a source's requests of this UTC hour."""
    return BatchName(kind="http", label=_iso(now_us, "hours"))


def day_batch(now_us: int, path: str) -> BatchName:
    """Name the batch that holds what came of a followed file on this UTC day."""
    day = _iso(now_us, "hours")[:10]
    return BatchName(kind="follow", label=names.bounded(names.clean(f"{day} {path}")))


def _iso(now_us: int, spec: str) -> str:
    return (
        datetime.fromtimestamp(now_us / 1e6, UTC).replace(tzinfo=None).isoformat(timespec=spec)
        + "Z"
    )


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

    def close(self) -> None:
        """Answer the requests that wait, and take no more."""
        self._committer.close()

    def request(self, data: bytes, read: Reader, *, server: str | None, source: str) -> Delivered:
        """
        Store one request's body, whole, in one transaction.

        Args:
            data: The body as it came.
            read: Makes records of it, by the protocol that it came in.
            server: The MCP server that its sender names, or None.
            source: The name of the feed.

        Raises:
            BodyTooLarge, BodyNotDecodable: nothing is stored.
            Busy, StorageUnavailable: nothing is stored; the same request will succeed later.
        """
        now_us = self._clock()
        limits = Limits(self._settings.max_body_bytes, self._settings.max_line_bytes)
        records, identity = read(data, limits)
        feed = Feed(server=server, source=source, batch=request_batch(now_us))
        gathering = Gathering(
            self._memory, keys.Delivery(self.recogniser.hasher, identity), feed, now_us
        )
        gathering.take(records)
        portions = gathering.portions()
        account = _Account(Receipt())
        account.add(*self._committer.commit(self._work(portions, account)))
        rejected = [
            (item.position, item.rejected.reason) for each in portions for item in each.rejected
        ]
        return Delivered(account.receipt, sorted(rejected))

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
        Store one pass over a file or stream, committing about every `commit_records` records.

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
            for record in body.stream_records(
                source.chunks(), limits.max_line_bytes, limits.max_body_bytes
            ):
                gathering.take([record])
                if gathering.size >= limits.commit_records:
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

    def release(
        self, server: str | None, version: str | None, at_us: int | None, *, source: str
    ) -> tuple[Release, Recorded]:
        """
        Record that a version of a server came at an instant, or (None) now.

        Returns:
            The release as it is kept, and what that changed: the same version again is the same
            release, at the instant that was said last.

        Raises:
            BadParameter: Server or version are missing, or the instant is too far ahead.
            Busy, StorageUnavailable: nothing is stored; the same will succeed later.
        """
        named = _server(server)
        text = names.bounded(names.clean(version or "").strip())
        if not text:
            raise BadParameter("version", "missing; name the version that came, such as 1.7.0")
        at_us = self._come(at_us, "record a release when it has come")
        release = Release(server=named, version=text, at_us=at_us, source=source)
        with self._writer.transaction() as connection:
            return release, releases.record(connection, release)

    def entries(
        self, server: str | None, told: Sequence[Told], *, source: str, actor: str
    ) -> list[tuple[Entry, Kept]]:
        """
        Keep what is said of retired names, all or nothing.

        Returns:
            In their order the versions that hold, and what that changed.

        Raises:
            BadParameter: The server is missing.
            Busy, StorageUnavailable: nothing is stored; the same will succeed later.
        """
        named, now_us = _server(server), self._clock()
        with self._writer.transaction() as connection:
            return [
                catalogue.tell(connection, named, each, at_us=now_us, source=source, actor=actor)
                for each in told
            ]

    def hide(
        self, server: str | None, name: str | None, *, hidden: bool, actor: str
    ) -> tuple[Entry, Kept]:
        """
        Hide a retired name from all answers but the catalogue's, or show it again.

        Raises:
            BadParameter: Server or name are missing, or there is no such name.
            Busy, StorageUnavailable: nothing is stored; the same will succeed later.
        """
        named, tool, now_us = _server(server), tool_name("name", name or ""), self._clock()
        with self._writer.transaction() as connection:
            return catalogue.hide(connection, named, tool, hidden, at_us=now_us, actor=actor)

    def snapshot(
        self,
        server: str | None,
        tools: tuple[dict[str, Any], ...],
        at_us: int | None,
        *,
        version: str | None,
        protocol_version: str | None,
        source: str,
        actor: str,
    ) -> tuple[Snapshot, Kept]:
        """
        Keep what a server listed at an instant, or (None) now.

        Args:
            tools: As `entries.tools_of` reads them.
            source: How the list was come by; `entries.NAMES` for a list of all names ever.

        Raises:
            BadParameter: The server is missing, the instant is too far ahead or taken.
            Busy, StorageUnavailable: nothing is stored; the same will succeed later.
        """
        taken = Snapshot(
            server=_server(server),
            at_us=self._come(at_us, "keep a snapshot when it was taken"),
            version=names.bounded(names.clean(version or "").strip()) or None,
            protocol_version=names.bounded(names.clean(protocol_version or "").strip()) or None,
            source=source,
            tools=tools,
        )
        with self._writer.transaction() as connection:
            now_us, dated = self._clock(), at_us is not None
            return catalogue.snapshot(connection, taken, now_us=now_us, dated=dated, actor=actor)

    def _come(self, at_us: int | None, remedy: str) -> int:
        """An instant that was told, or now; refused where it has not come yet."""
        now_us = self._clock()
        if at_us is None or at_us <= now_us + self._settings.future_skew_s * 1_000_000:
            return now_us if at_us is None else at_us
        clock = _iso(now_us, "seconds")
        raise BadParameter(
            "at", f"later than the clock ({clock}) and LASTCALL_FUTURE_SKEW_S allow; {remedy}"
        )

    def undo(self, batch: int, *, actor: str, dry_run: bool = False) -> undoing.Undone:
        """
        Take back a batch or (*dry_run*) say what that would come to. *actor* is the way it was asked for.

        Raises:
            NotFound: There is no such batch, or it was taken back already.
            TooLate: It began too long ago.
            Busy, StorageUnavailable: nothing is changed; the same will succeed later.
        """
        if dry_run:
            with self._writer.reading() as connection:
                return undoing.plan(connection, batch, self._clock())
        with self._writer.transaction() as connection:
            return undoing.undo(connection, batch, self._clock(), actor=actor)

    def forget(
        self, client: str | None, server: str | None, *, actor: str, dry_run: bool = False
    ) -> forgetting.Forgotten:
        """
        Delete all data of a client, at one server or everywhere, or (no client) of a whole server; or
        (*dry_run*) say what that would come to.

        Raises:
            BadParameter: Neither is named.
            NotFound: Nothing is known of it.
            Busy, StorageUnavailable: nothing is changed; the same will succeed later.
        """
        if client is None and server is None:
            raise BadParameter("--client", "missing; name a client, a server (--server), or both")
        if dry_run:
            with self._writer.reading() as connection:
                return forgetting.plan(connection, client, server)
        with self._writer.erasing() as connection:
            return forgetting.forget(connection, client, server, self._clock(), actor=actor)

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


def _server(server: str | None) -> str:
    named = names.feed_name("server", server)
    if named is None:
        raise BadParameter("server", "missing; name the MCP server, such as maps")
    return named


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
