"""
OTLP log exports: what the Collector, the SDKs and their friends post to `/v1/logs`.

A text that is the body of a log record is the log line itself. A body that is a map is the record. Any
other body is the message of a record whose fields are its attributes.
"""

import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from service.errors import BodyNotDecodable
from service.ingest import envelopes
from service.ingest.bodies.bounds import bounded, line_of, record_of, refused
from service.ingest.bodies.compression import decode_body
from service.ingest.jsontext import TooDeep, loads
from service.ingest.lines import BLANK
from service.ingest.records import Body, Limits, Origin, Reader, Record

WRAPPER: Final = "otlp"

_LISTS: Final = {
    "resourceLogs": "resourceLogs", "resource_logs": "resourceLogs", "scopeLogs": "scopeLogs",
    "scope_logs": "scopeLogs", "logRecords": "logRecords", "log_records": "logRecords",
}  # fmt: skip
"""Keys around log records, by either of their names."""
_SECOND_NAMES: Final = re.compile(rb'"(?:resource_logs|scope_logs|log_records)"')
_NO_EXPORT: Final = "the body is no ExportLogsServiceRequest as JSON"
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_FROM_RESOURCE: Final = {"hostname": "host.name", "pid": "process.pid"}
"""What loggers write into their lines and their exporters move from there to the resource."""
_FILES: Final = ("common.v1.common", "resource.v1.resource", "logs.v1.logs")
_SERVICE: Final = "collector.logs.v1.logs_service"


def reader(content_type: str | None, content_encoding: str | None) -> Reader:
    """Return the reader of a log export, given the headers of those names."""

    def read(data: bytes, limits: Limits) -> Body:
        text = decode_body(data, content_encoding, limits.body_bytes).removeprefix(BOM_UTF8)
        if is_json(content_type, text):
            return Body(bounded(_from_json(text, limits.line_bytes)), text)
        return Body(bounded(_records(_from_protobuf(text), limits.line_bytes)), text)

    return read


def is_json(content_type: str | None, body: bytes = b"") -> bool:
    """Say whether an export is JSON: by its Content-Type, and where that says neither, by its looks."""
    said = (content_type or "").lower()
    if "protobuf" in said:
        return False
    return "json" in said or body.lstrip(BLANK).startswith(b"{")


def _from_json(text: bytes, max_line: int) -> Iterator[Record]:
    """
    The records of an export as JSON. Where it cannot be parsed as a whole, those that cannot be parsed
    alone are rejected.

    Raises:
        BodyNotDecodable: It is no JSON, or no export.
    """
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    if not text.lstrip(BLANK).startswith(b"{"):
        raise BodyNotDecodable(f"{_NO_EXPORT}: it is no object")
    if _SECOND_NAMES.search(text):  # the library keeps one of two lists that differ in their names
        return _one_by_one(_cleaned(text), max_line)
    try:
        written = text.decode(errors="replace")
        request = json_format.Parse(written, ExportLogsServiceRequest(), ignore_unknown_fields=True)
    except (ValueError, json_format.ParseError):
        return _one_by_one(_cleaned(text), max_line)
    return _records(request, max_line)


def _cleaned(text: bytes) -> dict[str, Any]:
    """An object with what is no text taken out."""
    try:
        bare = _SURROGATES.sub("\ufffd", json.dumps(_parsed(text), ensure_ascii=False))
        export: dict[str, Any] = json.loads(bare)
    except (ValueError, RecursionError) as error:
        why = "nested too deep" if isinstance(error, TooDeep | RecursionError) else _first(error)
        raise BodyNotDecodable(f"{_NO_EXPORT}: {why}") from error
    return export


def _parsed(text: bytes) -> object:
    """An export, in which the elements of a list that is there twice are those of one list."""
    try:
        return json.loads(text, object_pairs_hook=_merged)
    except (ValueError, RecursionError):
        return loads(text)


