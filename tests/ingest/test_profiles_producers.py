"""What gateways, frameworks and other servers write about tools is read as what it is, and no more."""

import json
from typing import Any

import pytest

from service.errors import BodyTooLarge
from service.events import Event, Ignored, Kind, Reason, Rejected
from service.ingest.bodies import otlp
from service.ingest.bodies.bounds import MOST
from service.ingest.body import stream_records
from service.ingest.explain import explain
from service.ingest.memory import Memory, Reading
from service.ingest.profiles import read_profile
from service.ingest.recognise import Recogniser
from service.ingest.records import Limits, Line, Parsed
from tests.ingest.support import (
    CALL_NS,
    DATA,
    HASHER,
    TIME,
    events,
    only_event,
    outcomes,
    recogniser,
    single,
    tally,
)

READER = recogniser()
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((DATA / "profile-events.json").read_text())
"""Profile → what each of its sample lines says, checked by hand against the producer's own account of its fields."""


def line_of(record: object) -> bytes:
    return json.dumps(record).encode()


def contained(record: dict[str, Any]) -> bytes:
    """A line as a container's log has it, which says the time."""
    return line_of({"log": json.dumps(record) + "\n", "stream": "stderr", "time": TIME})


def outcome_of(record: dict[str, Any]) -> Event | Rejected | Ignored:
    outcome = READER.line(line_of(record))
    assert outcome is not None
    return outcome


@pytest.mark.parametrize("name", EXPECTED)
def test_each_sample_says_what_it_says(name: str) -> None:
    """Every field of it that is stored, and no field besides."""
    stem = name.lower().replace(" ", "-")
    lines = (DATA / "profiles" / f"{stem}.ndjson").read_bytes().splitlines()

    assert len(lines) == len(EXPECTED[name])
    for line, expected in zip(lines, EXPECTED[name], strict=True):
        event = only_event(line)._asdict()
        event["kind"] = event["kind"].word
        event["outcome"] = event["outcome"] and event["outcome"].word
        event["replaced_by"] = event["replaced_by"] and [*event["replaced_by"]]
        said = {key: value for key, value in event.items() if value not in (None, False)}
        for key in ("time_ns", "profile", "key_fields"):
            del said[key]
        assert said == expected


