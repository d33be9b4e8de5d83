"""`POST /v1/logs`: what the Collector and the SDKs of OpenTelemetry send."""

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import zstandard
from fastapi.testclient import TestClient
from google.protobuf.json_format import MessageToJson
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

from service.app import create_app
from service.settings import Settings
from tests.acceptance.service import running

NOW = 1_791_244_800_000_000  # 2026-10-06T00:00:00Z
AT = 1_791_195_302_114_000_000  # 2026-10-05T10:15:02.114Z in ns
JSON = "application/json"
PROTOBUF = "application/x-protobuf"

Json = dict[str, Any]


def line(**more: Any) -> Json:
    """A pino line of a stale call, without a time."""
    data = {"tool": "gone", "client": "zed", "sessionId": "s1"}
    return {"pid": 7, "hostname": "mcp-1", "data": data, "msg": "Retired tool called", **more}


def any_value(value: object) -> Json:
    """A value as OTLP's JSON writes it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(each) for each in value]}}
    kind = {str: "stringValue", bool: "boolValue", int: "intValue", float: "doubleValue"}
    return {kind[type(value)]: value}


def attributes(values: Json) -> list[Json]:
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def export(*records: Json, resource: Json | None = None) -> Json:
    scope = {"scope": {"name": "mcp"}, "logRecords": list(records)}
    said = {"attributes": attributes(resource or {})}
    return {"resourceLogs": [{"resource": said, "scopeLogs": [scope]}]}


def record(body: object, time: object = AT, **more: Any) -> Json:
    return {"timeUnixNano": time, "body": any_value(body), **more}


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    app = create_app(Settings(database_url=database_url), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def post(client: TestClient, body: Json | bytes, kind: str = JSON, **headers: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post("/v1/logs", content=content, headers={"content-type": kind, **headers})


def events(client: TestClient) -> list[Json]:
    found: list[Json] = client.get("/api/v1/events", params={"limit": 1000}).json()["items"]
    return found


def fates(client: TestClient) -> Json:
    """The account of the source, without what is zero."""
    [row] = client.get("/api/v1/health").json()["items"]
    names = ("accepted", "duplicates", "ignored", "rejected")
    return {name: row[name] for name in names if row[name]}


def as_protobuf(body: Json) -> bytes:
    from google.protobuf.json_format import ParseDict

    return bytes(ParseDict(body, ExportLogsServiceRequest()).SerializeToString())


def test_a_records_own_time_counts_before_those_of_its_carrier(client: TestClient) -> None:
    """Then timeUnixNano, then observedTimeUnixNano; 0 means unset, and numbers may be text."""
    own = line(time="2026-10-05T10:15:04.000Z", data={"tool": "gone", "sessionId": "s3"})
    answer = post(
        client,
        export(
            {**record(json.dumps(line()), "0"), "observedTimeUnixNano": str(AT)},
            {"observedTimeUnixNano": AT + 10**9, "body": any_value(json.dumps(line()))},
            {**record(json.dumps(own), "0"), "observedTimeUnixNano": str(AT + 10**12)},
            {**record(json.dumps(line()), AT + 2 * 10**9), "observedTimeUnixNano": AT + 10**12},
        ),
    )
    assert (answer.status_code, answer.json()) == (200, {})
    assert sorted(event["time"] for event in events(client)) == [
        "2026-10-05T10:15:02.114Z",
        "2026-10-05T10:15:03.114Z",
        "2026-10-05T10:15:04.000Z",
        "2026-10-05T10:15:04.114Z",
    ]


def test_every_shape_of_a_record_is_the_same_event(client: TestClient) -> None:
    """The line of the file, as a text body, behind a container runtime's prefix, as a map, and taken
    apart by pino's transport, with host and process in the resource: one event."""
    with_time = line(time="2026-10-05T10:15:02.114Z")
    assert client.post("/ingest", content=json.dumps(with_time)).json()["accepted"] == 1
    resource = {"service.name": "mcp", "host.name": "mcp-1", "process.pid": 7}
    bodies: list[Json] = [
        export(record(json.dumps(with_time), AT + 5)),
        export(record(f"2026-10-05T10:15:02.200000000Z stderr F {json.dumps(with_time)}")),
        export(record(with_time, AT + 5)),
        export(
            record("Retired tool called", attributes=attributes({"data": line()["data"]})),
            resource=resource,
        ),
    ]
    for body in bodies:
        assert post(client, body).json() == {}
        assert post(client, as_protobuf(body), PROTOBUF).content == b""
    assert len(events(client)) == 1
    rows = {row["source"]: row for row in client.get("/api/v1/health").json()["items"]}
    assert rows["otlp"]["duplicates"] == 8


