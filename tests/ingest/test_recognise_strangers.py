"""What strangers write: no time, broken bytes, identities, anything in any field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.events import Event, Ignored, Reason, Rejected
from service.ingest.keys import identity
from tests.ingest.support import (
    CALL_NS,
    SECRETS,
    line,
    only_event,
    recogniser,
)

READER = recogniser()


def test_a_record_without_a_time_waits_for_its_arrival() -> None:
    """No time and a null time alike."""
    assert only_event(b'{"msg":"Retired tool called","tool":"t"}').time_ns is None
    assert only_event(b'{"msg":"Retired tool called","tool":"t","time":null}').time_ns is None


def test_bytes_that_are_not_utf8_cost_nothing_but_themselves() -> None:
    """The record counts, the bytes become U+FFFD."""
    assert only_event(b'{"msg":"Retired tool called","tool":"caf\xe9"}').tool == "caf\ufffd"


def test_a_rejected_record_keeps_no_identity() -> None:
    """Session, principal and address stand as hashes, in every spelling that any profile reads."""
    raw = line(client="c", sessionId="s-secret", user_id=4711, ip="203.0.113.77", session_id="s2")
    outcome = READER.line(raw)

    assert isinstance(outcome, Rejected)
    assert outcome.reason is Reason.MISSING_TOOL
    assert outcome.time_ns == CALL_NS
    assert outcome.whole
    shown = json.loads(outcome.excerpt)["data"]
    assert shown["client"] == "c"
    assert shown["sessionId"] == "lastcall-hash:" + identity(SECRETS, "session", "s-secret")
    assert shown["session_id"] == "lastcall-hash:" + identity(SECRETS, "session", "s2")
    assert shown["user_id"] == "lastcall-hash:" + identity(SECRETS, "principal", "4711")
    assert shown["ip"] == "lastcall-hash:" + identity(SECRETS, "address", "203.0.113.77")


def test_an_excerpt_is_the_first_two_kib() -> None:
    """Cut between characters, and it says so."""
    outcome = READER.line(b'{"msg":"x' + "é".encode() * 3000)

    assert isinstance(outcome, Rejected)
    assert outcome.excerpt == '{"msg":"x' + "é" * 1019
    assert not outcome.whole


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (line("Anything", x=1), CALL_NS),
        (b'{"ts":1791195302.114,"msg":"x"}', CALL_NS),
        (b'{"record":{"time":{"repr":"x","timestamp":1791195302.114}}}', CALL_NS),
        (b"2026-10-05T10:15:02.114Z INFO started", CALL_NS),
        (b"[2026-10-05 10:15:02.114] INFO started", CALL_NS),
        (b"INFO started at 2026-10-05T10:15:02.114Z", None),
        (b'\0{"ti\0me":"2026-10-05T10:15:02.114Z"}', CALL_NS),
        (b'{"time":"never"}', None),
        (b'{"time":"1601-01-01T00:00:00Z"}', None),
        (b"", None),
    ],
)
def test_the_time_of_any_line_is_seen_in_passing(raw: bytes, expected: int | None) -> None:
    """Coverage hears a source also where nothing is ours."""
    assert READER.line_time(raw) == expected


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted(
    {path[-1] for e in READER.extractors for paths in e.profile.paths.values() for path in paths}
    | {"data", "meta", "params", "clientInfo", "record", "extra"}
)
MESSAGES = st.sampled_from(["Retired tool called", "Tools listed", "Tool x not found"])


@given(
    top=st.dictionaries(st.sampled_from(FIELDS), ANY_JSON | MESSAGES, max_size=6),
    data=st.dictionaries(st.sampled_from(FIELDS), ANY_JSON, max_size=6),
    message=MESSAGES | ANY_JSON,
)
def test_any_value_in_any_field_has_exactly_one_outcome(
    top: dict[str, Any], data: dict[str, Any], message: object
) -> None:
    """Nothing raises, and what comes back can be stored and written as UTF-8."""
    record = {**top, "data": data, "msg": message}
    for outcome in (READER.value(record), READER.line(json.dumps(record).encode())):
        assert isinstance(outcome, Event | Rejected | Ignored)
        str(outcome).encode()
        if isinstance(outcome, Event):
            assert "\0" not in "".join(text for _, text in outcome.key_fields)


@given(st.binary(max_size=200) | st.binary(max_size=40).map(lambda b: b'{"msg":"Tools listed' + b))
def test_any_bytes_have_an_outcome(raw: bytes) -> None:
    """No line, however broken, fails its neighbours."""
    assert READER.line(raw) is None or isinstance(READER.line(raw), Event | Rejected | Ignored)