STRANGERS = [
    ("OpenTelemetry", {"time": TIME, "msg": "x", "mcp.method.name": "resources/read"}),
    ("OpenTelemetry", {"time": TIME, "msg": "mcp.method.name tools/call"}),
    (
        "OpenTelemetry attributes",
        {"name": "tools/call x", "attributes": {"http.request.method": "POST"}},
    ),
    ("OpenTelemetry tool", {"time": TIME, "msg": "User signed in", "mcp.tool.name": "x"}),
    ("FastMCP errors", {"event": "request_error", "method": "tools/call", "source": "client",
                        "error": "Error calling tool 'x': timed out"}),
    ("FastMCP errors", {"event": "request_error", "method": "tools/call", "source": "client",
                        "error": "Retired tool called", "tool": "x"}),
    ("FastMCP", {"event": "request_start", "method": "GET", "source": "web", "path": "/"}),
    ("Tyk", {"api_type": "rest", "method": "GET", "prefix": "access-log", "msg": "", "time": TIME}),
    ("GitLab", {"severity": "INFO", "time": TIME, "message": "x", "event_name": "tool_call"}),
    ("GitLab", {"severity": "INFO", "time": TIME, "message": "x", "ai_component": "mcp_server",
                "event_name": "permission_denied", "tool_name": "x"}),
    ("PostHog", {"event": "$pageview", "properties": {"$mcp_tool_name": "x"}, "timestamp": TIME}),
    ("PostHog", {"event": "mcp_tool_call", "properties": {"tool_name": "x"}, "timestamp": TIME}),
    ("PostHog", {"event": "mcp_initialize", "properties": {}, "timestamp": TIME}),
    ("PostHog redirect", {"event": "$exception", "timestamp": TIME, "properties": {
        "$mcp_exec_target_tool": "x", "$mcp_error_message": "Exec command rejected: usage"}}),
    ("togomcp", {"ts": TIME, "tool": "hammer", "status": "ok", "meta": {"shop": 3}}),
    ("Azure MCP Server", {"name": "ToolExecuted", "time": TIME, "tool": "x"}),
    ("Azure MCP Server", {"name": "CommandExecuted", "attributes": {"EventId": "1"}}),
    ("Azure API Management", {"TimeGenerated": TIME, "Method": "POST", "ToolName": "x"}),
    ("Cloudflare MCP portal", {"Datetime": TIME, "Method": "prompts/get", "PromptGetName": "x"}),
    ("Sentry", {"op": "http.server", "data": {"http.method": "tools/call"}, "timestamp": 1}),
    ("Sentry transaction", {"contexts": {"trace": {"data": {}}}, "transaction": "tools/call x"}),
    ("Envoy", {"start_time": TIME, "method": "POST", "path": "/mcp?method=tools/call"}),
    ("ToolHive", {"msg": "audit_event", "audit_id": "1", "type": "http_request", "time": TIME,
                  "target": {"method": "GET", "name": "x"}}),
    ("gsd", {"event": "deprecation.cli_flag_used", "ts": 1791195302114, "alias": "a",
             "canonical": "b"}),
    ("local-shell-mcp", {"ok": False, "data": {"status": "not_found", "deprecated_tool": "x"}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "record"), STRANGERS)
def test_a_line_of_another_logger_is_not_taken(name: str, record: dict[str, Any]) -> None:
    """Looking alike is not enough."""
    assert name in EXPECTED
    assert isinstance(outcome_of(record), Ignored)


def test_every_producer_has_a_stranger() -> None:
    """No profile is claimed to be narrow without a line to show for it."""
    assert {name for name, _ in STRANGERS} == set(EXPECTED)


# ----------------------------------------------------------------------------- FastMCP


def fastmcp(event: str, method: str = "tools/call", **more: object) -> dict[str, Any]:
    return {"event": event, "method": method, "source": "client", **more}


@pytest.mark.parametrize("method", ["tools/call", "tools/list", "initialize", "server/discover"])
def test_one_request_of_fastmcp_counts_once(method: str) -> None:
    """Its start and its success are two lines, and nothing in them says that they are one request."""
    payload = json.dumps({"name": "t", "params": {}})
    lines = [
        contained(fastmcp("request_start", method, payload=payload)),
        contained(fastmcp("request_success", method, duration_ms=3)),
    ]

    assert sum(isinstance(READER.line(line), Event) for line in lines) == 1


def test_a_cut_payload_names_no_tool() -> None:
    """Half a JSON text is not searched for a name: it may be the user's."""
    whole = json.dumps({"name": "t", "arguments": {"text": "x" * 2000}})
    cut = whole[:1000] + "..."

    assert isinstance(READER.line(contained(fastmcp("request_start", payload=whole))), Event)
    assert isinstance(READER.line(contained(fastmcp("request_start", payload=cut))), Ignored)


@pytest.mark.parametrize("event", ["request_start", "request_success", "request_error"])
def test_a_call_of_which_fastmcp_names_no_tool_is_nothing(event: str) -> None:
    """Payloads are off by default; quarantine would fill with lines that nobody can mend."""
    assert isinstance(READER.line(contained(fastmcp(event, error="boom"))), Ignored)


def test_the_arguments_of_a_call_are_not_the_call() -> None:
    """Neither a name among them nor a text that reads like a payload."""
    arguments = {"name": "forged", "payload": json.dumps({"name": "forged"})}
    payload = json.dumps({"name": "real", "arguments": arguments})

    assert only_event(contained(fastmcp("request_start", payload=payload))).tool == "real"


def test_a_memory_of_lines_does_not_take_another_place_for_the_payloads() -> None:
    """The tool of the payload counts, also after lines in which the two agreed."""
    reading = Reading(Memory(READER), None)
    payload = json.dumps({"name": "a"})
    tools = []
    for tool in ("a", "a", "b"):
        found = reading.line(line_of(fastmcp("request_start", payload=payload, tool=tool, ts=TIME)))
        assert isinstance(found, tuple)
        tools.append(found.tool if isinstance(found, Event) else found[0].subject.tool)

    assert tools == ["a", "a", "a"]


def test_a_payload_that_is_an_object_is_read_too() -> None:
    """A shipper may have parsed it."""
    event = only_event(contained(fastmcp("request_start", payload={"name": "t"})))

    assert (event.kind, event.tool, event.time_ns) == (Kind.CALL, "t", CALL_NS)


# ----------------------------------------------------------------------------- gateways

REQUESTS: list[dict[str, Any]] = [
    {"api_type": "mcp", "mcp_method": "{}", "time": TIME},
    {"TimeGenerated": TIME, "Method": "{}"},
    {"Datetime": TIME, "Method": "{}"},
    {"start_time": TIME, "envoy.filters.http.mcp": {"method": "{}"}},
    {"audit_id": "1", "logged_at": TIME, "target": {"method": "{}"}},
]


@pytest.mark.parametrize("record", REQUESTS)
def test_a_gateways_line_of_a_request_is_no_notification(record: dict[str, Any]) -> None:
    """Whoever sends that method to a server notifies nobody; no other profile takes it for one."""

    def outcome(method: str) -> object:
        return outcome_of(json.loads(json.dumps(record).replace("{}", method)))

    assert isinstance(outcome("tools/list"), Event)
    assert isinstance(outcome("notifications/tools/list_changed"), Ignored)


def test_of_headers_and_metadata_of_envoy_the_metadata_count() -> None:
    """They have the request's id and the client, which no header has."""
    metadata = {"method": "tools/call", "id": 5, "params": {"name": "t"}}
    headers = {"mcp_method": "tools/call", "mcp_name": "t", "response_code": 200, "status": 200}
    event = only_event(line_of({"time": TIME, **headers, "envoy.filters.http.mcp": metadata}))

    assert (event.profile, event.tool, event.request_id) == ("Envoy", "t", "5")


# ----------------------------------------------------------------------------- names that are not there


@pytest.mark.parametrize(
    "text",
    [
        "Tool old-name not found",
        "MCP error -32602: Tool old-name not found",
        "MCP error -32602: MCP error -32602: Tool old-name not found",
        "McpError: MCP error -32602: Tool old-name not found",
        "ProtocolError: Tool old-name not found",
        "Tool 'old-name' not found",
        'Tool "old-name" not found.',
        "Tool `old-name` not found",
        "Unknown tool: old-name",
        "Unknown tool: 'old-name'",
        'Unknown tool: "old-name"',
        "ToolError: Unknown tool: 'old-name'",
        "MCP error -32603: Unknown tool: old-name",
        "MCP error -32602: Unknown tool: old-name",
        'unknown tool "old-name"',
        "unknown tool: old-name",
        "tool 'old-name' not found: tool not found",
        "tool 'old-name' not found",
        "Tool not found: old-name",
        "MCP error -32601: Tool not found: old-name",
    ],
)
def test_a_failed_call_names_the_tool_that_is_not_there(text: str) -> None:
    """In the words of every SDK, as the message and as the error of a call."""
    for record in (
        {"time": TIME, "level": "error", "msg": text},
        {"time": TIME, "level": "error", "message": text},
        {"time": TIME, "msg": "failed", "method": "tools/call", "error": text},
        {"time": TIME, "msg": "failed", "method": "tools/call", "err": {"message": text}},
    ):
        event = only_event(line_of(record))
        assert (event.kind, event.tool) == (Kind.UNKNOWN_CALL, "old-name")


@pytest.mark.parametrize(
    "text",
    [
        "Tool use for user not found",
        "User said: Unknown tool: x",
        "unknown tool",
        "Tool not found",
        "Unknown tool: a b",
        "tool not found: x y",
    ],
)
def test_a_text_that_only_sounds_like_it_is_none(text: str) -> None:
    """A name has no white space, and nothing stands before the words but what SDKs put there."""
    assert isinstance(outcome_of({"time": TIME, "msg": text}), Ignored)


# ----------------------------------------------------------------------------- a sender's time


@pytest.mark.parametrize("key", ["_time", "dt"])
@pytest.mark.parametrize("place", ["msg", "message", "event"])
def test_a_senders_time_counts_where_there_is_no_other(key: str, place: str) -> None:
    """Axiom's loggers write `_time`, those of Logtail `dt`, in place of the record's own."""
    record = {place: "Retired tool called", "level": "warn", "tool": "t"}

    assert only_event(line_of({**record, key: TIME})).time_ns == CALL_NS
    assert (
        only_event(line_of({**record, key: "2026-01-01T00:00:00Z", "time": TIME})).time_ns
        == CALL_NS
    )
    assert READER.line_time(line_of({key: TIME, "msg": "x"})) == CALL_NS
    assert READER.value_time({key: TIME, "msg": "x"}) == CALL_NS


def test_a_duration_is_no_senders_time() -> None:
    """`dt` may be anything else: nothing is rejected for it, and the wrapper's time counts."""
    record = {"msg": "Retired tool called", "tool": "t", "dt": 0.016666666}

    assert only_event(line_of(record)).time_ns is None
    assert only_event(contained(record)).time_ns == CALL_NS
    assert READER.line_time(line_of({"dt": 0.016666666, "time": TIME})) == CALL_NS


# ----------------------------------------------------------------------------- OTLP as lines


def attributes(pairs: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]


OTLP_SAMPLES = (DATA / "profiles" / "opentelemetry.ndjson").read_bytes().splitlines()
CALL = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "t"}
NANOSECONDS = "1791195302114000000"


