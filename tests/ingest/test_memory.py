"""What is read with a memory, in blocks, is what each line is by itself."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import pytest

from service.errors import BodyNotDecodable
from service.events import BatchName, Event, Ignored, Portion, Rejected, Row
from service.ingest import body
from service.ingest.gather import Feed, Gathering
from service.ingest.keys import Delivery
from service.ingest.memory import Memory
from service.ingest.records import Origin
from tests.ingest.hostile import file_of
from tests.ingest.support import HASHER, recogniser

MAX_LINE = 1 << 20
FILES = 1_200
SIZES = [7, 100, 4_096, 65_536, 262_144, 1 << 20]


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def gathered(memory: Memory, data: bytes, size: int, *, slow: bool, commit: int) -> list[Portion]:
    """A file as portions; the slow way looks at each line by itself, as a dry run does."""
    feed = Feed(server=None, source="files", batch=BatchName(kind="ingest", label="run"))
    watch = (lambda _record, _outcome: None) if slow else None
    found = Gathering(memory, Delivery(HASHER), feed, 1_791_331_200_000_000, watch=watch)
    portions: list[Portion] = []
    with contextlib.suppress(BodyNotDecodable):  # an array that is cut
        for record in body.stream_records(chunks(data, size), MAX_LINE, 8 * MAX_LINE):
            found.take([record])
            if found.size >= commit:
                portions += found.portions()
    return portions + found.portions()


def plain(portion: Portion) -> tuple[object, ...]:
    """A portion in a form that compares by value: subjects are compared by identity."""

    def row(each: Row) -> tuple[object, ...]:
        time_us, key, subject, *rest = each
        return time_us, key, *(getattr(subject, name) for name in subject.__slots__), *rest

    return (
        portion.server,
        [row(each) for each in portion.rows],
        [native[:2] for native in portion.natives],
        portion.rejected,
        portion.ignored,
        portion.hours,
    )


@pytest.mark.parametrize("seed", range(8))
def test_reading_with_a_memory_comes_to_the_same(seed: int) -> None:
    """Files of every profile with nasty values, cut, interleaved, repeated, huge and deep lines, read
    by one memory that outlives them, in chunks of any size, with commits anywhere."""
    rng = random.Random(seed)
    memory = Memory(recogniser())
    for number in range(FILES // 8):
        data = file_of(seed * 1_000_000 + number)
        commit = rng.choice([1, 20, 50_000])
        slow = gathered(memory, data, 1 << 20, slow=True, commit=commit)
        fast = gathered(memory, data, rng.choice(SIZES), slow=False, commit=commit)

        assert [plain(each) for each in fast] == [plain(each) for each in slow], (seed, number)


def test_most_lines_of_a_log_are_known_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory is of use: of a thousand like lines all but a few are not even parsed."""
    memory = Memory(recogniser())
    parsed: list[object] = []
    bare = memory.recogniser.bare

    def counting(value: dict[str, Any], origin: Origin) -> Event | Rejected | Ignored:
        parsed.append(value)
        return bare(value, origin)

    monkeypatch.setattr(memory.recogniser, "bare", counting)
    line = (
        b'{"time":"2026-10-05T10:15:%02d.%03dZ","msg":"Tools listed","data":{"sessionId":"s%d"}}\n'
    )
    data = b"".join(line % (n % 60, n % 1_000, n) for n in range(1_000))

    (portion,) = gathered(memory, data, 1 << 20, slow=False, commit=50_000)

    assert len(portion.rows) == 1_000
    assert len(parsed) == 1
