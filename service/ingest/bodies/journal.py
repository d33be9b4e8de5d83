"""journald's export format, as systemd-journal-upload sends it, or the same entries as JSON."""

from service.errors import BodyNotDecodable
from service.ingest import journal
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import bounded, compact
from service.ingest.bodies.compression import decode_body
from service.ingest.lines import grouped, split_blocks
from service.ingest.records import Body, Limits, Reader
from service.ingest.stream import Stream


def reader(content_encoding: str | None) -> Reader:
    """Return the reader of an upload, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes)
        at = jsoncut.after_blank(text, 0)
        if text[at : at + 1] == b"{":
            return Body(split_blocks([text], limits.line_bytes), text)
        if at < len(text) and not journal.begins(text[at : at + 64]):
            raise BodyNotDecodable("the body is no entries of a journal in its export format")
        entries = journal.entries(Stream([text[at:]]), limits.line_bytes)
        small = (compact(each) if isinstance(each, bytes) else each for each in entries)
        return Body(bounded(grouped(small)), text)

    return read
