"""
Find the lines of a stream, whatever it is framed by: newlines, octet counts, or a journal's export.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from service.ingest import journal, octets
from service.ingest.lines import decoded, grouped, split_blocks
from service.ingest.parts import joined
from service.ingest.records import Line
from service.ingest.stream import Stream

_HEAD: Final = 32


def framed(chunks: Iterable[bytes], max_line: int) -> Iterator[bytes | Line]:
    """
    Yield a stream as `split_blocks` does: blocks of whole lines, and lines that are too long or
    unfinished.

    How it is framed is seen from its beginning. Lines that a container runtime has split are joined.
    """
    stream = Stream(decoded(chunks))
    head = stream.peek(_HEAD)
    if octets.begins(head):
        return grouped(octets.messages(stream, max_line))
    if journal.begins(head):
        return grouped(journal.entries(stream, max_line))
    return joined(split_blocks(stream.rest(), max_line), max_line)
