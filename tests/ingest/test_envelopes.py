"""What shippers and container runtimes put around a record is taken off, whatever it is nested in."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from service.events import Event, Ignored, Rejected
from service.ingest.explain import explain
from service.ingest.hints import Hints
from tests.ingest.support import CALL_NS, DATA, NOW, outcomes, recogniser, tally

READER = recogniser()
LATER = recogniser("2026-12-31T00:00:00Z")
TIMED = b'{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"t"}}'
BARE = b'{"msg":"Retired tool called","data":{"tool":"t","sessionId":"s1"}}'
"""A record without a time."""
AT = "2026-10-05T10:20:00.250Z"
AT_NS = CALL_NS + 298_136_000_000
"""4 min 58.136 s after 10:15:02.114."""


def ns_of(iso: str) -> int:
    return int(datetime.fromisoformat(iso).replace(tzinfo=UTC).timestamp()) * 10**9


def obj(**fields: Any) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


TEXT = BARE.decode()
ID = "37163482937498237498237498237498237498237498237498237498"
TIMED_BY_WRAPPER = {
    "Docker": (obj(log=TEXT + "\n", stream="stderr", time=AT), None),
    "Kubernetes (CRI)": (b"2026-10-05T10:20:00.250000000Z stderr F " + BARE, None),
    "timestamp": (b"2026-10-05T10:20:00.250Z " + BARE, None),
    "syslog (RFC 5424)": (b"<14>1 2026-10-05T12:20:00.25+02:00 a b - - - " + BARE, None),
    "syslog (RFC 3164)": (b"2026-10-05T10:20:00.250000+00:00 vm mcp[7]: " + BARE, None),
    "syslog fields": (obj(timereported=AT, fromhost="a", message=TEXT), None),
    "journald": (
        obj(__CURSOR="s=1;i=2", __REALTIME_TIMESTAMP="1791195600250000", MESSAGE=TEXT),
        "journald:s=1;i=2",
    ),
    "Logstash": (obj(**{"@timestamp": AT, "@version": "1", "message": TEXT}), None),
    "Vector": (obj(file="f", host="h", message=TEXT, source_type="file", timestamp=AT), None),
    "Fluent": (obj(date=1791195600.25, log=TEXT), None),
    "python-logstash-async": (
        obj(
            **{"@timestamp": AT, "level": "INFO", "message": TEXT, "type": "python-logstash"},
            extra={"logstash_async_version": "4.1.0"},
        ),
        None,
    ),
    "Splunk HEC": (obj(time="1791195600.25", host="h", source="s", event=TEXT), None),
    "CloudWatch": (
        obj(id=ID, timestamp=1791195600250, message=TEXT),
        f"cloudwatch:{ID}",
    ),
    "Google Cloud Logging": (
        obj(
            insertId="i1",
            logName="projects/p/logs/stderr",
            timestamp=AT,
            severity="INFO",
            textPayload=TEXT,
        ),
        f"google:projects/p/logs/stderr:{AT}:i1",
    ),
    "Vercel": (
        obj(
            id="v1",
            message=TEXT,
            timestamp=1791195600250,
            source="lambda",
            level="info",
            projectId="p",
            deploymentId="d",
        ),
        "vercel:v1",
    ),
}


@pytest.mark.parametrize("name", TIMED_BY_WRAPPER)
def test_a_record_without_a_time_takes_its_wrappers(name: str) -> None:
    """To the nanosecond where the wrapper has them; ids of platforms name it."""
    raw, native_id = TIMED_BY_WRAPPER[name]

    event = READER.line(raw)

    assert isinstance(event, Event)
    assert (event.tool, event.session, event.time_ns) == ("t", "s1", AT_NS)
    assert event.native_id == native_id
    assert explain(raw, READER).wrappers == (name,)


@pytest.mark.parametrize("name", TIMED_BY_WRAPPER)
def test_a_records_own_time_counts(name: str) -> None:
    """The wrapper's is when somebody read it."""
    raw, _ = TIMED_BY_WRAPPER[name]
    for bare, timed in ((BARE, TIMED), (json.dumps(TEXT)[1:-1], json.dumps(TIMED.decode())[1:-1])):
        was = bare if isinstance(bare, bytes) else bare.encode()
        raw = raw.replace(was, timed if isinstance(timed, bytes) else timed.encode())

    event = READER.line(raw)

    assert isinstance(event, Event)
    assert event.time_ns == CALL_NS


@pytest.mark.parametrize("at", ["NaN", "", "1601-01-01T00:00:00Z", "2226-10-05T00:00:00Z", 0, []])
def test_a_wrappers_unusable_time_is_none(at: object) -> None:
    """The record is what it was, and takes the time of its arrival."""
    event = READER.line(obj(log=TEXT, stream="stdout", time=at))

    assert isinstance(event, Event)
    assert event.time_ns is None