def test_the_log_line_within_a_record_is_that_line() -> None:
    """As over OTLP: a body that is text is what the server wrote."""
    body = json.dumps({"msg": "Retired tool called", "tool": "t"})
    event = only_event(line_of({"timeUnixNano": NANOSECONDS, "body": {"stringValue": body}}))

    assert (event.profile, event.tool, event.time_ns) == ("pino", "t", CALL_NS)


def test_a_body_that_is_a_map_is_the_record() -> None:
    """With every type that a value may have."""
    values = [
        {"key": "msg", "value": {"stringValue": "Retired tool called"}},
        {"key": "tool", "value": {"stringValue": "t"}},
        {"key": "pid", "value": {"intValue": "7"}},
        {"key": "requestId", "value": {"doubleValue": 5}},
        {"key": "flag", "value": {"boolValue": True}},
        {"key": "nothing", "value": {}},
        {"key": "replacedBy", "value": {"arrayValue": {"values": [{"stringValue": "a"}]}}},
    ]
    body = {"kvlistValue": {"values": values}}
    event = only_event(
        line_of({"timeUnixNano": 0, "observedTimeUnixNano": NANOSECONDS, "body": body})
    )

    assert (event.pid, event.request_id, event.replaced_by) == ("7", "5", ("a",))
    assert event.time_ns == CALL_NS


