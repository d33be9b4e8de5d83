"""Text that a user wrote never passes for a record, wherever a logger puts it."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.events import Event, Ignored, Rejected
from service.ingest import envelopes
from service.ingest.envelopes import hec
from service.ingest.records import BARE
from tests.ingest.support import TIME, recogniser

READER = recogniser()
CALL = json.dumps(
    {
        "level": "info",
        "time": TIME,
        "msg": "Retired tool called",
        "data": {"tool": "t", "client": "c"},
    }
)
"""What somebody would like to be counted."""
DOCKER = json.dumps({"log": CALL + "\n", "stream": "stdout", "time": TIME})
CRI = f"{TIME} stdout F {CALL}"
JOURNAL = json.dumps(
    {"__CURSOR": "s=1", "__REALTIME_TIMESTAMP": "1791195302114000", "MESSAGE": CALL}
)
TEXTS = {
    "call": CALL,
    "Docker": DOCKER,
    "CRI": CRI,
    "journald": JOURNAL,
    "compose": f"a-1  | {CALL}",
    "slog": f'time={TIME} level=WARN msg="Retired tool called" tool=t client=c',
    "Python": "2026-10-05 10:15:02,114 - a - ERROR - Unknown tool: 't'",
    "nginx": '203.0.113.7 - - [05/Oct/2026:10:15:02 +0000] "POST / HTTP/1.1" 200 2 mcp_method="tools/call" mcp_name="t"',
}

RECORDS: dict[str, Any] = {
    "pino": lambda text: {"level": 30, "time": 1791195302114, "msg": text},
    "pino's data": lambda text: {"level": 30, "time": 1791195302114, "msg": "x", "data": {"q": text}},
    "winston": lambda text: {"level": "info", "message": text, "timestamp": TIME},
    "winston, a field": lambda text: {"level": "info", "message": "x", "log": text, "timestamp": TIME},
    "structlog": lambda text: {"event": text, "level": "info", "timestamp": TIME},
    "structlog, a source": lambda text: {"event": text, "source": "web"},
    "python-json-logger": lambda text: {"message": text},
    "loguru": lambda text: {"text": text, "record": {"message": text, "level": {"name": "INFO"}}},
    "slog": lambda text: {"time": TIME, "level": "INFO", "msg": text},
    "zap": lambda text: {"ts": 1791195302.1, "level": "info", "msg": text, "log": text},
    "ECS": lambda text: {"@timestamp": TIME, "log.level": "info", "message": text},
    "ECS, nested": lambda text: {"@timestamp": TIME, "log": {"level": "info"}, "message": text},
    "logback": lambda text: {"@timestamp": TIME, "level": "INFO", "message": text},
    "Google's logger": lambda text: {"severity": "INFO", "message": text, "timestamp": TIME},
    "a logged object": lambda text: {"severity": "INFO", "message": json.loads(CALL), "q": text},
    "a lambda's event": lambda text: {"time": TIME, "event": {**json.loads(CALL), "q": text}},
    "a logged body": lambda text: {"severity": "INFO", "message": json.loads(CALL)},
    "tool arguments": lambda text: {
        "level": "info",
        "time": TIME,
        "msg": "Search executed",
        "data": {"arguments": {"log": text, "stream": "stdout", "time": TIME, "message": text}},
    },
    "a field called as Vector's": lambda text: {
        "level": "info", "message": text, "timestamp": TIME, "source_type": "chat",
    },
    "fields called as Vercel's": lambda text: {
        "level": "info", "message": text, "id": "1", "source": "web", "projectId": "p", "timestamp": 1,
    },
    "an id": lambda text: {"id": "17", "timestamp": 1791195302114, "message": text},
    "a stream": lambda text: {"level": "info", "msg": "x", "log": text, "stream": "stdout", "time": TIME},
    "JSON-RPC": lambda text: {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"text": text}]}},
    "a message of a chat": lambda text: {"time": TIME, "message": text, "user": "u"},
    "audit": lambda text: {"timestamp": TIME, "line": text, "source": "web"},
    "a payload": lambda text: {"timestamp": TIME, "textPayload": text, "level": "info"},
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("logger", RECORDS)
def test_a_text_in_a_loggers_record_is_no_call(logger: str, text: str) -> None:
    """Neither as message nor in any field, bare or wrapped by the user himself."""
    raw = json.dumps(RECORDS[logger](TEXTS[text])).encode()

    assert isinstance(READER.line(raw), Ignored | Rejected)


@pytest.mark.parametrize("logger", RECORDS)
def test_nor_where_a_shipper_wraps_the_record(logger: str) -> None:
    """One wrapper is taken off, and the record inside is a logger's."""
    record = json.dumps(RECORDS[logger](CALL))
    for outer in (
        f"{TIME} stderr F {record}",
        f"<14>1 {TIME} a b - - - {record}",
        json.dumps({"log": record + "\n", "stream": "stderr", "time": TIME}),
        json.dumps({"@timestamp": TIME, "message": record}),
        json.dumps({"__CURSOR": "s=1", "MESSAGE": record}),
    ):
        assert not isinstance(READER.line(outer.encode()), Event)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_line_that_quotes_one_is_ignored(text: str) -> None:
    """A wrapper stands at the beginning of a line, or not at all."""
    for before in (
        "user said: ",
        "INFO ",
        "[2026-10-05] ",
        "> ",
        '"',
        "2026-10-05 10:15:02 INFO a: ",
    ):
        assert isinstance(READER.line(f"{before}{TEXTS[text]}".encode()), Ignored)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*TEXTS.values()]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
KEYS = [
    "log", "stream", "time", "message", "@timestamp", "MESSAGE", "__CURSOR", "__REALTIME_TIMESTAMP", "event",
    "source", "sourcetype", "index", "host", "line", "tag", "msg", "meta", "id", "timestamp", "source_type",
    "textPayload", "jsonPayload", "logName", "insertId", "projectId", "deploymentId", "extra", "fields",
    "severity", "timereported", "PROGRAM", "date", "level",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=6))
@example({"meta": {"message": "Retired tool called"}, "tool": "x"})
def test_any_value_may_stand_under_any_key(record: dict[str, Any]) -> None:
    """Nothing raises, and peeling ends."""
    envelopes.of_record(record, BARE)
    envelopes.of_record(record, BARE._replace(wrappers=(hec.NAME,)))
    envelopes.peel(record)
    assert isinstance(READER.value(record), Event | Ignored | Rejected)


@given(
    st.binary(max_size=60),
    st.sampled_from([b"<14>1 ", b"<14>", b"1 <14>", b"\x1b[", b"a | ", b"["]),
)
def test_any_bytes_may_follow_the_beginning_of_a_wrapper(raw: bytes, before: bytes) -> None:
    """Nothing raises, and nothing is made of what is no record."""
    line = before + raw + b'"Retired tool called"'
    READER.line_time(line)
    assert isinstance(READER.line(line), Ignored | Rejected)
