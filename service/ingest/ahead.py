"""
Read a large file ahead in a process of its own: it finds the lines that matter, this one makes events of
them and stores them, so that two processors work on one file.
"""

import os
import pickle
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Final

from service.errors import LastCallError, UnreadableInput
from service.ingest.records import Record
from service.ingest.scan import DENSE, Sifted
from service.ingest.sources import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LARGE: Final = 32 * 1024 * 1024
"""Bytes from which on a file is worth a process: one takes some ten milliseconds to begin."""

Item = bytes | Sifted | Record
Records = Iterable[bytes | Record]


def is_worth_it(source: Source) -> bool:
    """
    Whether a source is large enough, and another process can read it: there is a second processor, and
    nothing else runs here that a copy of this process would tear apart.
    """
    return (
        source.size is not None
        and source.size >= LARGE
        and hasattr(os, "fork")
        and hasattr(os, "sched_getaffinity")  # elsewhere than on Linux, forking is not safe
        and len(os.sched_getaffinity(0)) > 1
        and threading.active_count() == 1
    )


def read_ahead(
    source: Source, records: Records, sift: Callable[[bytes], Sifted]
) -> Generator[Item]:
    """
    Yield *records* of a source, which another process takes: of a block of whole lines what *sift* finds,
    or the block itself where much of it matters.

    Raises:
        LastCallError: What taking the records raises.
        UnreadableInput: The other process was ended.
    """
    # what no smaller file needs: 20 ms
    from multiprocessing import get_context

    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    work = (source, records, sift, theirs, ours)
    other = context.Process(target=_work, args=work, name="lastcall-reader", daemon=True)
    other.start()
    theirs.close()
    with closing(ours):
        try:
            yield from _received(source, ours)
        finally:
            other.kill()
            other.join()


def _received(source: Source, pipe: "Connection") -> Iterator[Item]:
    while True:
        try:
            consumed, item = pickle.loads(pipe.recv_bytes())  # noqa: S301 - of our own process
        except EOFError:
            raise UnreadableInput(
                f"{source.name}: the process that reads it was ended from outside, perhaps for want of "
                "memory; read the file again: what is stored does not count twice"
            ) from None
        source.consumed = consumed
        if item is None:
            return
        if isinstance(item, BaseException):
            raise item
        yield item


def _work(
    source: Source,
    records: Records,
    sift: Callable[[bytes], Sifted],
    pipe: "Connection",
    other_end: "Connection",
) -> None:
    """Take the records and send each; last, None or what went wrong."""
    other_end.close()  # else nobody would be told that the reader of the pipe is gone

    def send(item: Item | LastCallError | None) -> None:
        pipe.send_bytes(pickle.dumps((source.consumed, item), pickle.HIGHEST_PROTOCOL))

    try:
        for record in records:
            item: Item = record
            if isinstance(record, bytes):
                sifted = sift(record)
                # looking at every line is cheaper there, and needs the block as it is
                item = record if len(sifted.found) > sifted.newlines * DENSE else sifted
            send(item)
        send(None)
    except LastCallError as error:
        send(error)
    except (BrokenPipeError, KeyboardInterrupt):
        return  # nobody wants the rest