@pytest.mark.parametrize(
    "record",
    [
        {"timeUnixNano": NANOSECONDS, "attributes": attributes(CALL), "msg": "x"},
        {"startTimeUnixNano": NANOSECONDS, "attributes": attributes(CALL), "level": "info"},
        {"resourceLogs": "tools/call", "msg": "x"},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": "tools/call"}]}]},
        {"resourceSpans": {"tools/call": 1}},
        {"timeUnixNano": NANOSECONDS, "attributes": {"mcp.method.name": ["tools/call"]}},
        {"timeUnixNano": NANOSECONDS, "attributes": ["tools/call", {"key": 5, "value": 7}]},
        {"timeUnixNano": None, "attributes": attributes(CALL)},
    ],
)
def test_what_is_not_wholly_otlp_is_no_wrapper(record: dict[str, Any]) -> None:
    """A logger's record that holds such a list is its own, and a broken one is nothing."""
    assert isinstance(outcome_of(record), Ignored)


@pytest.mark.parametrize(
    "line", [line for line in OTLP_SAMPLES if line.startswith(b'{"resourceLogs"')]
)
def test_a_record_in_a_file_is_the_one_that_is_sent(line: bytes) -> None:
    """The same event with the same key, so that a file and an export count once."""
    sent = otlp.reader("application/json", None)(line, Limits(1 << 20, 1 << 20))
    (record,) = single(sent.records)
    event = (
        READER.value(record.value, record.origin)
        if isinstance(record, Parsed)
        else READER.read(record)
    )

    assert event == only_event(line)


def span(kind: object, **more: object) -> dict[str, Any]:
    return {"name": "tools/call t", "kind": kind, "startTimeUnixNano": NANOSECONDS,
            "attributes": attributes(CALL), **more}  # fmt: skip


