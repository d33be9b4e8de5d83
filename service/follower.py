"""
Files that are read as they grow, each from where it was left; the place is stored together with what
came of it.

It looks again and again. Which file a name stands for, and whether the file still begins with what was
read of it, is seen anew each time, so nothing has to be noticed at the moment it happens.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final

from service.clock import DAY_US, Clock, system_clock
from service.errors import UnreadableInput
from service.events import Receipt
from service.ingest import follow
from service.ingest.keys import Continued
from service.pipeline import Pipeline
from service.settings import Settings
from service.store import follow as stored
from service.store.driver import Writer
from service.store.follow import Overtaken, Place
from service.tail import Replaced, State, Tail

OPEN_FILES: Final = 256
"""So many files are held open at most, those that grew last, so that what is written to one just before
it is renamed or deleted is read as well."""
READY_FILES: Final = 32
"""Of so many files the ordinals stay in memory."""


class Follower:
    """Follows the files that some patterns match, for one feed."""

    def __init__(
        self,
        patterns: Sequence[str],
        pipeline: Pipeline,
        writer: Writer,
        settings: Settings,
        *,
        server: str | None,
        source: str,
        stopping: Callable[[], bool] = lambda: False,
        clock: Clock = system_clock,
    ) -> None:
        """The pipeline writes by *writer*; both stay the caller's. *stopping* is asked between pieces."""
        self._patterns = patterns
        self._pipeline = pipeline
        self._writer = writer
        self._max_line = settings.max_line_bytes
        self._server = server
        self._source = source
        self._stopping = stopping
        self._clock = clock
        self._tails: dict[str, Tail] = {}
        self._places: list[Place] | None = None
        self._kept_us = 0
        self._receipt = Receipt()

    @property
    def files(self) -> int:
        """How many files are followed."""
        return len(self._tails)

    @property
    def unreadable(self) -> dict[str, str]:
        """Why a file cannot be read now, by path."""
        return {tail.path: tail.trouble for tail in self._tails.values() if tail.trouble}

    @property
    def receipt(self) -> Receipt:
        """What came so far, and how many lines are held back."""
        pending = sum(tail.pending for tail in self._tails.values())
        return replace(self._receipt, pending=pending)

    def look(self) -> bool:
        """
        Look at each file once and store a piece of what it has grown by.

        Returns:
            Whether there is more to be read right away.

        Raises:
            Busy, StorageUnavailable: The database is away; what was not stored will be read again.
        """
        self._places = None
        found = follow.find(self._patterns)
        for one in found.values():
            self._tails.setdefault(one.id, Tail(one.path, one.id)).path = one.path
        more = False
        for tail in list(self._tails.values()):
            if self._stopping():
                return True
            more |= self._attend(tail, named=tail.id in found)
        self._economise()
        if not more:
            self._keep()
        return more

    def close(self) -> None:
        """Close every file."""
        for tail in self._tails.values():
            tail.close()

    def _attend(self, tail: Tail, *, named: bool) -> bool:
        """Read on in one file; whatever is wrong with it, the others go on."""
        try:
            more = self._advance(tail)
        except UnreadableInput as error:
            tail.fail(error.detail)
            more = False
        except (Overtaken, Replaced):
            tail.forget()
            return True
        except BaseException:
            tail.forget()
            raise
        if not named and not more and (tail.file is None or tail.quiet):
            tail.close()
            del self._tails[tail.id]
        return more

    def _advance(self, tail: Tail) -> bool:
        """
        Store the next piece of a file, where it has grown.

        Returns:
            Whether there is more.
        """
        state = tail.state()
        if state is None:
            return False
        # Nobody will end the last line of a file that has lost its name and is written to no more.
        last = tail.pending and tail.quiet and not state.linked
        if tail.rests(state) and not last:
            return False
        if state != tail.done:
            tail.grew = monotonic()
        content = tail.open()
        place = self._checked(tail, content, state)
        start = place.size
        came = self._next(tail, content, place, last=last)
        more = bool(tail.ends)
        if came is not None or (place.id is None and start):
            end, chunks = came or (start, [])
            place = self._store(tail, content, place, end, chunks, state)
            more = more or end - start >= follow.PIECE_BYTES
        if not more:
            tail.pending = not content.packed and follow.holds_text(content.chunks(place.size))
            tail.succeed(state)
        return more

    def _checked(self, tail: Tail, content: follow.Content, state: State) -> Place:
        """How far the file was read, where it still begins with what was read; else its beginning."""
        place = tail.place or self._stored(tail)
        if content.packed:
            if place is None or tail.checked != state:
                place = self._check_packed(tail, content, state, place)
        elif place is None or not content.begins_with(_print_of(place)):
            if content.head().startswith(follow.GZIP):
                tail.close()
                raise Replaced
            place = self._anew(tail, content, place)
        if not place.size:
            follow.refuse_no_lines(tail.path, content.head())
        tail.place, tail.checked = place, state
        return place

    def _check_packed(
        self, tail: Tail, content: follow.Content, state: State, place: Place | None
    ) -> Place:
        """Do the same for a compressed file, passing through all of it; it has to be whole."""
        tail.ends = []
        if place is not None and place.changed_ns == state.changed_ns:
            return place  # it was read to its end
        if place is None or not content.begins_with(_print_of(place)):
            place = self._anew(tail, content, place)
        newline, _ = follow.newline_of(content)
        rest = content.chunks(place.size)
        tail.ends = list(follow.piece_ends(rest, place.size, newline, to_end=True))[::-1]
        return place

    def _next(
        self, tail: Tail, content: follow.Content, place: Place, *, last: bool
    ) -> tuple[int, Iterable[bytes]] | None:
        """
        What comes next that can be read by itself, and where it ends; None where that is nothing.

        A line that a container runtime has split is held back until its last part has come.
        """
        while (end := tail.next_end(place, content, last=last)) is not None:
            if end - place.size > 2 * follow.PIECE_BYTES:  # one line, and too long
                return end, content.chunks(place.size, end)
            data = b"".join(content.chunks(place.size, end))
            if last or (content.packed and not tail.ends):
                return end, [data]
            if size := follow.settled(data, self._max_line):
                return place.size + size, [data[:size]]
            if not content.packed:
                return (end, [data]) if len(data) >= follow.PIECE_BYTES else None
        return None

    def _store(
        self,
        tail: Tail,
        content: follow.Content,
        place: Place,
        end: int,
        chunks: Iterable[bytes],
        state: State,
    ) -> Place:
        """Store what lies between the place and *end*, and the place behind it."""
        start, before = place.size, _print_of(place)
        passing = follow.Passing(chunks, place.crc)
        _, mark = follow.newline_of(content)

        def reached(place: Place) -> Place:
            printed = content.print_at(end, passing.crc)
            if content.packed:
                same = tail.state() == state
            else:
                same = passing.still_in(content, start) and content.begins_with(before)
            if not same or passing.size != end - start:
                raise Replaced
            changed_ns = 0 if tail.ends else state.changed_ns
            return replace(place, **printed._asdict(), changed_ns=changed_ns)

        if tail.delivery is None:
            tail.delivery = self._delivery(place)
        receipt, tail.place = self._pipeline.piece(
            follow.whole_lines(passing, mark if start else b"", self._max_line),
            place,
            tail.delivery,
            reached,
            server=self._server,
            source=self._source,
        )
        self._receipt.add(receipt)
        return tail.place

    def _stored(self, tail: Tail) -> Place | None:
        """The place that the database has for this file."""
        return next((place for place in self._known() if place.file == tail.id), None)

    def _known(self) -> list[Place]:
        """Every place of this feed, as it was at this look."""
        if self._places is None:
            with self._writer.reading() as connection:
                self._places = stored.places(connection, self._server, self._source)
        return self._places

    def _anew(self, tail: Tail, content: follow.Content, old: Place | None) -> Place:
        """
        Where to begin with content that is not what was read under this file before: at its first byte,
        or, where it begins with what was read elsewhere, where that was left.
        """
        replaces = None
        if old is not None:
            replaces = old.replaces if old.id is None else (old.id, old.revision)
        fresh = Place(path=str(Path(tail.path).absolute()), file=tail.id, replaces=replaces)
        known = self._known()
        fitting = follow.alike(content, [_print_of(place) for place in known])
        tail.delivery, tail.searched = None, 0
        if not fitting:
            return fresh
        origin = known[fitting[0]]
        tail.delivery = self._delivery(origin, copied=True)
        return replace(
            fresh,
            **content.print_at(origin.size, origin.crc)._asdict(),
            records=origin.records,
            chain=origin.chain,
            accepted=origin.accepted,
        )

    def _delivery(self, place: Place, *, copied: bool = False) -> Continued:
        """The delivery as it was at a place."""
        hasher = self._pipeline.recogniser.hasher
        if place.id is None:
            return Continued(hasher)
        with self._writer.reading() as connection:
            pages = stored.pages(connection, place)
        return Continued(hasher, place.chain, pages, copied=copied)

    def _economise(self) -> None:
        """Close files and forget ordinals that are not likely to be needed soon."""
        latest = sorted(self._tails.values(), key=lambda tail: tail.grew, reverse=True)
        for at, tail in enumerate(latest):
            read = tail.content is not None and tail.content.packed and not tail.ends
            if read or at >= OPEN_FILES:
                tail.close()
            if at >= READY_FILES and tail.place is not None and tail.place.id is not None:
                tail.delivery = None

    def _keep(self) -> None:
        """Once a day, let go of the places of files that are long gone."""
        now_us = self._clock()
        if now_us - self._kept_us < DAY_US or not self._tails:
            return
        with self._writer.transaction() as connection:
            stored.keep(connection, self._server, self._source, self._tails.keys(), now_us)
        self._kept_us = now_us


def _print_of(place: Place) -> follow.Print:
    return follow.Print(place.size, place.head, place.tail, place.crc)
