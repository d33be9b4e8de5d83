"""Explain says of one line what became of it, from where, and why not otherwise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Event, Ignored, Rejected
from service.ingest.explain import Explanation, Found, Tried, explain
from service.ingest.keys import identity
from tests.ingest.support import CALL_NS, SECRETS, TIME, recogniser

READER = recogniser()


def of(record: object) -> Explanation:
    return explain(json.dumps(record).encode(), READER)


def test_an_event_is_explained_field_by_field() -> None:
    """Each with the place it came from; identities enter the key as hashes."""
    found = of(
        {
            "time": "2026-10-05T10:15:02.114Z",
            "msg": "Retired tool called",
            "data": {"tool": "t", "client_name": "c", "sessionId": "s1", "noise": 1},
        }
    )

    assert isinstance(found.outcome, Event)
    assert found.tried == (Tried("pino with data", None),)
    assert found.fields == (
        Found("client", "c", "data.client_name"),
        Found("message", "Retired tool called", "msg"),
        Found("session", "s1", "data.sessionId"),
        Found("time", "2026-10-05T10:15:02.114Z", "time"),
        Found("tool", "t", "data.tool"),
    )
    assert found.why == "A stale_call, read by the profile pino with data."
    assert found.ingredients == (
        ("time", f"{CALL_NS} ns"),
        ("kind", "stale_call"),
        ("client", "c"),
        ("session", identity(SECRETS, "session", "s1")),
        ("tool", "t"),
    )


def test_profiles_that_did_not_match_say_why() -> None:
    """In the order in which they were asked."""
    found = of({"event": "Retired tool called", "tool": "t"})

    assert found.tried == (
        Tried("pino with data", "nothing at msg"),
        Tried("pino", "nothing at msg"),
        Tried("loguru", "nothing at record.message"),
        Tried("structlog", None),
    )
    assert "takes that of its arrival" in found.why


def test_a_tool_that_a_text_names_says_so() -> None:
    """There is no place of its own to point at."""
    found = of({"msg": "Tool x not found"})

    assert Found("tool", "x", "the text of the message") in found.fields


@pytest.mark.parametrize(
    ("raw", "outcome", "why"),
    [
        (b" ", type(None), "A blank line is no record."),
        (b"started", Ignored, "Ignored: it holds none of the messages"),
        (b"Retired tool called", Ignored, "Ignored: it is neither a JSON object nor text"),
        (
            b'time=soon msg="Retired tool called" tool=t',
            Rejected,
            "Rejected: bad_timestamp (its time cannot be read).",
        ),
        (
            b'msg="Retired tool called" tool=a tool=b',
            Rejected,
            "Rejected: invalid_pairs (what follows its message is no key=value throughout, or a key",
        ),
        (
            b'{"msg":"x","q":"Retired tool called"}',
            Ignored,
            "Ignored: no profile takes its message or method",
        ),
        (
            b'{"msg":"Retired tool called"}',
            Rejected,
            "Rejected: missing_tool (it is a call that names no tool where the profiles look for one).",
        ),
        (
            b'{"msg":"Reti',
            Rejected,
            "Rejected: invalid_json (it begins like JSON and cannot be parsed; perhaps it was cut).",
        ),
    ],
)
def test_every_outcome_has_a_sentence(raw: bytes, outcome: type, why: str) -> None:
    """Ignored is said with the step at which it was."""
    found = explain(raw, READER)

    assert isinstance(found.outcome, outcome)
    assert found.why.startswith(why)


def test_a_record_without_its_tool_shows_what_was_found() -> None:
    """And which profile missed the tool."""
    found = of({"msg": "Retired tool called", "data": {"client": "c"}})

    assert found.tried[0] == Tried("pino with data", "a stale_call without a tool")
    assert Found("client", "c", "data.client") in found.fields


@given(st.binary(max_size=100))
def test_any_bytes_can_be_explained(raw: bytes) -> None:
    """Whatever was pasted."""
    assert explain(raw, READER).why


def test_a_line_of_text_is_explained_field_by_field() -> None:
    """Its wrapper, its profile, and the key that each field stands under."""
    line = f'mcp-1  | time={TIME} level=WARN msg="Retired tool called" data.tool=t sessionId=s1'
    found = explain(line.encode(), READER)

    assert found.wrappers == ("docker compose",)
    assert found.tried == (Tried("logfmt", None),)
    assert found.fields == (
        Found("message", "Retired tool called", "msg"),
        Found("session", "s1", "sessionId"),
        Found("time", TIME, "time"),
        Found("tool", "t", "data.tool"),
    )
    assert found.why == "A stale_call, read by the profile logfmt."


@pytest.mark.parametrize(
    ("line", "why_not"),
    [
        (
            'msg="said" q=x method=tools/call tool=t',
            "method stands behind msg, which may hold a user's words",
        ),
        ('q=x msg="Retired tool called"', "msg stands behind q, which may hold a user's words"),
        ('msg="Retired tool called" tool=a tool=b', "tool stands there twice, and differs"),
        ('msg="Retired tool called" tool=a b', "no key=value at 'b'"),
        ('msg="Retired tool called"', "a stale_call without a tool"),
    ],
)
def test_text_that_is_not_believed_says_where(line: str, why_not: str) -> None:
    """Whoever wrote the logger can mend it."""
    assert explain(line.encode(), READER).tried == (Tried("logfmt", why_not),)
