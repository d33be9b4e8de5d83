"""Files and streams into the pipeline: what `ingest`, `report` and `demo` share."""

import gc
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from service import names, terminal
from service.cataloguing import open_cataloguing
from service.clock import system_clock
from service.errors import LastCallError, UnreadableInput
from service.events import Event, Ignored, Receipt, Rejected, Release
from service.ingest import records, sources
from service.pipeline import Feed, Pipeline, Watcher, new_run
from service.settings import Settings
from service.store.driver import open_writer

if TYPE_CHECKING:
    from service.ingest.hints import Hint, Hints


@dataclass(slots=True)
class Intake:
    """What came of reading files: one receipt for the run, and the files that could not be read."""

    receipt: Receipt = field(default_factory=Receipt)
    unread: list[str] = field(default_factory=list)
    hints: "list[Hint]" = field(default_factory=list)


@contextmanager
def open_pipeline(settings: Settings) -> Iterator[Pipeline]:
    """A pipeline over the database of `settings`, its schema made ready; closed at the end."""
    with open_writer(settings.database_url, auto_upgrade=settings.auto_upgrade) as writer:
        pipeline = Pipeline(writer, settings)
        try:
            yield pipeline
        finally:
            pipeline.close()


def read(
    paths: Sequence[str],
    settings: Settings,
    *,
    server: str | None,
    source: str,
    hints: bool = False,
) -> Intake:
    """
    Read files in one run; one that cannot be read does not keep the others from being read.

    With `hints`, the messages that look like tool traffic but match no profile are gathered.
    """
    done = Intake()
    found = _expand(paths, done.unread)
    feed = Feed(
        server=names.feed_name("--server", server),
        source=names.feed_name("--source", source) or "files",
        batch=new_run(system_clock()),
    )
    if not found:
        return done  # no database is made for nothing
    gathered = None
    if hints:
        from service.ingest.hints import Hints

        gathered = Hints()
    with (
        open_pipeline(settings) as pipeline,
        terminal.progress(_total_size(found)) as bar,
        _rare_collections(),
    ):
        for path in found:
            receipt = Receipt()
            try:
                with sources.open_source(path) as opened:
                    pipeline.file(
                        opened,
                        feed,
                        receipt=receipt,
                        progress=bar.follow(opened) if bar else None,
                        watch=_gathering(gathered) if gathered else None,
                    )
            except UnreadableInput as error:
                done.unread.append(error.detail)
            except LastCallError as error:
                done.unread.append(f"{path}: {error.detail}")
            done.receipt.add(receipt)
    done.hints = gathered.top() if gathered else []
    return done


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for cycles seldom: millions of tuples that live for one portion hold none, and looking
    through them at the usual pace takes a tenth of the time."""
    usual = gc.get_threshold()
    gc.set_threshold(1_000_000, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _expand(paths: Sequence[str], unread: list[str]) -> list[str]:
    """The files that the arguments name; what names none is added to *unread*."""
    found: list[str] = []
    for path in paths:
        try:
            found += sources.expand([path])
        except UnreadableInput as error:
            unread.append(error.detail)
    return found


def _total_size(paths: Sequence[str]) -> int | None:
    """Bytes to read, for a progress bar; None where one of the inputs is no file."""
    files = [Path(path) for path in paths]
    if not all(file.is_file() for file in files):
        return None
    return sum(file.stat().st_size for file in files)


def _gathering(hints: "Hints") -> Watcher:
    """Gather hints from what is ignored."""

    def watch(record: records.Record, outcome: Event | Rejected | Ignored) -> None:
        if not isinstance(outcome, Ignored):
            return
        if isinstance(record, records.Parsed):
            if isinstance(record.value, dict):
                hints.add_record(record.value)
        else:
            hints.add(record.raw)

    return watch


def record(releases: Iterable[Release], settings: Settings) -> None:
    """Record releases that are already in memory."""
    with open_cataloguing(settings) as cataloguing:
        for each in releases:
            cataloguing.release(
                each.server, each.version, each.at_us, source=each.source, actor=each.source
            )


def read_lines(logs: Mapping[str, Sequence[bytes]], settings: Settings) -> None:
    """Store lines that are already in memory, by server."""
    with open_pipeline(settings) as pipeline:
        for server, lines in logs.items():
            feed = Feed(server=server, source="files", batch=new_run(system_clock()))
            stream = io.BytesIO(b"\n".join(lines) + b"\n")
            with sources.Source(server, stream, None) as opened:
                pipeline.file(opened, feed)
