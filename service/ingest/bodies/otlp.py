"""
OTLP log exports: what the Collector, the SDKs and their friends post to `/v1/logs`.

A text that is the body of a log record is the log line itself, as `envelopes.otlp_text` has it. A body that is
a map is the record. Any other body is the message of a record whose fields are its attributes.
"""

import json
import math
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any, Final

from service.ingest.bodies import otlp_cut
from service.ingest.bodies.bounds import bounded, line_of, record_of
from service.ingest.bodies.compression import decode_body
from service.ingest.envelopes.otlp_text import line_in
from service.ingest.lines import BLANK
from service.ingest.records import Body, Limits, Line, Origin, Parsed, Reader, Record

WRAPPER: Final = "otlp"

_FROM_RESOURCE: Final = {"hostname": "host.name", "pid": "process.pid"}
"""What loggers write into their lines and their exporters move from there to the resource."""


def reader(content_type: str | None, content_encoding: str | None) -> Reader:
    """Return the reader of a log export, given the headers of those names."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes).removeprefix(BOM_UTF8)
        if is_json(content_type, text):
            found = otlp_cut.of_json(text, limits.line_bytes)
        else:
            found = otlp_cut.of_protobuf(text, limits.line_bytes)
        return Body(bounded(_records(found, limits.line_bytes)), text)

    return read


def is_json(content_type: str | None, body: bytes = b"") -> bool:
    """Say whether an export is JSON: by its Content-Type, and where that says neither, by its looks."""
    said = (content_type or "").lower()
    if "protobuf" in said:
        return False
    return "json" in said or body.lstrip(BLANK).startswith(b"{")


def _records(found: Iterable[otlp_cut.Cut], max_line: int) -> Iterator[Record]:
    last: Any = None
    said: dict[str, Any] = {}
    for resource, record in found:
        if isinstance(record, Line | Parsed):
            yield record._replace(origin=Origin(None, None, (WRAPPER,)))
            continue
        if resource is not last:
            last, said = resource, _map(resource.attributes)
        yield _record(record, said, max_line)


def _record(record: Any, resource: dict[str, Any], max_line: int) -> Record:
    time = record.time_unix_nano or record.observed_time_unix_nano or None  # 0 means unset
    origin = Origin(time, None, (WRAPPER,))
    body = _value(record.body)
    if isinstance(body, dict):
        return record_of(body, max_line, origin)
    said = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    attributes = _map(record.attributes)
    if (line := line_in(said, attributes)) is not None:
        return line_of(line, max_line, origin)
    if message := said.strip() or _text(record.event_name):
        attributes["msg"] = message
    for name, place in _FROM_RESOURCE.items():
        if place in resource:
            attributes.setdefault(name, resource[place])
    return record_of(attributes, max_line, origin)


def _map(pairs: Any) -> dict[str, Any]:
    return {_text(pair.key): _value(pair.value) for pair in pairs}


def _value(value: Any) -> Any:
    """An AnyValue as parsed JSON would hold it; its depth is bounded by that of protobuf messages."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    inner = getattr(value, kind)
    if kind == "kvlist_value":
        return _map(inner.values)
    if kind == "array_value":
        return [_value(each) for each in inner.values]
    if kind == "double_value":
        return inner if math.isfinite(inner) else None
    return _text(inner) if isinstance(inner, bytes) else inner


def _text(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
