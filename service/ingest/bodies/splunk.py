"""
Splunk's HTTP Event Collector: objects one after the other, each with its `event` and a time in seconds.

What clients put around a record within `event` is taken off like any wrapper (`service.ingest.envelopes`).
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Final

from service.errors import BodyNotDecodable
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import bounded, likely_time, line_of, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.body import records_of
from service.ingest.envelopes import hec
from service.ingest.jsontext import TooDeep, loads
from service.ingest.records import Body, Limits, Origin, Reader, Record

BROKEN: Final = "Invalid data format"
NO_EVENT: Final = "Event field is required"


class NoData(BodyNotDecodable):
    """The body is empty."""


class Invalid(BodyNotDecodable):
    """An event is none: `detail` is `BROKEN` or `NO_EVENT`."""

    def __init__(self, detail: str, number: int) -> None:
        """*number*: the place of the event, from 0."""
        super().__init__(detail)
        self.number = number


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
    """
    The events. A bad one among good ones costs itself alone: its sender would not send the others again.

    Raises:
        Invalid: None of them is an event, or the last one is cut.
    """
    good, first = 0, None
    for number, (start, end) in enumerate(spans):
        raw = text[start:end]
        record, fault = _event(raw, max_line)
        if fault is BROKEN and _is_cut(text, start):
            raise Invalid(BROKEN, number)
        if fault is None:
            good += 1
        elif first is None:
            first = Invalid(fault, number)
        yield record
    if first is not None and not good:
        raise first


def _event(raw: bytes, max_line: int) -> tuple[Record, str | None]:
    """The record in an event, and what is wrong with the event."""
    if len(raw) > 2 * max_line:
        return line_of(raw, max_line), None
    try:
        said = loads(raw)
    except TooDeep:
        said = None
    except ValueError:
        return refused(raw.decode(errors="replace"), broken=True), BROKEN
    if not isinstance(said, dict) or said.get("event") is None:
        return refused(raw.decode(errors="replace")), NO_EVENT
    origin = Origin(likely_time(said.get("time")), None, (hec.NAME,))
    return record_of(said["event"], max_line, origin), None


def _is_cut(text: bytes, start: int) -> bool:
    """Whether the object that begins here does not end."""
    return text[start : start + 1] == b"{" and jsoncut.end_of(text, start) is None