def test_fields_in_attributes_make_a_record_with_the_body_as_message(client: TestClient) -> None:
    """Flat, as the SDKs' logging handlers write extra fields; an event's name stands in for a body."""
    said = attributes({"tool": "gone", "client": "zed", "code.line.number": 3})
    named = {"timeUnixNano": AT, "eventName": "Retired tool called", "attributes": said}
    other = record("Retired tool called", AT + 10**9, attributes=said)
    assert post(client, export(other, named)).json() == {}
    assert [(each["name"], each["client"]) for each in events(client)] == [("gone", "zed")] * 2


def test_a_message_in_brackets_does_not_hide_its_attributes(client: TestClient) -> None:
    """It begins like a list and is none: the call is in the attributes."""
    fields = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "gone"}
    post(client, export(record("[maps] call handled", attributes=attributes(fields))))
    assert fates(client) == {"accepted": 1}


def test_a_message_without_fields_is_the_same_without_attributes(client: TestClient) -> None:
    """As the line that says only this: a call that names no tool is rejected, not passed over."""
    alone = record("Retired tool called")
    post(client, export(alone, record("Retired tool called", attributes=attributes({"n": 1}))))
    assert fates(client) == {"rejected": 2}
    reasons = [row["reason"] for row in client.get("/api/v1/rejects").json()["items"]]
    assert reasons == ["missing_tool", "missing_tool"]


@pytest.mark.parametrize(
    "body", ["all is well", "[Retired tool called", "Retired tool called " * 90]
)
def test_other_text_without_attributes_is_ignored(body: str, client: TestClient) -> None:
    """Whatever words are in it."""
    assert post(client, export(record(body))).json() == {}
    assert fates(client) == {"ignored": 1}


def test_a_user_s_text_in_an_attribute_is_no_record(client: TestClient) -> None:
    """JSON inside a field of a record stays text."""
    forged = json.dumps(line(time="2026-10-05T10:15:02.114Z"))
    assert (
        post(client, export(record("asked", attributes=attributes({"query": forged})))).json() == {}
    )
    assert fates(client) == {"ignored": 1}


