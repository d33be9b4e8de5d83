"""Reading fast, in blocks and with a memory, and slowly, line by line, come to the same database."""

import io
import random
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from service.errors import LastCallError
from service.events import BatchName
from service.ingest.sources import Source
from service.pipeline import Feed, Pipeline
from service.settings import Settings
from service.store import schema
from service.store.driver import Writer
from service.store.engine import Engine, reading
from tests.ingest.hostile import file_of

NOW_US = 1_791_331_200_000_000
"""2026-10-07T00:00:00Z, later than every time in the files."""
FILES = 10_000
SIZES = [7, 100, 4_096, 65_536, 262_144, 1 << 20]
COMMITS = [1, 20, 50_000]


class Trickle(io.BytesIO):
    """A file of which a read gives so many bytes and no more."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._piece = size

    def read1(self, size: int | None = -1) -> bytes:
        return super().read1(self._piece if size in (None, -1) else min(size, self._piece))


def stored(engine: Engine) -> dict[str, list[Any]]:
    """Everything in a database, table by table."""
    with reading(engine) as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(sa.select(table).order_by(*table.primary_key.columns))
            ]
            for table in schema.metadata.sorted_tables
        }


def compare(new_engine: Callable[[], Engine], files: range) -> None:
    """Read files into two databases, one each way."""
    fast, slow = new_engine(), new_engine()
    writers = [Writer(each.url.render_as_string(hide_password=False)) for each in (fast, slow)]
    for commit in COMMITS:
        settings = Settings(commit_records=commit)
        pipelines = [Pipeline(writer, settings, clock=lambda: NOW_US) for writer in writers]
        for number in files[COMMITS.index(commit) :: len(COMMITS)]:
            data, size = file_of(number), random.Random(number).choice(SIZES)
            ways = [(size, None), (1 << 20, lambda _record, _outcome: None)]
            receipts = []
            for pipeline, (piece, watch) in zip(pipelines, ways, strict=True):
                feed = Feed(
                    server=None, source="files", batch=BatchName(kind="ingest", label="run")
                )
                source = Source(f"{number}.log", Trickle(data, piece), None)
                try:
                    receipts.append(pipeline.file(source, feed, watch=watch).as_json())
                except LastCallError as error:  # an array that is cut
                    receipts.append({"error": error.detail})
            assert receipts[0] == receipts[1], number
        for pipeline in pipelines:
            pipeline.close()
    for writer in writers:
        writer.close()
    assert stored(fast) == stored(slow)


def test_fast_and_slow_reading_store_the_same(new_engine: Callable[[], Engine]) -> None:
    """Cut, interleaved, huge, deep and doubled lines, NUL, marks, CRLF, UTF-16, bytes that are no
    text, needles where they do not belong; pieces of 7 bytes to 1 MiB; commits anywhere."""
    compare(new_engine, range(120))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_ten_thousand_hostile_files_are_stored_the_same(
    new_engine: Callable[[], Engine], part: int
) -> None:
    """The same with many more files."""
    compare(new_engine, range(FILES)[part::4])
