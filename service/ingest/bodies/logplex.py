"""Heroku's logplex: lines of syslog, each with its length in front."""

from service.ingest import octets
from service.ingest.bodies.compression import decode_body
from service.ingest.lines import grouped
from service.ingest.records import Body, Limits, Reader
from service.ingest.stream import Stream


def reader(content_encoding: str | None) -> Reader:
    """Return the reader of a drain's request, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes)
        return Body(grouped(octets.messages(Stream([text]), limits.line_bytes)), text)

    return read
