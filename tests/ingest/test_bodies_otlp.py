"""An export of OpenTelemetry's logs is read alike however it is parsed."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from service.events import Event
from service.ingest.bodies import otlp
from service.ingest.records import Limits, Line, Record
from tests.ingest.support import CALL_NS, TIME, Outcome, recogniser

LIMITS = Limits(8 << 20, 1 << 20)
JSON, PROTOBUF = "application/json", "application/x-protobuf"

RECORDS: list[dict[str, Any]] = [
    {"body": {"stringValue": '{"msg":"a"}'}, "timeUnixNano": "1791195302114000000"},
    {"body": {"kvlistValue": {"values": [{"key": "msg", "value": {"stringValue": "é"}}]}}},
    {"body": {"stringValue": "b"}, "attributes": [{"key": "n", "value": {"intValue": "7"}}]},
    {"eventName": "c", "observedTimeUnixNano": "1791195302114000000"},
    {},
]
RESOURCES: list[dict[str, Any]] = [
    {
        "resource": {"attributes": [{"key": "host.name", "value": {"stringValue": host}}]},
        "scopeLogs": [{"scope": {"name": "x"}, "logRecords": RECORDS[n:]}, {"logRecords": []}, {}],
    }
    for n, host in enumerate(["a", "b"])
]
EXPORT = {"resourceLogs": [*RESOURCES, {}, {"scopeLogs": None}]}


def read(body: bytes, kind: str) -> list[bytes | Record]:
    return list(otlp.reader(kind, None)(body, LIMITS).records)


@pytest.mark.parametrize(
    "more",
    [
        {"later": [0] * 400_000},
        {"resource_logs": []},
        {
            "resourceLogs": [
                *RESOURCES,
                {},
                {"scopeLogs": None},
                {"scopeLogs": [{"logRecords": []}]},
            ]
        },
    ],
    ids=["many values", "both names", "empty parts"],
)
def test_the_records_are_the_same_in_one_piece_and_one_by_one(more: dict[str, Any]) -> None:
    """As JSON that is small and right, as JSON of which each record is parsed alone, and as protobuf."""
    whole = read(json.dumps(EXPORT).encode(), JSON)

    assert len(whole) == 2 * len(RECORDS) - 1
    assert read(json.dumps({**EXPORT, **more}).encode(), JSON) == whole
    packed = ParseDict(EXPORT, ExportLogsServiceRequest()).SerializeToString()
    assert read(packed, PROTOBUF) == whole


def test_a_record_may_be_wrong_among_very_many_values() -> None:
    """It alone is no line."""
    wrong = {"scopeLogs": [{"logRecords": [{"flags": -1}]}]}
    export = {"later": [0] * 400_000, "resourceLogs": [*RESOURCES, wrong]}
    whole = read(json.dumps(EXPORT).encode(), JSON)
    *found, last = read(json.dumps(export).encode(), JSON)

    assert found == whole
    assert not isinstance(last, bytes)
    assert last.origin.wrappers == ("otlp",)


# ----------------------------------------------------------------------------- a line, or a message

READER = recogniser()
PAIRS = 'level=WARN msg="Retired tool called" tool=t'
OBJECT = '{"msg":"Retired tool called","tool":"t"}'
LINES = {
    "JSON": OBJECT,
    "pairs": PAIRS,
    "Python's logging": "2026-10-05 10:15:02,114 - maps - WARNING - Retired tool called tool=t",
    "an access log": '203.0.113.7 - - [05/Oct/2026:10:15:02 +0000] "POST / HTTP/1.1" 200 2 '
    'mcp_method="tools/call" mcp_name="t"',
    "CRI around JSON": f"2026-10-05T10:15:02.114000000Z stderr F {OBJECT}",
    "syslog around pairs": f"<14>1 {TIME} host app 7 - - {PAIRS}",
}
FOUND: dict[str, dict[str, Any]] = {
    "none": {},
    "filelog": {"log.file.name": "mcp.log", "log.file.path": "/var/log/mcp.log"},
    "containers": {"log.iostream": "stderr", "logtag": "F", "time": TIME},
}
SAID: dict[str, dict[str, Any]] = {
    "a tool": {"tool": "another", "log.file.name": "mcp.log"},
    "the conventions": {"gen_ai.tool.name": "t", "mcp.client.name": "zed"},
    "a map": {"data": {"client": "zed"}},
    "the place in the code": {"code.function.name": "ask", "code.line.number": 7},
}


def any_value(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs_of(value)}}
    return {"intValue" if isinstance(value, int) else "stringValue": value}


def pairs_of(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def sent_and_filed(body: str, attributes: dict[str, Any]) -> tuple[Outcome | None, ...]:
    """What a record is over /v1/logs, and as a line of a file."""
    record = {
        "timeUnixNano": str(CALL_NS),
        "body": any_value(body),
        "attributes": pairs_of(attributes),
    }
    export = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).encode()
    (sent,) = read(export, JSON)
    assert isinstance(sent, Line)
    return READER.read(sent), READER.line(export)


@pytest.mark.parametrize("attributes", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("body", LINES.values(), ids=LINES)
def test_a_line_is_read_whatever_says_where_it_was_found(
    body: str, attributes: dict[str, Any]
) -> None:
    """Shippers add the file's name, or what they parsed out of the line; a file says the same as an export."""
    sent, filed = sent_and_filed(body, attributes)

    assert isinstance(sent, Event)
    assert (sent, sent.tool) == (filed, "t")
    assert sent == sent_and_filed(body, {})[0]


@pytest.mark.parametrize(
    ("body", "attributes"),
    [
        (LINES["pairs"], {"level": "WARN", "msg": "Retired tool called", "tool": "t"}),
        (LINES["syslog around pairs"], {"appname": "app", "priority": 14, "message": PAIRS}),
        (LINES["an access log"], {"remote_addr": "203.0.113.7", "mcp_name": "t", "status": "200"}),
    ],
)
def test_what_was_parsed_out_of_a_line_leaves_it_one(body: str, attributes: dict[str, Any]) -> None:
    """Collectors parse into attributes and keep the body as it was."""
    sent, filed = sent_and_filed(body, attributes)

    assert isinstance(sent, Event)
    assert sent == filed == sent_and_filed(body, {})[0]


@pytest.mark.parametrize("attributes", SAID.values(), ids=SAID)
@pytest.mark.parametrize("body", [body for name, body in LINES.items() if name != "JSON"])
def test_a_message_with_fields_beside_it_is_no_line(body: str, attributes: dict[str, Any]) -> None:
    """Whoever logs fields writes a message, and a user's words in it must not become fields."""
    sent, filed = sent_and_filed(body, attributes)

    assert not isinstance(sent, Event)
    assert sent == filed
