"""
Wrappers: what log shippers and container runtimes put around a record.

One file a wrapper. Each has a function for lines or one for parsed records that takes the wrapper off, or
returns None where it is not there. A wrapper is known by its shape alone and never by what is inside, so a
text that a user wrote into a log cannot pass for a record: JSON inside a string is taken out only of an
object that has the keys of a wrapper and no logger's own.
"""

from collections.abc import Callable
from typing import Any, Final

from service.ingest.envelopes import (
    cloudwatch,
    docker,
    fluent,
    google,
    hec,
    journald,
    logstash,
    logstash_async,
    otlp,
    splunk_events,
    syslog_fields,
    vector,
    vercel,
    winston_elasticsearch,
)
from service.ingest.envelopes.of_lines import LINES
from service.ingest.envelopes.shape import OfRecord, Peeled
from service.ingest.jsontext import loads
from service.ingest.lines import BLANK
from service.ingest.records import BARE, Origin

__all__ = [
    "EVENTS",
    "LINES",
    "MOST",
    "NEEDLES",
    "RECORDS",
    "TIMES",
    "Peeled",
    "innermost",
    "of_line",
    "of_record",
    "peel",
]

MOST: Final = 6
"""So many wrappers are taken off at most."""

RECORDS: Final[tuple[tuple[str, tuple[OfRecord, ...]], ...]] = (
    ("log", (docker.peel, fluent.peel_log)),
    (
        "message",
        (
            cloudwatch.peel,
            vercel.peel,
            vector.peel,
            logstash_async.peel,
            winston_elasticsearch.peel,
            syslog_fields.peel_lower,
            logstash.peel,
            fluent.peel_message,
        ),
    ),
    ("MESSAGE", (journald.peel, syslog_fields.peel_upper)),
    ("event", (hec.peel,)),
    ("textPayload", (google.peel,)),
    ("jsonPayload", (google.peel,)),
    ("resourceLogs", (otlp.peel,)),
    ("resourceSpans", (otlp.peel,)),
    ("timeUnixNano", (otlp.peel,)),
    ("observedTimeUnixNano", (otlp.peel,)),
    ("startTimeUnixNano", (otlp.peel,)),
)
"""Asked in this order for a parsed record that has the key."""

EVENTS: Final[tuple[tuple[str, tuple[OfRecord, ...]], ...]] = (
    ("line", (splunk_events.peel_line,)),
    ("message", (splunk_events.peel_message,)),
    ("meta", (splunk_events.peel_meta,)),
)
"""Asked before `RECORDS` for what came inside of a Splunk event."""

NEEDLES: Final = journald.NEEDLES
"""A line with one of these may be ours though what is inside cannot be seen."""

TIMES: Final = ("__REALTIME_TIMESTAMP", "timeUnixNano", "startTimeUnixNano")
"""Keys of wrappers that hold a time and are no logger's."""

_MARK: Final = b"\xef\xbb\xbf"

IsRecord = Callable[[bytes], bool]
"""Says whether a line of text, with nothing around it, is a record."""


def _never(_raw: bytes) -> bool:
    return False


def of_line(raw: bytes, origin: Origin) -> tuple[object, Origin] | None:
    """Take the outermost wrapper off a line that has something inside; None where there is none."""
    if len(origin.wrappers) < MOST:
        for peel_off in LINES:
            if (peeled := peel_off(raw)) is not None:
                return _within(peeled, origin)
    return None


def of_record(
    record: dict[str, Any], origin: Origin, is_text_record: IsRecord = _never
) -> tuple[object, Origin] | None:
    """
    Take the outermost wrapper off a record; None where there is none.

    A text inside that is neither an object nor wrapped itself, nor has fields (*is_text_record*), leaves the
    record as it is: it may be its message.
    """
    if len(origin.wrappers) >= MOST:
        return None
    for key, known in (*EVENTS, *RECORDS) if hec.NAME in origin.wrappers else RECORDS:
        if key in record:
            for peel_off in known:
                peeled = peel_off(record)
                if peeled is not None and _holds_record(peeled.inner, is_text_record):
                    return _within(peeled, origin)
    return None


def peel(outer: object) -> tuple[dict[str, Any] | None, Origin]:
    """Take all wrappers off a line or a record, whatever is inside: the record, or None where what is
    inside is no object."""
    inner, origin = innermost(outer)
    return inner if isinstance(inner, dict) else None, origin


def innermost(
    outer: object, is_text_record: IsRecord = _never
) -> tuple[dict[str, Any] | bytes | None, Origin]:
    """Take all wrappers off a line or a record: the object inside, or the line of text; None for anything
    else. *is_text_record* as in `of_record`."""
    inner, origin = outer, BARE
    while True:
        inside, raw = None, None
        if isinstance(inner, bytes):
            raw = _bare(inner)
            inner = _parsed(raw)
            inside = of_line(raw, origin) if inner is None else None
        if isinstance(inner, dict):
            inside = of_record(inner, origin, is_text_record)
        if inside is None:
            return inner if isinstance(inner, dict) else raw if inner is None else None, origin
        inner, origin = inside


def _parsed(raw: bytes) -> object:
    """What a line is that begins like an object; None where it does not, False where it is broken."""
    if not raw.startswith(b"{"):
        return None
    try:
        return loads(raw)
    except ValueError:
        return False


def _within(peeled: Peeled, origin: Origin) -> tuple[object, Origin]:
    time = origin.time if peeled.time is None else peeled.time
    native_id = peeled.native_id or origin.native_id
    return peeled.inner, Origin(time, native_id, (*origin.wrappers, peeled.wrapper))


def _holds_record(inner: object, is_text_record: IsRecord) -> bool:
    if not isinstance(inner, bytes):
        return True
    raw = _bare(inner)
    if raw.startswith(b"{") or any(peel_off(raw) is not None for peel_off in LINES):
        return True
    return is_text_record(raw)


def _bare(raw: bytes) -> bytes:
    """A line as it is read: without padding, white space and byte order mark around it."""
    raw = raw.replace(b"\0", b"").strip(BLANK)
    return raw[3:].lstrip(BLANK) if raw.startswith(_MARK) else raw
