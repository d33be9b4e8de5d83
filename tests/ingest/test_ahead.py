"""A file that another process reads ahead comes to what it comes to when this one reads it."""

import io
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.errors import BodyNotDecodable, BodyTooLarge, LastCallError, UnreadableInput
from service.events import BatchName
from service.ingest import ahead, body, keys
from service.ingest.gather import Feed, Gathering
from service.ingest.memory import Memory
from service.ingest.records import Line
from service.ingest.sources import Source, open_source
from tests.acceptance.test_fast_and_slow import NOW_US, Trickle
from tests.ingest.hostile import file_of
from tests.ingest.support import recogniser

READER = recogniser()
FEED = Feed(server=None, source="files", batch=BatchName(kind="ingest", label="run"))


def alone(call: str) -> str:
    """
    What a function of this module returns in a process of its own: one that has threads, as a worker of
    tests has, must not be copied.
    """
    code = f"from tests.ingest.test_ahead import *; print({call}, end='')"
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def gathered(source: Source, *, is_ahead: bool) -> Any:
    """What is written of the portions of a source, and what ended it early."""
    gathering = Gathering(Memory(READER), keys.Delivery(READER.hasher), FEED, NOW_US)
    records = body.stream_records(source.chunks(), 1 << 16, 1 << 20)
    items = ahead.read_ahead(source, records, gathering.sifted) if is_ahead else records
    try:
        gathering.take(items)
    except LastCallError as error:
        return _written(gathering), type(error), error.detail
    return _written(gathering), source.consumed


def _written(gathering: Gathering) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", repr(gathering.portions()))


def differing(files: range) -> list[int]:
    """Which files come to something else when they are read the other way."""
    found = []
    for number in files:
        data, size = file_of(number), random.Random(number).choice([7, 4_096, 1 << 20])
        here, there = (
            gathered(Source("x.log", Trickle(data, size), None), is_ahead=is_ahead)
            for is_ahead in (False, True)
        )
        if here != there:
            found.append(number)
    return found


def test_hostile_files_come_to_the_same() -> None:
    """The portions that are stored, their places and hours, what was consumed, and what ends it early."""
    assert alone("differing(range(60))") == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_hostile_files_come_to_the_same(part: int) -> None:
    """The same with many more files."""
    assert alone(f"differing(range({60 + part}, 1_000, 4))") == "[]"


def lines(error: LastCallError | None, *, killed: bool = False) -> Iterator[bytes | Line]:
    """Two records, and an end."""
    yield b'{"msg":"other"}\n'
    yield Line(b"cut", unfinished=True)
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    if error is not None:
        raise error


def taken(error: LastCallError | None, *, killed: bool = False) -> list[str]:
    """The records that come, and what ends them."""
    found: list[str] = []
    sift = Gathering(Memory(READER), keys.Delivery(READER.hasher), FEED, NOW_US).sifted
    try:
        source = Source("x.log", io.BytesIO(), None)
        items = ahead.read_ahead(source, lines(error, killed=killed), sift)
        found.extend(type(item).__name__ for item in items)
    except LastCallError as raised:
        found.append(f"{type(raised).__name__} {raised.detail} {raised.status}")
    return found


@pytest.mark.parametrize("error", [UnreadableInput, BodyTooLarge, BodyNotDecodable])
def test_what_ends_a_file_early_is_told_after_what_came_before(error: type[LastCallError]) -> None:
    """By the same error."""
    found = alone(f"taken({error.__name__}('é: cut'))")
    assert found == str(["Sifted", "Line", f"{error.__name__} é: cut {error.status}"])


def test_a_process_that_is_killed_is_noticed() -> None:
    """As for want of memory: what came before is there, and what to do is said."""
    found = alone("taken(None, killed=True)")
    assert found.startswith(
        "['Sifted', 'Line', 'UnreadableInput x.log: the process that reads it was ended"
    )


def stopped() -> tuple[int, int]:
    """Take one record of very many, and no more: how many processes there are then, and afterwards."""
    sift = Gathering(Memory(READER), keys.Delivery(READER.hasher), FEED, NOW_US).sifted
    endless = (Line(b"x" * 1_000) for _ in range(10**9))
    items = ahead.read_ahead(Source("x.log", io.BytesIO(), None), endless, sift)
    next(items)
    during = len(multiprocessing.active_children())
    items.close()
    return during, len(multiprocessing.active_children())


def test_who_stops_leaves_no_process_behind() -> None:
    assert alone("stopped()") == "(1, 0)"


def worth(path: str) -> list[bool]:
    """Whether a file is worth a process, with as many processors as there are, and with one."""
    found = []
    processors = os.sched_getaffinity(0)
    for some in (processors, {min(processors)}):
        os.sched_setaffinity(0, some)
        with open_source(path) as source:
            found.append(ahead.is_worth_it(source))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processors are given to a process on Linux")
def test_a_large_file_is_read_ahead_where_there_is_a_second_processor(tmp_path: Path) -> None:
    """A small one never."""
    several = len(os.sched_getaffinity(0)) > 1
    for size, expected in ((ahead.LARGE, several), (ahead.LARGE - 1, False)):
        path = tmp_path / f"{size}.log"
        with path.open("wb") as file:
            file.truncate(size)
        assert alone(f"worth({str(path)!r})") == str([expected, False])


def ingested(path: Path, database: Path, processors: set[int]) -> tuple[str, list[tuple[int, ...]]]:
    """What `lastcall ingest` says, and the events that it stored."""
    url = f"sqlite:///{database}"
    code = "from service.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "ingest", "--server", "maps", "--db", url, str(path)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(database)) as connection:
        # an event without a time has that of its arrival, and its own run
        rows = connection.execute(
            "SELECT min(time_us, ?) AS at, kind, counted, tool_id, client_id FROM event ORDER BY 1, 2, 3, 4, 5",
            [NOW_US],
        )
        return done.stdout, rows.fetchall()


@pytest.mark.skipif(sys.platform != "linux", reason="processors are given to a process on Linux")
def test_the_command_comes_to_the_same_on_one_processor_and_on_several(tmp_path: Path) -> None:
    """A file of 33 MB, most of it of no interest, with hostile parts between."""
    rng = random.Random(1)
    path = tmp_path / "large.log"
    with path.open("wb") as file:
        for number in range(200, 240):
            file.write(file_of(number).replace(b"\xff\xfe", b"") + b"\n")
            for _ in range(1_100):
                file.write(b'{"level":30,"msg":"%s"}\n' % rng.randbytes(380).hex().encode())
    assert path.stat().st_size > ahead.LARGE
    processors = os.sched_getaffinity(0)
    said, rows = ingested(path, tmp_path / "several.db", processors)
    assert (said, rows) == ingested(path, tmp_path / "one.db", {min(processors)})
    assert len(rows) > 100
