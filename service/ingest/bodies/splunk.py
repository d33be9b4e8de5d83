"""
Splunk's HTTP Event Collector: objects one after the other, each with its `event` and a time in seconds.

What clients put around a record within `event` is taken off like any wrapper (`service.ingest.envelopes`).
"""

from codecs import BOM_UTF8
from collections.abc import Iterator

from service.errors import BodyNotDecodable
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import bounded, likely_time, line_of, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.body import records_of
from service.ingest.envelopes import hec
from service.ingest.jsontext import loads
from service.ingest.records import Body, Limits, Origin, Reader, Record


class NoData(BodyNotDecodable):
    """The body is empty."""


def events(content_encoding: str | None) -> Reader:
    """Return the reader of events, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = _text(data, content_encoding, limits)
        at = jsoncut.after_blank(text, 0)
        if text[at : at + 1] != b"{":
            raise BodyNotDecodable("the body is not JSON objects one after the other")
        return Body(bounded(_events(text, jsoncut.values(text, at), limits.line_bytes)), text)

    return read


def raw(content_encoding: str | None) -> Reader:
    """Return the reader of lines, given the header of that name."""

    def read(data: bytes, limits: Limits) -> Body:
        text = _text(data, content_encoding, limits)
        return Body(bounded(records_of(text, limits)), text)

    return read


def _text(data: bytes, content_encoding: str | None, limits: Limits) -> bytes:
    text = decode_body(data, content_encoding, limits.body_bytes).removeprefix(BOM_UTF8)
    if not text:
        raise NoData("No data")
    return text


def _events(text: bytes, spans: Iterator[jsoncut.Span], max_line: int) -> Iterator[Record]:
    for start, end in spans:
        yield _event(text[start:end], max_line)


def _event(raw: bytes, max_line: int) -> Record:
    if len(raw) > 2 * max_line:
        return line_of(raw, max_line)
    try:
        said = loads(raw)
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("event") is None:
        return refused(raw.decode(errors="replace"))
    origin = Origin(likely_time(said.get("time")), None, (hec.NAME,))
    return record_of(said["event"], max_line, origin)
