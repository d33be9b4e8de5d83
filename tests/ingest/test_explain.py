"""Explain says of one line what became of it, from where, and why not otherwise."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import terminal
from service.events import Event, Ignored, Rejected
from service.ingest.explain import Explanation, Found, Tried, explain
from service.ingest.keys import identity
from service.ingest.profiles import load_profiles
from service.ingest.recognise import Recogniser
from tests.ingest.support import CALL_NS, HASHER, SECRETS, TIME, recogniser

READER = recogniser()


def of(record: object) -> Explanation:
    return explain(json.dumps(record).encode(), READER)


def test_a_field_with_several_values_is_shown_as_people_write_it() -> None:
    data = {"tool": "t", "client": "c", "replacedBy": ["one", "two"]}
    found = of({"time": 1790000000000, "msg": "Retired tool called", "data": data})

    shown = {each.field: each.value for each in found.fields}
    assert shown["replaced_by"] == "one, two"


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
    assert found.tried[-1] == Tried("pino with data", None)
    assert found.fields == (
        Found("client", "c", "data.client_name"),
        Found("message", "Retired tool called", "msg"),
        Found("session", "s1", "data.sessionId"),
        Found("time", "2026-10-05T10:15:02.114Z", "time"),
        Found("tool", "t", "data.tool"),
    )
    assert found.why == "A stale call, read by the profile pino with data."
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

    assert found.tried[-4:] == (
        Tried("pino with data", "nothing at msg"),
        Tried("pino", "nothing at msg"),
        Tried("loguru", "nothing at record.message"),
        Tried("structlog", None),
    )
    assert "takes that of its arrival" in found.why


def test_a_message_that_counts_as_nothing_ends_the_search() -> None:
    """The profile that knows it is the last that is asked."""
    found = of({"event": "request_success", "method": "tools/call", "source": "client"})

    assert isinstance(found.outcome, Ignored)
    assert found.tried[-1].profile == "FastMCP"
    assert "no other profile is asked" in (found.tried[-1].why_not or "")


def test_a_proxys_method_that_is_no_kind_ends_the_search() -> None:
    """A stranger chose it, so that no other profile may take it for something."""
    found = of({"http_mcp_method": "resources/read", "mcp_method": "tools/list", "time": TIME})

    assert isinstance(found.outcome, Ignored)
    assert found.tried[-1] == Tried(
        "nginx JSON", "method 'resources/read' counts as nothing; no other profile is asked"
    )


def test_profiles_for_other_lines_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that have something to say are not lost among them; all are in the data."""
    found = of({"msg": "hello", "q": "Retired tool called"})
    terminal.explanation(found)
    printed = capsys.readouterr().out

    assert [line for line in printed.splitlines() if line.startswith("  profile ")] == [
        "  profile pino: message 'hello' is no kind that it knows",
        "  profile plain JSON: message 'hello' is no kind that it knows",
    ]
    assert f"  {len(found.tried) - 2} other profiles are for lines with other keys" in printed
    assert len(found.as_json()["profiles"]) == len(found.tried)  # type: ignore[arg-type]


def test_a_profile_of_ones_own_says_which_key_it_misses(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Whoever writes one asks just that."""
    path = tmp_path / "ours.toml"
    path.write_text('name = "ours"\nrequires = ["text"]\nunder = [""]\n[paths]\nmessage = "text"\n')
    reader = Recogniser(load_profiles([path]), HASHER)
    terminal.explanation(explain(b'{"msg":"hello","q":"Retired tool called"}', reader))

    assert "  profile ours: nothing at text\n" in capsys.readouterr().out


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

    assert Tried("pino with data", "a stale_call without a tool") in found.tried
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
    assert found.why == "A stale call, read by the profile logfmt."


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