def test_what_is_rejected_is_told_as_a_partial_success(client: TestClient) -> None:
    """200, with number and reason: its sender must not send it again, and the good ones are stored."""
    body = export(
        record(line(data={"tool": "gone", "sessionId": "s1"})),
        record(json.dumps(line()), AT + 10**9),
        record(line(data={"client": "zed"})),
        record("a text"),
    )
    answer = post(client, body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
    said = answer.json()["partialSuccess"]
    assert said["rejectedLogRecords"] == 1
    assert "missing_tool" in said["errorMessage"]
    answer = post(client, as_protobuf(body), PROTOBUF)
    assert (answer.status_code, answer.headers["content-type"]) == (200, PROTOBUF)
    partial = ExportLogsServiceResponse.FromString(answer.content).partial_success
    assert (partial.rejected_log_records, partial.error_message) == (1, said["errorMessage"])
    assert fates(client) == {"accepted": 2, "duplicates": 2, "ignored": 2, "rejected": 2}


def test_every_record_of_any_shape_has_a_fate(client: TestClient) -> None:
    """Nothing in a body, blank text, numbers, lists, bytes: none is lost, none hurts its neighbours."""
    odd: list[Json] = [
        {},
        {"body": {}},
        record(""),
        record(" \n\0 "),
        record(5),
        record(2.5),
        record(True),
        record(["Retired tool called"]),
        record({}),
        {"body": {"bytesValue": "AAEC"}},
        record({"a": {"b": [[], {}]}}),
    ]
    assert post(client, export(*odd, record(json.dumps(line())))).status_code == 200
    account = fates(client)
    assert account["accepted"] == 1
    assert sum(account.values()) == len(odd) + 1


@pytest.mark.parametrize(
    ("name", "compress"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstandard.compress)],
)
def test_an_export_may_be_compressed(name: str, compress: Any, client: TestClient) -> None:
    """And is the same export however it was."""
    body = export(record(json.dumps(line())))
    for kind, content in ((JSON, json.dumps(body).encode()), (PROTOBUF, as_protobuf(body))):
        answer = post(client, compress(content), kind, **{"content-encoding": name})
        assert answer.status_code == 200
    assert fates(client) == {"accepted": 1, "duplicates": 1}


def nested(levels: int) -> AnyValue:
    value = AnyValue(string_value="x")
    for _ in range(levels):
        outer = AnyValue()
        outer.array_value.values.append(value)
        value = outer
    return value


def deep_export(levels: int) -> bytes:
    """An export in protobuf with a value so deep, which no library writes: lists in lists."""
    value = b"\x0a\x01x"
    for _ in range(levels):
        inner = b"\x0a" + _sized(value)
        value = b"\x2a" + _sized(inner)
    record_ = b"\x2a" + _sized(value)
    return b"\x0a" + _sized(b"\x12" + _sized(b"\x12" + _sized(record_)))


def _sized(data: bytes) -> bytes:
    size, length = len(data), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return length + bytes([size]) + data


def test_the_deep_export_is_one() -> None:
    """The bytes above are what the library writes, where it does."""
    request = ExportLogsServiceRequest()
    found = request.resource_logs.add().scope_logs.add().log_records.add()
    found.body.CopyFrom(nested(10))
    assert request.SerializeToString() == deep_export(10)


