"""An export of OpenTelemetry's logs is read alike however it is parsed."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from service.ingest.bodies import otlp
from service.ingest.records import Limits, Record

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