def _merged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key, value in pairs:
        name = _LISTS.get(key, key)
        before = merged.get(name) if key in _LISTS else None
        if isinstance(before, list) and isinstance(value, list):
            before += value
        else:
            merged[name] = value
    return merged


def _one_by_one(export: dict[str, Any], max_line: int) -> Iterator[Record]:
    """The records of an export in which something is wrong, each parsed alone."""
    from google.protobuf import json_format
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

    resources = _listed(export, "resourceLogs")
    if resources is None:
        raise BodyNotDecodable(f"{_NO_EXPORT}: resourceLogs is no list")
    for said in resources:
        resource = _resource(said.get("resource")) if isinstance(said, dict) else {}
        scopes = _listed(said, "scopeLogs")
        for scope in [None] if scopes is None else scopes:
            records = _listed(scope, "logRecords")
            if records is None:
                yield refused("a part of resourceLogs that has no scopeLogs with logRecords")
            for record in records or ():
                try:
                    parsed = json_format.ParseDict(record, LogRecord(), ignore_unknown_fields=True)
                except (ValueError, TypeError, AttributeError, json_format.ParseError) as error:
                    yield refused(f"no LogRecord: {_first(error)}")
                else:
                    yield _record(parsed, resource, max_line)


def _listed(said: object, name: str) -> list[Any] | None:
    """The list that a member is; empty where there is none, None where it is something else."""
    if not isinstance(said, dict):
        return None
    found = said.get(name)
    return [] if found is None else found if isinstance(found, list) else None


def _resource(said: object) -> dict[str, Any]:
    """The attributes of a resource; none where they cannot be read."""
    from google.protobuf import json_format
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource

    try:
        parsed = json_format.ParseDict(said or {}, Resource(), ignore_unknown_fields=True)
    except (ValueError, TypeError, AttributeError, json_format.ParseError):
        return {}
    return _map(parsed.attributes)


def _first(error: Exception) -> str:
    """The beginning of what a parser says, without lines."""
    return " ".join(str(error).split())[:200]


def _from_protobuf(text: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return _export().FromString(text)
    except DecodeError as error:
        raise BodyNotDecodable(
            f"the body is no ExportLogsServiceRequest as protobuf: {_first(error)}"
        ) from error


@cache
def _export() -> Any:
    """
    The message of an export, with bytes wherever the protocol says text.

    They are the same on the wire, but a text that is not UTF-8, which collectors do send, would make
    the parser refuse the whole export.
    """
    from importlib import import_module

    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    pool = descriptor_pool.DescriptorPool()
    for name in (*_FILES, _SERVICE):
        file = descriptor_pb2.FileDescriptorProto()
        import_module(f"opentelemetry.proto.{name}_pb2").DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            for each in message.field:
                if each.type == field.TYPE_STRING:
                    each.type = field.TYPE_BYTES
        pool.Add(file)
    package = _SERVICE.rpartition(".")[0]
    found = pool.FindMessageTypeByName(f"opentelemetry.proto.{package}.ExportLogsServiceRequest")
    return message_factory.GetMessageClass(found)


def _records(request: Any, max_line: int) -> Iterator[Record]:
    for resource_logs in request.resource_logs:
        resource = _map(resource_logs.resource.attributes)
        for scope_logs in resource_logs.scope_logs:
            for record in scope_logs.log_records:
                yield _record(record, resource, max_line)


def _record(record: Any, resource: dict[str, Any], max_line: int) -> Record:
    time = record.time_unix_nano or record.observed_time_unix_nano or None  # 0 means unset
    origin = Origin(time, None, (WRAPPER,))
    body = _value(record.body)
    if isinstance(body, dict):
        return record_of(body, max_line, origin)
    said = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    raw = said.replace("\0", "").encode(errors="replace").strip(BLANK)
    attributes = _map(record.attributes)
    if raw and (
        raw.startswith(b"{") or not attributes or envelopes.of_line(raw, origin) is not None
    ):
        return line_of(raw, max_line, origin)
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