@pytest.mark.parametrize("kind", [0, 1, 2, "SPAN_KIND_SERVER", None, "3", [3], {"3": 3}])
def test_a_span_of_a_server_is_its_call(kind: object) -> None:
    """Whatever else its kind is: 2 is a server's in OTLP (trace.proto, SpanKind)."""
    assert only_event(line_of(span(kind))).tool == "t"


@pytest.mark.parametrize(
    "record",
    [
        span(3),
        span("SPAN_KIND_CLIENT"),
        {"resourceSpans": [{"scopeSpans": [{"spans": [span(3)]}]}]},
        {"name": "tools/call t", "kind": "SpanKind.CLIENT", "start_time": TIME, "attributes": CALL},
    ],
)
def test_a_span_of_a_client_is_not_counted(record: dict[str, Any]) -> None:
    """It is the same call as the server's span, seen from the other side, as OTLP and consoles write it."""
    assert isinstance(outcome_of(record), Ignored)


def batch(names: list[str]) -> dict[str, Any]:
    records = [
        {"timeUnixNano": NANOSECONDS, "attributes": attributes({**CALL, "gen_ai.tool.name": name})}
        for name in names
    ]
    pairs = [*attributes({"host.name": "mcp-1", "padding": "x" * 500})]
    half = [
        {"scopeLogs": [{"logRecords": [each]} for each in part]}
        for part in (records[:1], records[1:])
    ]
    return {"resourceLogs": [{"resource": {"attributes": pairs}, **each} for each in half]}


@pytest.mark.parametrize(
    "record",
    [
        batch(["a", "b"]),
        {"resourceSpans": [{"scopeSpans": [{"spans": [span(2), span(2)]}]}]},
        {"log": json.dumps(batch(["a", "b"])) + "\n", "stream": "stderr", "time": TIME},
    ],
)
def test_a_line_that_holds_several_records_is_rejected(record: dict[str, Any]) -> None:
    """It is no event, and must not be lost silently; what identifies somebody in it is not kept."""
    found = outcome_of(record)

    assert isinstance(found, Rejected)
    assert found.reason is Reason.SEVERAL_RECORDS
    assert (found.excerpt, found.whole) == ("an export of 2 records", False)
    assert "/v1/logs" in explain(line_of(record), READER).why


def test_the_only_record_of_an_export_is_read_wherever_it_stands() -> None:
    """Parts without any are beside it."""
    export = batch(["a"])

    assert len(export["resourceLogs"]) == 2
    assert export["resourceLogs"][1]["scopeLogs"] == []
    assert only_event(line_of(export)).tool == "a"


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_batch_of_the_collectors_file_exporter_is_its_records(size: int) -> None:
    """Each is one record of the file, whatever its line holds beside it, and broken lines stay broken."""
    text = b"\n".join(
        [line_of(batch(["a", "b", "c"])), line_of(batch(["d"])), b'{"resourceLogs":[{', b"",
         line_of({"resourceLogs": []}), line_of(batch(["e", "f"]))]
    ).replace(b'": ', b'":')  # fmt: skip
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    found = [READER.read(line) for line in single(stream_records(chunks, 1 << 20, 1 << 20))
             if isinstance(line, Line)]  # fmt: skip
    events = [outcome for outcome in found if isinstance(outcome, Event)]

    assert [event.tool for event in events] == ["a", "b", "c", "d", "e", "f"]
    assert {event.hostname for event in events} == {"mcp-1"}
    assert [type(outcome) for outcome in found if not isinstance(outcome, Event)] == [
        Rejected,
        Ignored,
    ]


def test_a_body_of_batches_is_its_records() -> None:
    """As a file of them is; an odd one, and one behind other lines, is rejected and costs no other."""
    odd = line_of(batch(["x", "y"])).replace(b'"x"', b'"\\ud800"')
    lines = [line_of(batch(["a", "b"])), b"", line_of(batch(["c"])), odd, b"{oops}",
             line_of(batch(["d", "e"]))]  # fmt: skip
    text = b"\n".join(lines).replace(b'": ', b'":')
    found = outcomes(text, READER)

    assert [event.tool for event in events(found)] == ["a", "b", "c", "d", "e"]
    assert {event.hostname for event in events(found)} == {"mcp-1"}
    assert tally(found) == {"event": 5, "several_records": 1, "ignored": 1}
    assert tally(outcomes(b"started\n" + text, READER))["several_records"] == 3