@pytest.mark.parametrize(
    ("raw", "wrappers"),
    [
        (b"mcp-1  | " + TIMED, ("docker compose",)),
        (b"mcp_1 | " + TIMED, ("docker compose",)),
        (b"[pod/mcp-6d/app] " + TIMED, ("kubectl",)),
        (b"\x1b[36mmcp-1  | \x1b[0m" + TIMED, ("ANSI colours", "docker compose")),
        (b"\x1b[32m" + TIMED + b"\x1b[39m", ("ANSI colours",)),
        (b'\x1b[1;39m{\x1b[0m\x1b[34;1m"msg"\x1b[0m:"Retired tool called"', ("ANSI colours",)),
        (b"249 <14>1 - a b - - - " + TIMED, ("octet count", "syslog (RFC 5424)")),
        (b"<14>1 - a b - - " + TIMED, ("syslog (RFC 5424)",)),
        (b'<14>1 - a b - - [x y="\\"]z"][q] \xef\xbb\xbf' + TIMED, ("syslog (RFC 5424)",)),
        (b"<14>Oct  5 10:15:02 vm mcp[7]: " + TIMED, ("syslog (RFC 3164)",)),
        (b"Oct 15 10:15:02 vm mcp: " + TIMED, ("syslog (RFC 3164)",)),
        (b"<14>Oct  5 10:15:02 mcp: " + TIMED, ("syslog (RFC 3164)",)),
        (b"<14>" + TIMED + b"\0", ("syslog (RFC 3164)",)),
        (b"2026-10-05T10:15:02.114+00:00 app[web.1]: " + TIMED, ("syslog (RFC 3164)",)),
        (b"2026-10-05T10:15:02Z stdout F:a:b " + TIMED, ("Kubernetes (CRI)",)),
    ],
)
def test_what_stands_before_a_line_is_taken_off(raw: bytes, wrappers: tuple[str, ...]) -> None:
    """Headers, names, counts and colours."""
    found = explain(raw, READER)

    assert found.wrappers == wrappers
    if raw.endswith(b"}"):
        assert isinstance(found.outcome, Event)
        assert found.outcome.time_ns == CALL_NS


def test_the_time_of_rfc3164_is_not_guessed_at() -> None:
    """It has neither a year nor a zone."""
    event = READER.line(b"<14>Oct  5 10:15:02 vm mcp: " + BARE)

    assert isinstance(event, Event)
    assert event.time_ns is None


def test_wrappers_nest_in_any_order() -> None:
    """The innermost that knows a time or an id is believed."""
    docker = obj(log=TEXT + "\n", stream="stderr", time=AT)
    syslog = b"<14>1 2026-10-05T11:00:00Z a b - - - " + docker
    journal = obj(__CURSOR="s=1", __REALTIME_TIMESTAMP="1791195700000000", MESSAGE=syslog.decode())
    outer = b"mcp-1 | " + journal

    found = explain(outer, READER)

    assert found.wrappers == ("docker compose", "journald", "syslog (RFC 5424)", "Docker")
    assert isinstance(found.outcome, Event)
    assert (found.outcome.time_ns, found.outcome.native_id) == (AT_NS, "journald:s=1")
    assert ("time", AT, "its wrapper") in [(f.field, f.value, f.place) for f in found.fields]


def test_a_nest_without_end_is_given_up() -> None:
    """Six wrappers are taken off; the line then is what it is."""
    assert isinstance(READER.line(b"a | " * 6 + TIMED), Event)
    assert isinstance(READER.line(b"a | " * 7 + TIMED), Ignored)
    assert isinstance(READER.line(b"a | " * 100_000 + TIMED), Ignored)
    assert READER.line_time(b"a | " * 100_000 + TIMED) is None


def test_a_message_of_byte_values_is_read() -> None:
    """The journal writes what cannot be printed as numbers, so that no text can be searched for."""
    message = list(b"\x1b[32m" + TIMED + b"\x1b[0m")
    for line in (
        obj(MESSAGE=message, _BOOT_ID="b"),
        b'{"_BOOT_ID":"b","MESSAGE" : %b}' % obj(a=message)[5:-1],
    ):
        event = READER.line(line)
        assert isinstance(event, Event)
        assert event.time_ns == CALL_NS
    assert isinstance(READER.line(obj(MESSAGE=[300, "x"], _BOOT_ID="b")), Ignored)


def test_a_method_with_an_escaped_slash_is_found_within_a_string() -> None:
    """Each wrapper escapes the backslash once more."""
    inner = rb'{"time":"2026-10-05T10:15:02Z","method":"tools\/list"}'.decode()

    assert isinstance(READER.line(obj(log=inner, stream="stdout", time=AT)), Event)


def test_filebeats_place_in_a_file_is_no_id() -> None:
    """A file that was renamed and is read once more holds the same calls."""
    record = {"@timestamp": AT, "message": TEXT, "host": {"name": "h"}, "input": {"type": "log"}}
    event = READER.line(obj(**record, log={"offset": 17, "file": {"path": "/var/log/a"}}))

    assert isinstance(event, Event)
    assert event.native_id is None


def test_a_parsed_payload_needs_no_peeling_further() -> None:
    """Google's agent parses JSON, and keeps the time for itself."""
    payload = json.loads(BARE)
    entry = obj(insertId="i", logName="l", timestamp=AT, severity="INFO", jsonPayload=payload)
    event = READER.line(entry)

    assert isinstance(event, Event)
    assert (event.tool, event.time_ns) == ("t", AT_NS)


