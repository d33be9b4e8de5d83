"""The same log lines as each receiver takes them: the path, the headers and the body of a request."""

import base64
import gzip
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cramjam
import msgpack  # type: ignore[import-untyped]
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

AT_NS: Final = 1_791_195_302_114_000_000
"""What carriers say of the time; a line that has its own is not asked."""

Headers = dict[str, str]
_JSON: Final = {"content-type": "application/json"}
_ANY: Final = {"content-type": "application/octet-stream"}


@dataclass(frozen=True)
class Carrier:
    """A receiver's path and headers, and how lines (without newline) become a body for it."""

    path: str
    headers: Headers
    body: Callable[[Sequence[bytes]], bytes]


def _lines(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _array(lines: Sequence[bytes]) -> bytes:
    return b"[%b]" % b",".join(lines)


def _texts(lines: Sequence[bytes]) -> list[str]:
    return [line.decode() for line in lines]


def _loki(lines: Sequence[bytes]) -> bytes:
    values = [[str(AT_NS + number), text] for number, text in enumerate(_texts(lines))]
    return json.dumps({"streams": [{"stream": {"a": "b"}, "values": values}]}).encode()


def field(number: int, inner: bytes | int) -> bytes:
    """A field of a protobuf message: a text, or a number."""
    if isinstance(inner, int):
        return bytes([number << 3]) + _varint(inner)
    return bytes([number << 3 | 2]) + _varint(len(inner)) + inner


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def loki_push(lines: Sequence[bytes]) -> bytes:
    """A PushRequest before compression."""
    stamp = field(1, AT_NS // 10**9) + field(2, AT_NS % 10**9)
    entries = b"".join(field(2, field(1, stamp) + field(2, line)) for line in lines)
    return field(1, field(1, b'{a="b"}') + entries)


def _loki_packed(lines: Sequence[bytes]) -> bytes:
    return bytes(cramjam.snappy.compress_raw(loki_push(lines)))


def export(lines: Sequence[bytes]) -> dict[str, Any]:
    """An export of OpenTelemetry's logs."""
    records = [{"timeUnixNano": str(AT_NS), "body": {"stringValue": t}} for t in _texts(lines)]
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}


def _otlp(lines: Sequence[bytes]) -> bytes:
    return json.dumps(export(lines)).encode()


def _otlp_packed(lines: Sequence[bytes]) -> bytes:
    return bytes(ParseDict(export(lines), ExportLogsServiceRequest()).SerializeToString())


def _bulk(lines: Sequence[bytes]) -> bytes:
    return b"".join(b'{"index":{"_index":"mcp"}}\n%b\n' % line for line in lines)


def _splunk(lines: Sequence[bytes]) -> bytes:
    return b"".join(json.dumps({"time": AT_NS / 1e9, "event": t}).encode() for t in _texts(lines))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _firehose(lines: Sequence[bytes]) -> bytes:
    records = [{"data": _base64(line + b"\n")} for line in lines]
    return json.dumps({"requestId": "r", "timestamp": AT_NS // 10**6, "records": records}).encode()


def _cloudwatch(lines: Sequence[bytes]) -> bytes:
    events = [{"timestamp": AT_NS // 10**6, "message": text} for text in _texts(lines)]
    message = {"messageType": "DATA_MESSAGE", "logGroup": "mcp", "logEvents": events}
    record = {"data": _base64(gzip.compress(json.dumps(message).encode()))}
    return json.dumps({"requestId": "r", "records": [record]}).encode()


def _pubsub(lines: Sequence[bytes]) -> bytes:
    return json.dumps({"message": {"data": _base64(_lines(lines))}}).encode()


def _logplex(lines: Sequence[bytes]) -> bytes:
    said = [b"<40>1 2026-10-05T10:15:02.114Z host app web.1 - " + line + b"\n" for line in lines]
    return b"".join(b"%d %b" % (len(each), each) for each in said)


def _journal(lines: Sequence[bytes]) -> bytes:
    entry = b"__REALTIME_TIMESTAMP=%d\nMESSAGE\n%b%b\n\n"
    return b"".join(entry % (AT_NS // 1_000, struct.pack("<Q", len(line)), line) for line in lines)


def _packed(lines: Sequence[bytes]) -> bytes:
    return bytes(msgpack.packb([json.loads(line) for line in lines]))


def _forward(lines: Sequence[bytes]) -> bytes:
    time = msgpack.ExtType(0, struct.pack(">II", AT_NS // 10**9, AT_NS % 10**9))
    return bytes(msgpack.packb(["mcp", [[time, json.loads(line)] for line in lines]]))


def _form(lines: Sequence[bytes]) -> bytes:
    head = b'--b\r\ncontent-disposition: form-data; name="f"\r\n\r\n'
    return head + _lines(lines) + b"\r\n--b--\r\n"


CARRIERS: Final = {
    "lines": Carrier("/ingest", _ANY, _lines),
    "array": Carrier("/ingest", _JSON, _array),
    "msgpack": Carrier("/ingest", _ANY, _packed),
    "forward": Carrier("/ingest", _ANY, _forward),
    "form": Carrier("/ingest", {"content-type": "multipart/form-data; boundary=b"}, _form),
    "loki": Carrier("/loki/api/v1/push", _JSON, _loki),
    "loki packed": Carrier(
        "/loki/api/v1/push", {"content-type": "application/x-protobuf"}, _loki_packed
    ),
    "otlp": Carrier("/v1/logs", _JSON, _otlp),
    "otlp packed": Carrier("/v1/logs", {"content-type": "application/x-protobuf"}, _otlp_packed),
    "bulk": Carrier("/_bulk", {"content-type": "application/x-ndjson"}, _bulk),
    "splunk": Carrier("/services/collector", _JSON, _splunk),
    "splunk raw": Carrier("/services/collector/raw", _ANY, _lines),
    "firehose": Carrier("/firehose", _JSON, _firehose),
    "cloudwatch": Carrier("/firehose", _JSON, _cloudwatch),
    "pubsub": Carrier("/pubsub", _JSON, _pubsub),
    "logplex": Carrier("/logplex", {"content-type": "application/logplex-1"}, _logplex),
    "journal": Carrier("/upload", {"content-type": "application/vnd.fdo.journal"}, _journal),
    "axiom": Carrier("/v1/datasets/mcp/ingest", _JSON, _array),
}