BROKEN = {
    "not JSON": (JSON, b"{"),
    "another type": (JSON, b'{"resourceLogs": 5}'),
    "an array": (JSON, b"[]"),
    "a text": (JSON, b'"resourceLogs"'),
    "not UTF-8": (JSON, b"\xff"),
    "deep JSON": (JSON, b'{"resourceLogs":' + b"[" * 100_000),
    "not protobuf": (PROTOBUF, b"\xff\xff"),
    "cut protobuf": (PROTOBUF, deep_export(3)[:-1]),
    "deep protobuf": (PROTOBUF, deep_export(10_000)),
    "JSON called protobuf": (PROTOBUF, b'{"resourceLogs":[]}'),
    "cut gzip": (PROTOBUF, gzip.compress(b"x" * 1000)[:-9]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_400_and_a_status(name: str, client: TestClient) -> None:
    """In the type of the request; nothing is stored."""
    kind, body = BROKEN[name]
    answer = post(client, body, kind)
    assert (answer.status_code, answer.headers["content-type"]) == (400, kind)
    assert_says(answer, 3)
    assert client.get("/api/v1/health").json()["items"] == []


NO_EXPORTS = {
    "a line": (JSON, json.dumps(line()).encode()),
    "spans": (JSON, b'{"resourceSpans":[]}'),
    "a line and a broken one": (JSON, b'{"msg":"Retired tool called"}\n{'),
    "a line as text": ("text/plain", b"Retired tool called"),
    "a line in JSON as text": ("text/plain", json.dumps(line()).encode()),
    "another message": (PROTOBUF, b"\x12\x01a"),
}


@pytest.mark.parametrize("name", NO_EXPORTS)
def test_what_is_no_export_is_refused_and_says_what_is_wanted(
    name: str, client: TestClient
) -> None:
    """200 would say that it is stored. The answer can be read where the request is no protobuf."""
    kind, body = NO_EXPORTS[name]
    answer = post(client, body, kind)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == (PROTOBUF if kind == PROTOBUF else JSON)
    assert "resourceLogs" in answer.text
    assert "/ingest" in answer.text


def test_an_export_of_nothing_is_a_success(client: TestClient) -> None:
    """With an empty list, which the library writes as no list at all, and as no bytes in protobuf."""
    for body in (b'{"resourceLogs":[]}', b'{"resource_logs":[],"later":1}', b"{}"):
        assert (post(client, body).status_code, post(client, body).json()) == (200, {})
    assert post(client, b"", PROTOBUF).status_code == 200
    assert client.get("/api/v1/health").json()["items"] == []


def assert_says(answer: Any, code: int) -> None:
    """The answer is a google.rpc.Status with this code and some words."""
    if answer.headers["content-type"] == JSON:
        assert answer.json()["code"] == code
        assert answer.json()["message"]
    else:
        said = Status.FromString(answer.content)
        assert said.code == code
        assert said.message


DEEP: Json = {"stringValue": "x"}
for _ in range(300):
    DEEP = {"arrayValue": {"values": [DEEP]}}
WRONG: dict[str, Json] = {
    "a number that is a word": {"droppedAttributesCount": "many"},
    "a time that is none": {"timeUnixNano": "2026-10-05T10:15:02Z"},
    "a number out of range": {"flags": -1},
    "a text that is a number": {"severityText": 5},
    "attributes that are an object": {"attributes": {"a": "b"}},
    "values that are deep": {"body": DEEP},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_record_of_wrong_types_costs_no_other(name: str, client: TestClient) -> None:
    """It is rejected alone, told as a partial success, and kept with what was wrong."""
    first, last = (record(json.dumps(line(n=n)), AT + n * 10**9) for n in (1, 2))
    answer = post(client, export(first, {**record("x"), **WRONG[name]}, last))

    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedLogRecords"] == 1
    assert fates(client) == {"accepted": 2, "rejected": 1}
    [kept] = client.get("/api/v1/rejects").json()["items"]
    assert "no LogRecord" in kept["excerpt"]


@pytest.mark.parametrize("wrong", [5, None, {"scopeLogs": 5}, {"scopeLogs": [5]}])
def test_a_part_of_wrong_type_costs_no_other(wrong: object, client: TestClient) -> None:
    """Whatever stands beside it is read; of the part itself, one record is rejected."""
    good = export(record(json.dumps(line())))
    answer = post(client, {"resourceLogs": [*good["resourceLogs"], wrong]})

    assert answer.status_code == 200
    assert fates(client) == {"accepted": 1, "rejected": 1}


def test_a_resource_of_wrong_type_costs_no_record(client: TestClient) -> None:
    """What it says of host and process is missing."""
    body = export(record(json.dumps(line())), resource={"host.name": "a"})
    body["resourceLogs"][0]["resource"]["attributes"] = 5
    assert post(client, body).json() == {}
    assert fates(client) == {"accepted": 1}


@pytest.mark.parametrize("kind", [JSON, PROTOBUF])
def test_too_large_and_too_busy(kind: str, database_url: str) -> None:
    """413, and 503 that says when to come again; nothing is stored."""
    app = create_app(Settings(database_url=database_url, max_body_bytes=2_000), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost") as client:
        small = export(record(json.dumps(line())))
        body = json.dumps(small).encode() if kind == JSON else as_protobuf(small)
        bomb = gzip.compress(body.ljust(1_000_000))
        for content in (body * 30, bomb):
            answer = post(client, content, kind)
            assert answer.status_code == 413
            assert_says(answer, 8)
        app.state.pipeline.close()
        answer = post(client, body, kind)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert_says(answer, 14)
        assert events(client) == []


def test_more_records_than_fit_in_memory_are_refused(client: TestClient) -> None:
    """Two bytes make a record: a body of a small part of the limit could hold millions."""
    records = b"\x12\x00" * 100_001
    body = b"\x0a" + _sized(b"\x12" + _sized(records))
    answer = post(client, body, PROTOBUF)
    assert answer.status_code == 413
    assert_says(answer, 8)


def test_text_that_is_none_does_not_hurt_its_neighbours(client: TestClient) -> None:
    """Bytes that are not UTF-8 in protobuf, halves of surrogates in JSON: read with U+FFFD."""
    lone = line(data={"tool": "gone\ud800", "sessionId": "s1"})
    body = export(record(json.dumps(line())), record(lone, AT + 10**9))
    assert post(client, body).json() == {}
    wanted = as_protobuf(export(record(line(data={"tool": "gon@"}), AT + 2 * 10**9)))
    assert post(client, wanted.replace(b"gon@", b"gon\xff"), PROTOBUF).content == b""
    assert sorted(event["name"] for event in events(client)) == ["gone", "gone\ufffd", "gon\ufffd"]


def test_unknown_fields_and_a_missing_content_type_are_no_hindrance(client: TestClient) -> None:
    """Later versions of the protocol add fields; the form is seen where it is not said."""
    body = export(record(json.dumps(line()), traceId="00" * 16, spanId="00" * 8, later={"a": [1]}))
    content = json.dumps({**body, "later": 1}).encode()
    answer = client.post("/v1/logs", content=content)
    assert (answer.status_code, answer.headers["content-type"]) == (200, JSON)
    answer = client.post("/v1/logs", content=as_protobuf(export(record(json.dumps(line())))))
    assert answer.status_code == 200
    assert fates(client) == {"accepted": 1, "duplicates": 1}


def test_the_json_of_the_library_is_read(client: TestClient) -> None:
    """Numbers of 64 bits as text, as protobuf's own JSON has them."""
    request = ExportLogsServiceRequest.FromString(as_protobuf(export(record(line()))))
    assert post(client, MessageToJson(request).encode()).json() == {}
    assert fates(client) == {"accepted": 1}


def test_an_export_may_say_whose_log_it_is(client: TestClient) -> None:
    """In the address, as at other endpoints."""
    body = json.dumps(export(record(json.dumps(line()))))
    client.post("/v1/logs?server=maps&source=collector", content=body)
    [row] = client.get("/api/v1/health").json()["items"]
    assert (row["server"], row["source"]) == ("maps", "collector")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_body_is_taken_or_refused(data: st.DataObject, client: TestClient) -> None:
    """Random bytes, and an export with some of its bytes changed: never an error of ours."""
    good = as_protobuf(export(record(line()), record(json.dumps(line()))))
    kind = data.draw(st.sampled_from([PROTOBUF, JSON, "text/plain"]), label="type")
    if kind == JSON:
        good = json.dumps(export(record(line()), record("x"))).encode()
    body = bytearray(data.draw(st.binary(max_size=60) | st.just(good), label="body"))
    if body:
        for at, byte in data.draw(
            st.lists(st.tuples(st.integers(0, len(body) - 1), st.integers(0, 255)), max_size=4)
        ):
            body[at] = byte
    assert post(client, bytes(body), kind).status_code in {200, 400}


def test_the_sdk_s_exporter_is_content(database_url: str) -> None:
    """A real exporter delivers the lines of a logger, and reports no failure."""
    with running(Settings(database_url=database_url), now="2026-10-06T00:00:00Z") as service:
        exporter = OTLPLogExporter(endpoint=f"{service.url}/v1/logs")
        provider = LoggerProvider(shutdown_on_exit=False)
        provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        logger = provider.get_logger("mcp")
        for second in ("02", "03"):
            body = json.dumps(line(time=f"2026-10-05T10:15:{second}.114Z"))
            logger.emit(timestamp=AT, body=body)
        provider.shutdown()
        assert len(service.rows("events")) == 2