def test_a_body_of_too_many_records_is_refused() -> None:
    """Each would be a line with the host's name, many times what it takes in the body."""
    records = b",".join([b"{}"] * (MOST // 2 + 1))
    line = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[%b]}]}]}' % records

    assert len(outcomes(line, READER)) == MOST // 2 + 1
    with pytest.raises(BodyTooLarge):
        outcomes(line + b"\n" + line, READER)


def test_a_name_that_is_said_many_times_is_written_once() -> None:
    """Else a small resource would be a large part of every line."""
    export = batch(["a", "b"])
    export["resourceLogs"] = export["resourceLogs"][:1]
    resource = export["resourceLogs"][0]
    resource["resource"]["attributes"] *= 1_000
    resource["scopeLogs"] *= 3
    text = line_of(export).replace(b'": ', b'":')

    assert sum(len(part) for part in stream_records([text], 1 << 20, 1 << 20)) < 2_000
    assert len(events(outcomes(text, READER))) == 3


def test_a_batch_with_half_a_character_is_its_records() -> None:
    """JSON can write half of a surrogate pair, which is no text."""
    text = line_of(batch(["a", "b", "c"])).replace(b'": ', b'":').replace(b'"b"', b'"\\ud800"')
    lines = [
        line for line in single(stream_records([text], 1 << 20, 1 << 20)) if isinstance(line, Line)
    ]
    tools = [only_event(line.raw).tool for line in lines]

    assert tools == ["a", "\ufffd", "c"]


@pytest.mark.parametrize(
    "odd",
    ['"half \\ud800"', "[" * 1_010 + "]" * 1_010, '[{"x": oops}]', "[" + "{}," * 300_000 + "0]"],
    ids=["half a character", "very deep", "broken", "very many values"],
)
def test_what_is_odd_in_a_batch_costs_its_own_record_only(odd: str) -> None:
    """However it must be read: its neighbours are there, with the host's name, and none is left out."""
    text = line_of(batch(["a", "b", "c"])).replace(b'": ', b'":')
    odd_record = b'"logRecords":[7,{"mcp.method.name tools/call":' + odd.encode() + b"},"
    text = text.replace(b'"logRecords":[', odd_record, 1)
    found = [READER.read(line) for line in single(stream_records([text], 1 << 20, 1 << 23))
             if isinstance(line, Line)]  # fmt: skip
    events = [outcome for outcome in found if isinstance(outcome, Event)]

    assert len(found) == 5
    assert [(event.tool, event.hostname) for event in events] == [
        ("a", "mcp-1"), ("b", "mcp-1"), ("c", "mcp-1"),
    ]  # fmt: skip


@pytest.mark.parametrize("number", ["\u00b2", "--5", "5-", "", "9" * 30, " 5"])
def test_a_number_of_otlp_that_is_none_is_nothing(number: str) -> None:
    """Numbers are text in OTLP's JSON, so that a stranger can write anything there."""
    pairs = [*attributes(CALL), {"key": "process.pid", "value": {"intValue": number}}]
    event = only_event(line_of({"timeUnixNano": NANOSECONDS, "attributes": pairs}))

    assert event.pid is None


def test_a_batch_that_is_too_long_to_hold_is_one_line() -> None:
    """It is ignored or too long as any other line is, and what follows is read."""
    names = [str(number) for number in range(2_000)]
    text = line_of(batch(names)).replace(b'": ', b'":') + b"\n" + line_of({"msg": "x"}) + b"\n"
    chunks = [text[at : at + 1_000] for at in range(0, len(text), 1_000)]
    found = single(stream_records(chunks, 1 << 20, 100_000))

    assert len(found) == 2


# ----------------------------------------------------------------------------- what profiles can say

PROFILE = """
name = "ours"
requires = ["act", "shop.till"]
needle = "till"
kind = "call"
outcome = "redirected"
json = ["more"]
[paths]
time = "at"
message = "act"
method = "how"
tool = ["more.tool", "what"]
error = "why"
[kinds]
inherit = false
[kinds.both]
"sold out" = "stale_call"
[kinds.messages]
"closed" = "ignore"
"""