@pytest.mark.parametrize(
    "shipped",
    [
        {
            "file": "f",
            "host": "h",
            "source_type": "file",
            "timestamp": AT,
            "message": TIMED.decode(),
        },
        {"date": 1791195600.25, "log": TIMED.decode(), "kubernetes": {"pod_name": "mcp"}},
        {"stream": "stderr", "log": TIMED.decode(), "time": AT},
        {"@timestamp": AT, "host": {"name": "h"}, "message": TIMED.decode()},
    ],
)
def test_a_record_that_was_merged_into_its_wrapper_is_found_as_it_stands(
    shipped: dict[str, Any],
) -> None:
    """A shipper's JSON parser leaves the same event as the raw line, its key included."""
    merged = {**shipped, **json.loads(TIMED)}
    dropped = {key: value for key, value in merged.items() if key not in ("log", "message")}
    raw, whole, rest = (READER.line(obj(**each)) for each in (shipped, merged, dropped))

    assert isinstance(raw, Event)
    assert whole == rest == raw


@pytest.mark.parametrize(
    "record",
    [
        {"@timestamp": AT, "message": "Retired tool called", "tool": "t"},
        {"tag": "x", "message": "Retired tool called", "tool": "t", "time": AT},
        {"timestamp": AT, "source_type": "file", "message": "Retired tool called", "tool": "t"},
    ],
)
def test_a_message_that_is_no_line_is_the_records_own(record: dict[str, Any]) -> None:
    """The keys of a wrapper around a plain text: the record speaks for itself."""
    event = READER.line(obj(**record))

    assert isinstance(event, Event)
    assert event.tool == "t"


def test_a_blank_or_broken_inside_is_still_a_record() -> None:
    """Of its own line, which is counted once."""
    assert isinstance(READER.line(b"mcp-1  | "), Ignored)
    assert isinstance(READER.line(obj(log="\n", stream="stdout", time=AT)), Ignored)
    broken = READER.line(b"2026-10-05T10:20:00Z stdout F " + TIMED[:-1])
    assert isinstance(broken, Rejected)
    assert broken.reason.value == "invalid_json"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"<134>1 2026-10-05T12:15:02.114+02:00 a b - - - started", CALL_NS),
        (b"249 <134>1 2026-10-05T10:15:02.114Z a b - - - x", CALL_NS),
        (b"2026-10-05T10:15:02.114000000Z stdout F at run (x.js:1)", CALL_NS),
        (b"mcp-1  | 2026-10-05T10:15:02.114Z started", CALL_NS),
        (b"mcp-1  | " + TIMED, CALL_NS),
        (b'{"__REALTIME_TIMESTAMP":"1791195302114000","MESSAGE":"x"}', CALL_NS),
        (b'{"log":"x\\n","stream":"stdout","time":"2026-10-05T10:15:02.114Z"}', CALL_NS),
        (b"<14>Oct  5 10:15:02 vm mcp: started", None),
        (b"mcp-1  | started", None),
    ],
)
def test_the_time_of_a_wrapped_line_is_seen_in_passing(raw: bytes, expected: int | None) -> None:
    """So that a feed is heard where nothing in it is ours."""
    assert READER.line_time(raw) == expected


def test_unknown_messages_are_suggested_from_within_wrappers() -> None:
    """A dry run looks inside."""
    hints = Hints()
    inner = b'{"msg":"Deprecated tool used","toolName":"t"}'
    hints.add(b"mcp-1  | " + inner)
    hints.add(obj(log=inner.decode(), stream="stdout", time=AT))
    hints.add_record({"@timestamp": AT, "message": inner.decode()})

    (hint,) = hints.top()
    assert (hint.message, hint.count) == ("Deprecated tool used", 3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logger-rfc5424-tcp-octet.bin", {"event": 1}),
        ("rsyslog-tcp-lf.bin", {"event": 3, "ignored": 2}),
        ("rsyslog-tcp-octet.bin", {"event": 3, "ignored": 2}),
        ("journal.export", {"event": 2}),
        ("logstash-async.ndjson", {"event": 3, "ignored": 2}),
        ("splunk-handler.ndjson", {"event": 3, "ignored": 2}),
        ("splunk-logging.ndjson", {"event": 3}),
        ("splunk-hec-handler.ndjson", {"event": 1}),
        ("winston-splunk.ndjson", {"event": 1}),
        ("winston-elasticsearch.ndjson", {"event": 1}),
    ],
)
def test_what_real_senders_write_is_read(name: str, expected: dict[str, int]) -> None:
    """Recorded from the programs themselves: of five lines three are stale calls."""
    body = (DATA / "wrapped" / name).read_bytes()

    assert tally(outcomes(body, LATER)) == expected


def test_the_clock_of_these_tests_is_later_than_their_lines() -> None:
    """AT is what it says."""
    assert ns_of("2026-10-05T10:20:00") + 250_000_000 == AT_NS < ns_of(NOW[:-1])
