"""
OTLP log exports, cut into their records, each of which is parsed alone.

Parsed as a whole, the millions of empty records that fit into a body take hundreds of megabytes, and one
record of wrong types makes the whole export unreadable. So only what is small and right is.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any, Final

from service.errors import BodyNotDecodable, BodyTooLarge
from service.ingest.bodies import jsoncut, wire
from service.ingest.bodies.bounds import MOST, refused
from service.ingest.jsontext import TooDeep, loads
from service.ingest.lines import BLANK
from service.ingest.records import Line

Cut = tuple[Any, Any]
"""A Resource, and a LogRecord; in its place a `Line` or `Parsed` where that cannot be read."""

RECORD: Final = "opentelemetry.proto.logs.v1.LogRecord"
RESOURCE: Final = "opentelemetry.proto.resource.v1.Resource"

_FILES: Final = ("common.v1.common", "resource.v1.resource", "logs.v1.logs")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_NO_EXPORT: Final = "the body is no ExportLogsServiceRequest as "
_WANTED: Final = "; wanted is one with resourceLogs; log lines as they are go to /ingest"
_LISTS: Final = ("resourceLogs", "resource_logs")
_SECOND_NAMES: Final = re.compile(rb'"(?:resource_logs|scope_logs|log_records)"')
_MARKS: Final = (b"{", b"[", b",")
_FEW_VALUES: Final = 300_000
"""What has no more values than this takes little memory however it is parsed."""
_WRITTEN: Final = 2
"""How many times the longest line a record may take, with its attributes and what is escaped in it."""
_MOST_INSIDE: Final = 50_000
"""Objects within a record: an empty one takes two bytes here and many times that in memory."""


def of_json(text: bytes, max_line: int) -> Iterator[Cut]:
    """
    Yield the records of an export as JSON. What is of a wrong type costs itself alone.

    Raises:
        BodyNotDecodable: It is no JSON, or no export.
        BodyTooLarge: It has too many parts.
    """
    export = _whole(text) if sum(map(text.count, _MARKS)) <= _FEW_VALUES else None
    if export is not None:
        if not export.resource_logs:
            _demand_list(text, jsoncut.after_blank(text, 0))
        for resource_logs in export.resource_logs:
            resource = resource_logs.resource
            for scope_logs in resource_logs.scope_logs:
                for record in scope_logs.log_records:
                    yield resource, record
        return
    yield from _of_cut(text, max_line)


def _of_cut(text: bytes, max_line: int) -> Iterator[Cut]:
    """The records of an export of which something is wrong, or that has very many."""
    at = jsoncut.after_blank(text, 0)
    end = jsoncut.end_of(text, at) if text[at : at + 1] == b"{" else None
    if end is None or jsoncut.after_blank(text, end) < len(text):
        raise BodyNotDecodable(f"{_NO_EXPORT}JSON: it is not one object, or is cut{_WANTED}")
    written, understood = (sum(1 for _ in cut(text, at + 1)) for cut in _CUTS)
    resources = _elements(text, at, *_LISTS)
    if written > understood or resources is None:
        raise BodyNotDecodable(f"{_NO_EXPORT}JSON: resourceLogs is no list, or it is no JSON")
    _demand_list(text, at)
    count = _Counter()
    for start, _ in resources:
        resource = _resource(text, start)
        scopes = _elements(text, start, "scopeLogs", "scope_logs")
        count.add()
        if scopes is None:
            yield resource, refused("a part of resourceLogs whose scopeLogs are no list")
        for scope, _ in scopes or ():
            count.add()
            records = _elements(text, scope, "logRecords", "log_records")
            if records is None:
                yield resource, refused("a part of scopeLogs whose logRecords are no list")
            for begin, over in records or ():
                yield resource, _record(text[begin:over], max_line)


def of_protobuf(data: bytes, max_line: int) -> Iterator[Cut]:
    """
    Yield the records of an export as protobuf.

    Raises:
        BodyNotDecodable: It is none.
        BodyTooLarge: It has too many parts.
    """
    count = _Counter()
    found = False
    for resource_logs in _messages(data, 1):
        found = True
        count.add()
        said = b"".join(_messages(resource_logs, 1))  # several of one message are merged
        resource = _message(RESOURCE, said)
        for scope_logs in _messages(resource_logs, 2):
            count.add()
            for raw in _messages(scope_logs, 2):
                if len(raw) > _WRITTEN * max_line:
                    yield resource, Line(raw[:4096], too_long=True, json_like=True)
                else:
                    yield resource, _message(RECORD, raw)
    if data and not found:
        raise BodyNotDecodable(f"{_NO_EXPORT}protobuf: it has no resourceLogs{_WANTED}")


class _Counter:
    """Counts the parts around records, which have no other bound."""

    def __init__(self) -> None:
        self._parts = 0

    def add(self) -> None:
        self._parts += 1
        if self._parts > 2 * MOST:
            raise BodyTooLarge(f"more than {2 * MOST} parts; send fewer at a time")


# ----------------------------------------------------------------------------- JSON

_CUTS: Final[tuple[Callable[[bytes, int], Iterator[Any]], ...]] = (
    jsoncut.elements,
    jsoncut.members,
)


def _demand_list(text: bytes, at: int) -> None:
    """Refuse the object at *at* where it has members, none of which is resourceLogs: `{}` is how an export
    of nothing is written, and all else that was sent would be lost."""
    others = False
    for key, _, _ in jsoncut.members(text, at + 1):
        if key in _LISTS:
            return
        others = True
    if others:
        raise BodyNotDecodable(f"{_NO_EXPORT}JSON: it has no resourceLogs{_WANTED}")


def _whole(text: bytes) -> Any:
    """An export of moderate size, parsed as a whole, which is faster; None where it cannot be, or holds
    lists of which the library would keep one of two."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    if _SECOND_NAMES.search(text) or not text.lstrip(BLANK).startswith(b"{"):
        return None
    try:
        written = text.decode(errors="replace")
        return json_format.Parse(written, ExportLogsServiceRequest(), ignore_unknown_fields=True)
    except (ValueError, RecursionError, json_format.ParseError):
        return None


def _elements(text: bytes, at: int, *names: str) -> Iterator[jsoncut.Span] | None:
    """The elements of the lists of these names in the object at *at*; None where that is no object, or
    one of them no list."""
    if text[at] != 0x7B:
        return None
    places = [start for key, start, _ in jsoncut.members(text, at + 1) if key in names]
    places = [start for start in places if text[start : start + 4] != b"null"]
    if any(text[start] != 0x5B for start in places):
        return None
    return chain.from_iterable(jsoncut.elements(text, start + 1) for start in places)


def _record(raw: bytes, max_line: int) -> Any:
    """The LogRecord that a text is; a record that is rejected where it is none."""
    if len(raw) > _WRITTEN * max_line or raw.count(b"{") > _MOST_INSIDE:
        return Line(raw[:4096], too_long=True, json_like=True)
    try:
        return _parsed(RECORD, raw)
    except BodyNotDecodable as error:
        return refused(f"no LogRecord: {error.detail}")


def _resource(text: bytes, at: int) -> Any:
    """The Resource of the part at *at*; an empty one where it cannot be read."""
    if text[at] == 0x7B:
        for key, start, end in jsoncut.members(text, at + 1):
            if key == "resource":
                raw = text[start:end]
                with suppress(BodyNotDecodable):
                    return _parsed(RESOURCE, raw if raw.count(b"{") <= _MOST_INSIDE else b"{}")
    return _class(RESOURCE)()


def _parsed(name: str, raw: bytes) -> Any:
    """
    A message, parsed; what is no text in it is taken out where it does not parse with that.

    Raises:
        BodyNotDecodable: It is no such message.
    """
    from google.protobuf import json_format

    def parse(text: str) -> Any:
        return json_format.Parse(text, _json_class(name)(), ignore_unknown_fields=True)

    try:
        return parse(raw.decode(errors="replace"))
    except (ValueError, RecursionError, json_format.ParseError):
        pass
    try:
        return parse(_SURROGATES.sub("\ufffd", json.dumps(loads(raw), ensure_ascii=False)))
    except (ValueError, RecursionError, json_format.ParseError) as error:
        deep = isinstance(error, TooDeep | RecursionError)
        raise BodyNotDecodable("nested too deep" if deep else _first(error)) from error


def _first(error: Exception) -> str:
    """The beginning of what a parser says, without lines."""
    return " ".join(str(error).split())[:200]


# ----------------------------------------------------------------------------- protobuf


def _messages(data: bytes, number: int) -> Iterator[bytes]:
    """The messages that stand in a field of a message."""
    try:
        for each, value in wire.fields(data):
            if each == number and isinstance(value, bytes):
                yield value
    except BodyNotDecodable as error:
        raise BodyNotDecodable(f"{_NO_EXPORT}protobuf: {error.detail}{_WANTED}") from error


def _message(name: str, raw: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return _class(name).FromString(raw)
    except DecodeError as error:
        raise BodyNotDecodable(f"{_NO_EXPORT}protobuf: {_first(error)}") from error


def _json_class(name: str) -> Any:
    """The message as the library has it."""
    from opentelemetry.proto.logs.v1 import logs_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2

    return logs_pb2.LogRecord if name == RECORD else resource_pb2.Resource


@cache
def _class(name: str) -> Any:
    """
    A message with bytes wherever the protocol says text.

    They are the same on the wire, but a text that is not UTF-8, which collectors do send, would make
    the parser refuse the whole record.
    """
    from importlib import import_module

    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    pool = descriptor_pool.DescriptorPool()
    for each in _FILES:
        file = descriptor_pb2.FileDescriptorProto()
        import_module(f"opentelemetry.proto.{each}_pb2").DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            for part in message.field:
                if part.type == field.TYPE_STRING:
                    part.type = field.TYPE_BYTES
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