def own() -> Recogniser:
    """A recogniser that has the profile above and nothing else."""
    return Recogniser([read_profile(PROFILE, "ours.toml")], HASHER, clock=lambda: CALL_NS // 1000)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"act": "sold", "how": "out", "what": "a"}, "stale_call redirected"),
        ({"act": "sold", "how": "in", "what": "a"}, "call"),
        ({"act": "opened", "what": "a"}, "call"),
        ({"act": "opened", "what": "a", "why": "Unknown tool: a"}, "unknown_call unknown tool"),
        ({"act": "opened", "more": '{"tool":"b"}'}, "call"),
        ({"act": "opened", "more": '["tool"]'}, "missing_tool"),
        ({"act": "opened"}, "missing_tool"),
        ({"act": "closed", "what": "a"}, "ignored"),
        ({"act": "Tools listed", "what": "a"}, "call"),
    ],
)
def test_what_a_profile_can_say(more: dict[str, Any], expected: str) -> None:
    """Kinds of a message and a method together, of neither, texts that hold more, what counts as
    nothing, and a table of its own."""
    outcome = own().line(line_of({"at": TIME, "shop": {"till": 1}, **more}))

    if isinstance(outcome, Event):
        word = outcome.outcome.word if outcome.outcome else ""
        assert f"{outcome.kind.word} {word}".strip() == expected
    elif isinstance(outcome, Rejected):
        assert outcome.reason is Reason(expected)
    else:
        assert expected == "ignored"


TEXT = """
name = "ours"
format = ["json", "logfmt"]
requires = ["act"]
under = [""]
head = ["at", "act"]
needle = "act"
outcome = "redirected"
[paths]
time = "at"
message = "act"
method = "how"
[kinds]
inherit = false
[kinds.both]
"sold out" = "stale_call"
[kinds.messages]
"closed" = "ignore"
"called" = "call"
[kinds.methods]
"in" = "ignore"
"""
ANY = """
name = "any"
format = ["json", "logfmt"]
requires = ["act"]
under = [""]
head = ["at", "act", "how"]
[paths]
message = "tool"
[kinds.messages]
"a" = "listing"
"""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"act": "sold", "how": "out", "tool": "a"}, "stale_call redirected ours"),
        ({"act": "called", "how": "in", "tool": "a"}, "call ours"),
        ({"act": "closed", "tool": "a"}, "ignored"),
        ({"act": "opened", "how": "in", "tool": "a"}, "ignored"),
        ({"act": "opened", "how": "else", "tool": "a"}, "listing any"),
    ],
)
def test_what_a_profile_can_say_holds_for_text_too(said: dict[str, str], expected: str) -> None:
    """As JSON and as pairs a line is the same; one that counts as nothing is not shown to the next profile."""
    profiles = [read_profile(toml, "ours.toml") for toml in (TEXT, ANY)]
    reader = Recogniser(profiles, HASHER, clock=lambda: CALL_NS // 1000)
    pairs = " ".join(f"{key}={value}" for key, value in {"at": TIME, **said}.items())

    for line in (line_of({"at": TIME, **said}), pairs.encode()):
        outcome = reader.line(line)
        words = ["ignored"]
        if isinstance(outcome, Event):
            words = [outcome.kind.word, *([outcome.outcome.word] if outcome.outcome else [])]
            words.append(outcome.profile)
        assert " ".join(words) == expected


def test_text_that_means_something_together_and_is_broken_is_rejected() -> None:
    """The message is the logger's, so that the line is a call that does not count."""
    reader = Recogniser([read_profile(TEXT, "ours.toml")], HASHER, clock=lambda: CALL_NS // 1000)
    outcome = reader.line(b"act=sold how=out tool=a b")

    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.INVALID_PAIRS


def test_a_needle_stands_for_a_profiles_messages() -> None:
    """A line is looked at for its key alone, however common its words are."""
    assert own().has_needle(b'{"till":1}')
    assert not own().has_needle(b'{"act":"sold","how":"out"}')
    assert READER.has_needle(b'{"ai_component":"mcp_server"}')
    assert not READER.has_needle(b'{"event_name":"tool_call"}')
