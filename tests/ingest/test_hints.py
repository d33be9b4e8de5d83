"""Hints: what looks like tool traffic and is not read, and a profile that reads it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from service.events import Event, Kind
from service.ingest.hints import CAPACITY, Hints, suggest
from service.ingest.profiles import read_profile
from service.ingest.recognise import Recogniser
from tests.ingest.support import CALL_NS, HASHER


def hints(*records: object) -> Hints:
    found = Hints()
    for record in records:
        found.add(json.dumps(record).encode())
    return found


def test_the_most_frequent_messages_come_first() -> None:
    """Only those that speak of a tool, in their words or their fields."""
    found = hints(
        *[{"msg": "Obsolete tool hit", "name": "x"}] * 2,
        *[{"message": "invoked", "tool_id": "y"}] * 3,
        *[{"msg": "Server started", "port": 1}] * 9,
    )
    found.add(b"plain text about a tool")
    found.add(b'{"msg":"broken tool')

    assert [(hint.message, hint.count) for hint in found.top()] == [
        ("invoked", 3), ("Obsolete tool hit", 2),
    ]  # fmt: skip
    assert len(found.top(1)) == 1


def test_a_suggested_profile_reads_the_record_it_was_made_for() -> None:
    """Pasted into a file as it is, it turns the ignored record into an event."""
    record = {
        "ts": 1791195302.114,
        "message": 'Deprecated "tool" \\ used',
        "ctx": {"the.tool": "old-name", "sessionId": "s"},
    }
    (hint,) = hints(record).top()
    reader = Recogniser([read_profile(hint.profile, "hint")], HASHER, clock=lambda: CALL_NS // 1000)
    event = reader.line(json.dumps(record).encode())

    assert isinstance(event, Event)
    assert (event.kind, event.tool, event.session) == (Kind.STALE_CALL, "old-name", "s")
    assert event.time_ns == CALL_NS


def test_a_suggested_profile_reads_the_text_it_was_made_for() -> None:
    """A line of pairs, in whatever it was wrapped, is one of a logger too."""
    line = b'time=2026-10-05T10:15:02.114Z level=WARN msg="Obsolete tool hit" ctx.tool=old-name'
    found = Hints()
    found.add(b"mcp-1  | " + line)
    found.add(json.dumps({"log": f"{line.decode()}\n", "stream": "stderr", "time": "x"}).encode())
    (hint,) = found.top()
    reader = Recogniser([read_profile(hint.profile, "hint")], HASHER, clock=lambda: CALL_NS // 1000)
    event = reader.line(line)

    assert hint.count == 2
    assert isinstance(event, Event)
    assert (event.kind, event.tool, event.time_ns) == (Kind.STALE_CALL, "old-name", CALL_NS)


def test_memory_is_bounded_and_the_frequent_stay() -> None:
    """A message with an id in it makes a new one each time."""
    found = hints(*[{"msg": "tool used", "n": 1}] * 50)
    for number in range(CAPACITY * 3):
        found.add(json.dumps({"msg": f"tool {number}"}).encode())

    assert (found.top(1)[0].message, found.top(1)[0].count) == ("tool used", 50)
    assert len(found.top(10**6)) <= CAPACITY


@given(
    st.text(min_size=1),
    st.dictionaries(st.text() | st.just("tool"), st.text() | st.dictionaries(st.text(), st.text())),
)
def test_a_suggestion_is_always_a_profile(message: str, fields: dict[str, object]) -> None:
    """Whatever the texts hold: quotes, dots, control characters."""
    found = Hints()
    found.add_record({**fields, "msg": message + "tool"})
    for hint in found.top():
        assert read_profile(hint.profile, "hint").name == "my logger"


def test_suggest_names_the_place_of_the_tool() -> None:
    """The nearest to the top first."""
    toml = suggest({"event": "x", "a": {"toolkit": "k"}, "tool": "t"}, ("event",), "x")

    assert 'tool = ["tool", "a.toolkit"]' in toml


def test_a_message_under_a_key_of_its_own_is_found_too() -> None:
    """A home-made logger may call its message anything; what it says gives it away."""
    hints = Hints()
    for number in range(3):
        hints.add(
            b'{"at": "2026-10-05T10:15:0%dZ", "what": "removed tool was asked for", "toolName": "gone"}'
            % number
        )
    (hint,) = hints.top()

    assert (hint.message, hint.count) == ("removed tool was asked for", 3)
    profile = read_profile(hint.profile, "hint")
    assert ("what",) in profile.paths["message"]
