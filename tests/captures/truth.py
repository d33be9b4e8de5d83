"""
Which calls a recorded request holds, read without the product: a short look at each format.

A call is a record whose message is "Retired tool called", told by (time in ms, tool, client). Equal calls
of one request are calls of their own; of several requests the one with most of them counts.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import cramjam
import msgpack  # type: ignore[import-untyped]
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from tests.captures.runs import Request

PHRASE = "Retired tool called"
TIMES = ("time", "timestamp", "@timestamp", "dt", "_time")

Call = tuple[int, str, str]


def expected(requests: Iterable[Request]) -> Counter[Call]:
    """What must be stored of these requests, in whatever order and however often they come."""
    most: Counter[Call] = Counter()
    for request in requests:
        most |= Counter(calls(request))
    return most


def calls(request: Request) -> Iterator[Call]:
    """The calls of one request."""
    kind = request.headers.get("content-type", "")
    body = request.plain
    if request.target.endswith("/v1/logs"):
        if "json" in kind:
            export = json.loads(body)
        else:
            export = MessageToDict(ExportLogsServiceRequest.FromString(body))
        yield from _of_otlp(export)
    elif "/loki/" in request.target and "protobuf" in kind:
        yield from _of_push(bytes(cramjam.snappy.decompress_raw(body)))
    elif "/loki/" in request.target:
        for stream in json.loads(body)["streams"]:
            for time, line, *_ in stream["values"]:
                yield from _within(line, time)
    elif "msgpack" in kind:
        yield from _within(msgpack.unpackb(body), None)
    else:
        yield from of_text(body.decode())


def of_text(text: str) -> Iterator[Call]:
    """The calls of lines, arrays, or JSON values one after the other, whatever stands between them."""
    decoder = json.JSONDecoder()
    at = 0
    while found := re.compile(r"[\[{]").search(text, at):
        try:
            value, at = decoder.raw_decode(text, found.start())
        except ValueError:
            at = found.end()
        else:
            yield from _within(value, None)


def _within(value: Any, time: Any) -> Iterator[Call]:
    """The calls inside of a value; *time* is that of the innermost carrier that knows it."""
    if isinstance(value, str) and value.startswith("{"):
        yield from _within(json.loads(value), time)
    elif isinstance(value, list):
        for each in value:
            yield from _within(each, time)
    elif isinstance(value, dict):
        time = next((value[name] for name in TIMES if name in value), time)
        if PHRASE in (value.get("msg"), value.get("message"), value.get("event")):
            fields = _with_tool(value)
            yield milliseconds(time), fields["tool"], fields["client"]
            return
        for each in value.values():
            yield from _within(each, time)


def _with_tool(value: dict[str, Any]) -> dict[str, Any]:
    """The object that names tool and client."""
    if "tool" in value and "client" in value:
        return value
    inner = [each for each in value.values() if isinstance(each, dict)]
    return next((found for each in inner if (found := _with_tool(each))), {})


def _of_otlp(export: dict[str, Any]) -> Iterator[Call]:
    for resource in export["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            for record in scope["logRecords"]:
                time = int(record["timeUnixNano"])
                said = {each["key"]: _plain(each["value"]) for each in record.get("attributes", [])}
                body = _plain(record["body"])
                is_line = isinstance(body, str) and body.startswith("{")
                yield from _within(body if is_line else {**said, "msg": body}, time)


def _plain(value: dict[str, Any]) -> Any:
    """An AnyValue in JSON as what it stands for."""
    [(kind, inner)] = value.items()
    if kind == "kvlistValue":
        return {each["key"]: _plain(each["value"]) for each in inner["values"]}
    if kind == "arrayValue":
        return [_plain(each) for each in inner.get("values", [])]
    return inner


def _of_push(data: bytes) -> Iterator[Call]:
    """A Loki PushRequest: streams (1) of labels and entries (2) of a Timestamp (1) and a line (2)."""
    for _, stream in _fields(data):
        for number, entry in _fields(stream):
            if number == 2:
                parts = dict(_fields(entry))
                stamp = dict(_fields(parts[1]))
                yield from _within(parts[2].decode(), stamp[1] * 10**9 + stamp.get(2, 0))


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: numbers and bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while at < len(data):
        tag = varint()
        value: Any = varint()
        if tag & 7 == 2:
            value, at = data[at : at + value], at + value
        yield tag >> 3, value


def milliseconds(time: Any) -> int:
    """An ISO time or an epoch of whatever unit, in ms."""
    try:
        number = float(time)
    except ValueError:
        parsed = datetime.fromisoformat(time)
        return round((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1e3)
    if isinstance(time, int) or str(time).isdigit():
        whole = int(time)
        while whole >= 10**14:
            whole //= 1_000
        return whole * 1_000 if whole < 10**11 else whole
    return round(number * 1e3)
