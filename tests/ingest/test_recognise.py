"""Every record has one outcome, and it is the one that the record's own words give it."""

import json
from typing import Any

import pytest

from service.events import Event, Ignored, Kind, Outcome, Reason, Rejected
from service.ingest.records import Line
from tests.ingest.support import (
    CALL_NS,
    case,
    events,
    line,
    only_event,
    outcomes,
    recogniser,
    tally,
)

READER = recogniser()


@pytest.mark.parametrize(
    ("number", "now", "max_line", "expected"),
    [
        ("04", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("05", "2026-10-06T00:00:00Z", 1 << 20, {"event": 3}),
        ("07", "2026-10-06T00:00:00Z", 65_536, {"event": 2, "line_too_long": 1}),
        ("08", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2, "too_deep": 1}),
        ("09", "2026-10-06T00:00:00Z", 1 << 20, {"event": 1}),
        ("15", "2026-10-06T00:00:00Z", 1 << 20, {"event": 7}),
        ("16", "2026-10-06T00:00:00Z", 1 << 20, {"event": 6}),
        ("17", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("19", "2026-10-06T00:00:00Z", 1 << 20, {"event": 1, "implausible_timestamp": 3}),
        ("20", "2026-10-05T12:00:00Z", 1 << 20, {"event": 2, "future_timestamp": 1}),
        ("30", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2, "not_an_object": 4}),
        ("31", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("32", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("33", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("34", "2026-10-06T00:00:00Z", 1 << 20, {"event": 2}),
        ("35", "2026-10-06T00:00:00Z", 1 << 20, {"event": 5}),
        ("38", "2026-10-06T00:00:00Z", 1 << 20, {"event": 5}),
        ("39", "2026-10-06T00:00:00Z", 1 << 20, {"event": 1, "ignored": 3}),
        ("40", "2026-10-06T00:00:00Z", 1 << 20,
         {"event": 1, "ignored": 4, "invalid_json": 1, "missing_tool": 1}),
    ],
)  # fmt: skip
def test_the_accounting_of_the_cases(
    number: str, now: str, max_line: int, expected: dict[str, int]
) -> None:
    """Numbers as the reported cases state them."""
    assert tally(outcomes(case(number), recogniser(now), max_line)) == expected


def test_the_last_of_duplicate_keys_wins() -> None:
    """A child logger of pino writes its own binding after its parent's."""
    (event,) = events(outcomes(case("09"), READER))

    assert (event.client, event.tool, event.time_ns) == (
        "claude-code",
        "tomtom-ev-routing",
        CALL_NS,
    )


def test_text_that_no_database_holds_is_made_holdable() -> None:
    """NUL goes, half an emoji becomes U+FFFD, a whole one stays."""
    assert [e.client for e in events(outcomes(case("32"), READER))] == ["evilbot", "claude-code"]
    assert [e.client for e in events(outcomes(case("33"), READER))] == ["bot\ufffd", "bot😀"]


def test_a_number_beyond_64_bits_is_a_side_matter() -> None:
    """The pid is text; the record counts."""
    assert [e.pid for e in events(outcomes(case("34"), READER))] == ["18446744073709551615", "7"]


def test_a_client_that_is_not_named_is_none() -> None:
    """Absent, null, empty and blank alike; one called unknown is someone."""
    clients = [event.client for event in events(outcomes(case("35"), READER))]

    assert clients == [None, None, None, None, "unknown"]


def test_replacements_in_every_shape() -> None:
    """Empty says none; absent and null say nothing; one text is one name."""
    replaced = [event.replaced_by for event in events(outcomes(case("38"), READER))]

    assert replaced == [(), None, None, ("tomtom-route-planner",), ("tomtom-a", "tomtom-b")]


def test_only_names_among_the_replacements_count() -> None:
    """A number or an object in the list names no tool."""
    event = only_event(line(tool="t", replacedBy=["a", 5, None, {"x": 1}, "", "b"]))

    assert event.replaced_by == ("a", "b")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", None),
        (b" \t\r\n", None),
        (b"\0\0\0", None),
        (b"server listening on :3000", "ignored"),
        (b"Retired tool called by somebody", "ignored"),
        (b"[2026-10-05T10:15:02Z] Retired tool called", "ignored"),
        (b'"Retired tool called"', "ignored"),
        (b'{"msg":"Server started"}', "ignored"),
        (b'{"msg":"Server sta', "invalid_json"),
        (b'{"msg":"Server started"} x', "invalid_json"),
        (b'{"msg":broken}', "ignored"),
        (b'{"msg":"Retired tool called",broken}', "invalid_json"),
        (b'{"msg":"Retired tool called"', "invalid_json"),
        (b'["Retired tool called"]', "not_an_object"),
        (b'[{"msg":"Retired tool called"}]', "not_an_object"),
        (b'["Retired tool called"', "ignored"),
        (b'{"msg":"Retired tool called"}', "missing_tool"),
        (b'{"msg":"Retired tool called","tool":"t","time":"soon"}', "bad_timestamp"),
        (b'{"msg":"Retired tool called","tool":"t","time":true}', "bad_timestamp"),
        (b'{"msg":"Retired tool called","tool":"t","time":{}}', "bad_timestamp"),
        (b'{"msg":"Retired tool called","tool":"t","time":5}', "implausible_timestamp"),
        (b'{"msg":"Retired tool called","tool":"t","time":4000000000}', "future_timestamp"),
        (b'\xef\xbb\xbf {"msg":"Retired tool called","tool":"t"}', "event"),
        (b'{"msg":"Retired tool called","tool":"\xff\xfe"}', "event"),
        (b'{"msg":"Retired tool called","tool":"a\tb"}', "event"),
        (b'{"msg":"Retired tool called","tool":"t","x":1e400}', "event"),
    ],
)
def test_each_line_has_one_outcome(raw: bytes, expected: str | None) -> None:
    """Text is ignored, ours or broken JSON is rejected with its reason, blank lines are none."""
    outcome = READER.line(raw)

    assert (None if outcome is None else next(iter(tally([outcome])))) == expected


@pytest.mark.parametrize("raw", [b'{"msg":"Server sta', b'{"msg":"Retired tool called","data":{}'])
def test_a_cut_last_line_is_incomplete_rather_than_broken(raw: bytes) -> None:
    """The writer may still be at it."""
    outcome = READER.read(Line(raw, unfinished=True))

    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.INCOMPLETE_LINE


def test_a_last_line_without_newline_that_parses_is_whole() -> None:
    """A missing newline alone loses nothing."""
    assert isinstance(READER.line(line(tool="t"), last_unfinished=True), Event)


@pytest.mark.parametrize("value", [None, "Retired tool called", 5, 0.5, True, [{"msg": "x"}], []])
def test_an_element_that_is_no_object_is_rejected(value: object) -> None:
    """An array's elements are records, so each must have a fate."""
    outcome = READER.value(value)

    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.NOT_AN_OBJECT


def test_a_line_and_the_same_record_in_an_array_are_the_same_event() -> None:
    """What is decided does not depend on how the record came."""
    raw = line(tool="t", client="c", replacedBy=["x"])

    assert READER.value(json.loads(raw)) == READER.line(raw)


@pytest.mark.parametrize(
    ("depth", "deep"), [(99, False), (100, False), (101, True), (5000, True)]
)  # data itself is inside two objects
def test_nesting_beyond_the_limit_is_too_deep(depth: int, deep: bool) -> None:
    """The limit counts brackets outside strings, the record's own included."""
    inner = depth - 1
    raw = b'{"msg":"Retired tool called","tool":"t","x":' + b"[" * inner + b"]" * inner + b"}"
    outcome = READER.line(raw)

    assert (isinstance(outcome, Rejected) and outcome.reason is Reason.TOO_DEEP) is deep


def test_brackets_inside_text_are_no_nesting() -> None:
    """A user's text with many brackets does not cost the record."""
    assert only_event(line(tool="t", query='[{"' * 500)).tool == "t"


@pytest.mark.parametrize(
    ("message", "data", "kind", "outcome"),
    [
        ("Retired tool called", {"tool": "t"}, Kind.STALE_CALL, Outcome.TOMBSTONE),
        ("Retired tool called", {"tool": "t", "outcome": "redirected"}, Kind.STALE_CALL, Outcome.REDIRECTED),
        ("Retired tool called", {"tool": "t", "outcome": "odd"}, Kind.STALE_CALL, Outcome.TOMBSTONE),
        ("Tool t not found", {}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("Unknown tool: t", {}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("Unknown tool: 't'", {}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("MCP error -32602: Tool t not found", {}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("McpError: MCP error -32602: Tool t not found", {}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("x", {"method": "tools/call", "tool": "t"}, Kind.CALL, None),
        ("x", {"method": "tools/call", "tool": "t", "error": "timed out"}, Kind.CALL, None),
        ("x", {"method": "tools/call", "tool": "t", "error": "Tool t not found"}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("x", {"method": "tools/call", "err": {"message": "Unknown tool: t"}}, Kind.UNKNOWN_CALL, Outcome.UNKNOWN_TOOL),
        ("Tool called", {"tool": "t"}, Kind.CALL, None),
        ("Retired tool called", {"tool": "t", "method": "tools/call"}, Kind.STALE_CALL, Outcome.TOMBSTONE),
        ("x", {"method": "tools/list"}, Kind.LISTING, None),
        ("Tools listed", {"method": "GET"}, Kind.LISTING, None),
        ("x", {"method": "initialize"}, Kind.HELLO, None),
        ("x", {"method": "server/discover"}, Kind.HELLO, None),
        ("Client initialized", {}, Kind.HELLO, None),
        ("x", {"method": "notifications/tools/list_changed"}, Kind.NOTIFICATION, None),
        ("Tool list changed notification sent", {}, Kind.NOTIFICATION, None),
        ("x", {"method": "subscriptions/listen"}, Kind.LISTEN, None),
        ("Tool list subscription opened", {}, Kind.LISTEN, None),
    ],
)  # fmt: skip
def test_what_a_line_says_happened(
    message: str, data: dict[str, Any], kind: Kind, outcome: Outcome | None
) -> None:
    """An exact message first, then an unknown-tool text, then the method."""
    event = only_event(line(message, **data))

    assert (event.kind, event.outcome) == (kind, outcome)
    assert event.tool == ("t" if kind in (Kind.STALE_CALL, Kind.UNKNOWN_CALL, Kind.CALL) else None)


@pytest.mark.parametrize(
    "message",
    ["Tool call for user not found", "Tool  not found", "Retired tool called.", "retired tool called",
     "Search: Unknown tool: x"],
)  # fmt: skip
def test_a_text_that_only_resembles_a_message_is_ignored(message: str) -> None:
    """Users write texts too; only the exact ones count."""
    assert READER.line(line(message, query="Retired tool called", tool="t")) == Ignored()


def test_escaped_slashes_are_the_same_method() -> None:
    r"""PHP and others write tools\/list."""
    raw = b'{"msg":"x","method":"tools\\/list"}'

    assert only_event(raw).kind is Kind.LISTING


@pytest.mark.parametrize(
    ("field", "spelling", "value", "expected"),
    [
        ("client", "clientName", "c", "c"),
        ("client", "client_name", "c", "c"),
        ("client", "clientInfo", {"name": "c"}, "c"),
        ("version", "clientInfo", {"version": "1"}, "1"),
        ("version", "client_version", 2, "2"),
        ("session", "session_id", "s", "s"),
        ("session", "mcpSessionId", "s", "s"),
        ("request_id", "request_id", 12, "12"),
        ("last_release", "last_release", "1.6", "1.6"),
        ("replaced_by", "replaced_by", "x", ("x",)),
        ("protocol_version", "protocolVersion", "2025-06-18", "2025-06-18"),
        ("address", "remoteAddress", "203.0.113.7", "203.0.113.7"),
        ("user_agent", "userAgent", "node", "node"),
        ("listed_count", "toolCount", 14, 14),
        ("listed_count", "count", "14", 14),
        ("ttl_ms", "ttlMs", 60000.0, 60000),
        ("ttl_ms", "ttlMs", -1, None),
        ("ttl_ms", "ttlMs", 2**63, None),
        ("version", "clientVersion", 7.0, "7"),
        ("version", "clientVersion", 1.5, "1.5"),
        ("version", "clientVersion", True, "true"),
        ("client", "client", ["c"], None),
        ("client", "client", {"title": "c"}, None),
        ("stdio", "transport", "stdio", True),
        ("stdio", "transport", "http", False),
    ],
)
def test_spellings_of_small_servers(
    field: str, spelling: str, value: object, expected: object
) -> None:
    """One field, many names; other scalars become text, lists and objects do not."""
    event = only_event(line(tool="t", **{spelling: value}))

    assert getattr(event, field) == expected


def test_the_first_spelling_that_holds_something_wins() -> None:
    """A blank or empty one gives way to the next, whatever their order in the line."""
    assert only_event(line(tool="t", client_name="b", client=" ", clientName="a")).client == "a"
