"""Lines of text become records where their form is known, and no user's words become a field."""

import json
import logging
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from structlog.processors import LogfmtRenderer

from service.events import Event, Ignored, Kind, Reason, Rejected
from service.ingest.explain import explain
from service.ingest.profiles import load_profiles
from service.ingest.recognise import Recogniser
from tests.ingest.support import CALL_NS, DATA, HASHER, TIME, only_event, recogniser, tally
from tests.ingest.test_logfmt import written

READER = recogniser()
STAMP = "2026-10-05 10:15:02,114"


def outcome(line: str, reader: Recogniser = READER) -> object:
    found = reader.line(line.encode(errors="surrogatepass"))
    return found.reason.value if isinstance(found, Rejected) else found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('msg="Retired tool called" tool=t', "event"),
        ('msg="Retired tool called"', "missing_tool"),
        ('time=soon msg="Retired tool called" tool=t', "bad_timestamp"),
        ('msg="Retired tool called" tool=t and so on', "invalid_pairs"),
        ('msg="Retired tool called" tool="t', "invalid_pairs"),
        ('msg="Retired tool called" tool=a tool=b', "invalid_pairs"),
        ('msg="Retired tool called" tool=t attempt=1 attempt=2', "event"),
        ('msg="Retired tool called" tool=t tool=t', "event"),
        ("method=tools/list", "event"),
        ("method=tools/list and so on", "ignored"),
        ("method=tools/list sessionId=a sessionId=b", "ignored"),
        ("msg=Retired tool called tool=t", "ignored"),
        ('q="Retired tool called" tool=t', "ignored"),
        ("Retired tool called tool=t", "ignored"),
        ("Unknown tool: 't'", "ignored"),
        (f"{STAMP} - a - ERROR - Unknown tool: 't'", "event"),
        (f"{STAMP} - a - ERROR - No: Unknown tool: 't'", "ignored"),
        ("ERROR:a:Tool t not found", "event"),
        ("USER:a:Tool t not found", "ignored"),
        (f"{STAMP} - a - ERROR - Unknown tool: 't client=c'", "ignored"),
        (f"{STAMP} - a - WARNING - Retired tool called tool=t", "event"),
        (f"{STAMP} - a - WARNING - Retired tool called tool=t client=Claude Code", "invalid_pairs"),
        (f"{STAMP} - a - WARNING - Retired tool called tool=t name=b", "event"),
        (f"{STAMP} - a - WARNING - Retired tool called tool=t asctime=b", "invalid_pairs"),
        (f"{STAMP} - a - WARNING - Retired tool called", "missing_tool"),
        (f"{STAMP} - a - INFO - event=request_start method=tools/call tool=t", "ignored"),
        (f"{STAMP} - a - INFO - event=request_error method=tools/call error=Unknown tool: 't'", "ignored"),
    ],
)  # fmt: skip
def test_each_line_of_text_has_one_outcome(line: str, expected: str) -> None:
    """Ours and unusable is rejected, what says nothing is ignored, and neither is ever broken JSON."""
    found = READER.line(line.encode())
    assert found is not None

    assert next(iter(tally([found]))) == expected


WORDS = (
    'x msg="Retired tool called" tool=forged client=victim',
    'x" msg="Retired tool called" tool="forged" client="victim',
    "x method=tools/call tool=forged client=victim",
    'x" method=tools/call tool="forged',
    'x" mcp_method="tools/call" mcp_name="forged',
    "x mcp_method=tools/call mcp_name=forged",
    "x event=request_error error=Unknown tool: 'forged'",
    'x\\" msg="Retired tool called" tool="forged',
    f"x - - {STAMP} - a - ERROR - Unknown tool: 'forged'",
)
"""What somebody would like to be counted, for loggers that quote in some way or in none."""

SLOPPY = (
    'time={time} level=INFO msg="user said" q={words}',
    'time={time} level=INFO msg="user said" q="{words}"',
    "time={time} level=INFO msg={words}",
    'time={time} level=INFO msg="said {words}"',
    "level=info user={words} path=/",
    'level=info user="{words}" path=/',
    "user={words} msg=done",
    'time={time} level=INFO user="{words}" msg="request done" method=GET',
    "{stamp} - app - INFO - user said {words}",
    "{stamp} - app - INFO - q={words}",
    '{stamp} - app - INFO - q="{words}"',
    "INFO:app:said {words}",
    "mcp-1  | said {words}",
    "[{stamp}] said {words}",
)
"""Loggers that print a user's words as they are, within a message or as a value."""


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("template", SLOPPY)
def test_no_words_become_a_call_where_a_logger_does_not_quote(template: str, words: str) -> None:
    """A message or method counts only in front of whatever a user could have written."""
    line = template.format(time=TIME, stamp=STAMP, words=words)

    assert not isinstance(READER.line(line.encode()), Event), line


@pytest.mark.parametrize("words", WORDS)
def test_words_in_a_call_of_ones_own_name_no_other_tool(words: str) -> None:
    """Where the logger quotes, the words are the name; where it does not, the line is rejected."""
    quoted = only_event(f'time={TIME} level=WARN msg="Tool called" tool={written(words)}'.encode())
    bare = READER.line(f'time={TIME} level=WARN msg="Tool called" tool={words} client=c'.encode())

    assert (quoted.tool, quoted.client) == (words, None)
    assert not isinstance(bare, Event) or bare.tool in ("x", words)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.integers(0, 3))
@example('x" msg="Retired tool called" tool="forged', 0)
def test_words_that_slog_wrote_stay_where_they_are(words: str, at: int) -> None:
    """Whatever they are, they are the value that they were logged as, and nothing else."""
    pairs = [("tool", "t"), ("client", "c"), ("sessionId", "s")]
    pairs.insert(at, ("q", words))
    line = f'time={TIME} level=WARN msg="Retired tool called" ' + " ".join(
        f"{key}={written(value)}" for key, value in pairs
    )

    event = only_event(line.encode())
    assert (event.kind, event.tool, event.client, event.session) == (Kind.STALE_CALL, "t", "c", "s")


@pytest.mark.parametrize(
    ("tool", "client"),
    [("t", "c"), ("a b", 'C "x"'), ("t=u", "a=b"), ("café", "C:\\dir x\\y"), ("t", "🤖 é")],
)
def test_what_structlog_and_logging_write_is_read(tool: str, client: str) -> None:
    """The real ones, as the guide sets them up."""
    render = LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False)
    said = {"tool": tool, "client": client, "fresh": True, "none": None}
    rendered = render(
        None, "", {**said, "event": "Retired tool called", "level": "warning", "timestamp": TIME}
    )
    pairs = " ".join(f"{key}={json.dumps(said[key])}" for key in ("tool", "client"))
    record = logging.LogRecord(
        "maps", logging.WARNING, "", 0, f"Retired tool called {pairs}", None, None
    )
    record.created, record.msecs = 1791195302.114, 114.0
    formatter = logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s")
    formatter.converter = time.gmtime

    for line in (rendered, formatter.format(record)):
        event = only_event(str(line).encode())
        assert (event.kind, event.tool, event.client) == (Kind.STALE_CALL, tool, client)
        assert event.time_ns == CALL_NS


PROXIES = DATA / "proxies"


@pytest.mark.parametrize("name", ["nginx.log", "nginx.ndjson", "apache.log", "caddy.ndjson"])
def test_lines_that_real_proxies_wrote_are_read(name: str) -> None:
    """
    Six requests, logged by nginx 1.22, Apache 2.4 and Caddy 2.6: one without MCP, two calls, a listing, one
    whose user, referer and agent hold quotes and pairs, and one whose headers claim a notification.
    """
    found = [READER.line(line) for line in (PROXIES / name).read_bytes().splitlines()]

    assert [each.kind if isinstance(each, Event) else each for each in found] == [
        Ignored(), Kind.CALL, Kind.CALL, Kind.LISTING, Ignored(), Ignored(),
    ]  # fmt: skip
    calls = [each for each in found if isinstance(each, Event)]
    assert [each.tool for each in calls] == ["tomtom-ev-routing", "café", None]
    assert [each.session for each in calls] == [None, "s1", None]
    assert [each.protocol_version for each in calls] == ["2026-07-28", None, None]
    assert {each.address for each in calls} == {"127.0.0.1"}
    assert [each.user_agent for each in calls] == ["claude-code/2.1.204 (cli)"] * 2 + ["node"]
    assert {(each.client, each.outcome) for each in calls} == {(None, None)}


ACCESS = '203.0.113.7 - - [05/Oct/2026:10:15:02 +0000] "POST /mcp HTTP/1.1" 200 2 "-" "node"'


@pytest.mark.parametrize(
    ("added", "tool"),
    [
        ('mcp_method="tools/call" mcp_name="t"', "t"),
        ('rt=0.012 "-" mcp_method="tools/call" mcp_name="t" upstream="10.0.0.1:80"', "t"),
        ('mcp_method="tools/call" mcp_name="=?BASE64?dA==?="', "=?BASE64?dA==?="),
        ('mcp_method="tools/call" mcp_name="=?base64?%%?="', "=?base64?%%?="),
        ('mcp_method="tools/call" mcp_name="=?base64?/w==?="', "=?base64?/w==?="),
        ('mcp_method="tools/call" mcp_name="a\\x22 b"', 'a" b'),
        ("mcp_method=tools/call mcp_name=t", None),
        ('ua=x mcp_method=tools/call mcp_name=t mcp_method="-" mcp_name="-"', None),
        ('mcp_method="tools/call" mcp_name="t" mcp_name="u"', None),
        ('mcp_method="tools/call" mcp_name="t', None),
        ('mcp_method="tools/call" mcp_name="t"x', None),
        ('mcp_method="initialized" q="tools/call"', None),
    ],
)
def test_what_was_added_to_an_access_log_is_read_where_it_is_quoted(
    added: str, tool: str | None
) -> None:
    """Proxies escape quotes, so that a header cannot end one; bare text could be anything."""
    found = READER.line(f"{ACCESS} {added}".encode())

    assert (found.tool if isinstance(found, Event) else None) == tool
    assert isinstance(found, Event | Ignored)


@pytest.mark.parametrize(
    "record",
    [
        {"mcp_method": "notifications/tools/list_changed", "status": 202, "time": TIME},
        {
            "mcp_method": "notifications/tools/list_changed",
            "response_code": 202,
            "start_time": TIME,
        },
        {"mcp_method": "subscriptions/listen", "mcp_name": "", "status": 200, "time": TIME},
        {"http_mcp_method": "notifications/tools/list_changed", "status": 202},
        {"request_Mcp-Method": "notifications/tools/list_changed", "level": "info", "msg": ""},
    ],
)
def test_a_header_that_says_what_only_servers_do_is_nobodys_event(
    record: dict[str, object],
) -> None:
    """Nor is any other profile asked: whoever sends a request chooses its headers."""
    assert READER.line(json.dumps(record).encode()) == Ignored()
    assert explain(json.dumps(record).encode(), READER).tried[-1].why_not is not None


@pytest.mark.parametrize(
    "line",
    [
        f'{ACCESS} mcp_method="tools/call" mcp_name="-"',
        f'{ACCESS} mcp_method="tools/call"',
        json.dumps({"mcp_method": "tools/call", "status": 400, "time": TIME}),
        json.dumps({"mcp_method": "tools/call", "response_code": 400, "start_time": TIME}),
        json.dumps({"http_mcp_method": "tools/call", "http_mcp_name": "", "status": 400}),
        json.dumps({"request_Mcp-Method": "tools/call", "level": "info", "msg": ""}),
        json.dumps({"request": {"headers": {"Mcp-Method": ["tools/call"]}}, "ts": 1791195302.114}),
        json.dumps({"envoy.filters.http.mcp": {"method": "tools/call"}, "start_time": TIME}),
    ],
)
def test_a_request_that_names_no_tool_is_nothing(line: str) -> None:
    """A stranger could fill the quarantine with such; a server's own call without a tool is rejected."""
    assert READER.line(line.encode()) == Ignored()
    assert "names no tool" in explain(line.encode(), READER).why
    assert outcome('msg="Retired tool called"') != Ignored()


@pytest.mark.parametrize(
    "line",
    [
        f'time={TIME} level=WARN msg="Retired tool called" tool=t'.encode(),
        f"{STAMP} - maps - WARNING - Retired tool called tool=t".encode(),
    ],
)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: json.dumps({"log": text + "\n", "stream": "stderr", "time": TIME}),
        lambda text: json.dumps({"@timestamp": TIME, "message": text, "host": {"name": "h"}}),
        lambda text: json.dumps({"MESSAGE": text, "__REALTIME_TIMESTAMP": "1791195302114000"}),
        lambda text: json.dumps({"time": 1791195302.114, "sourcetype": "x", "event": text}),
        lambda text: f"2026-10-05T10:15:02.114000000Z stderr F {text}",
        lambda text: f"mcp-1  | {text}",
        lambda text: f"<14>1 {TIME} host app 7 - - {text}",
        lambda text: f"<14>Oct  5 10:15:02 host app[7]: {text}",
        lambda text: f"\x1b[33m{text}\x1b[0m",
        lambda text: json.dumps(
            {"log": f"mcp-1  | {text}\n", "stream": "stderr", "time": TIME}
        ),
    ],
)  # fmt: skip
def test_text_is_read_within_wrappers(line: bytes, wrap: object) -> None:
    """What is taken off a JSON line is taken off a line of text; the record is the same."""
    assert callable(wrap)

    assert only_event(wrap(line.decode()).encode()) == only_event(line)


def test_docker_and_kubectl_put_a_time_in_front_of_pairs() -> None:
    """It counts where the line has none of its own."""
    event = only_event(f'{TIME} level=WARN msg="Retired tool called" tool=t'.encode())

    assert event.time_ns == CALL_NS


def test_a_message_that_resembles_pairs_stays_a_message() -> None:
    """An object that is no wrapper is what its logger wrote."""
    record = {"level": "info", "time": TIME, "msg": f'time={TIME} msg="Retired tool called" tool=t'}

    assert READER.line(json.dumps(record).encode()) == Ignored()


@pytest.mark.parametrize(
    "line",
    [
        f"time={TIME} level=INFO msg=started",
        f'time="{TIME}" level=info msg=started',
        f"level=info ts={TIME} caller=a.go:1 msg=started",
        f"{STAMP} - app - INFO - started",
        '203.0.113.7 - bob [05/Oct/2026:12:15:02.114 +0200] "GET / HTTP/1.1" 200 2',
        f"mcp-1  | time={TIME} level=INFO msg=started",
    ],
)
def test_a_line_of_no_interest_says_when_it_was_written(line: str) -> None:
    """A log of text is heard as well as one of JSON."""
    assert READER.line_time(line.encode()) == CALL_NS


def test_identities_are_hashed_in_what_is_kept_of_rejected_text() -> None:
    """Also under a key with dots; text that was read is not replayed, for it is kept as its fields."""
    found = READER.line(f'time={TIME} msg="Retired tool called" data.sessionId=secret'.encode())

    assert isinstance(found, Rejected)
    assert (found.reason, found.whole, found.time_ns) == (Reason.MISSING_TOOL, False, CALL_NS)
    assert "secret" not in found.excerpt
    assert "lastcall-hash:" in found.excerpt


OWN = """
name = "ours"
format = "logfmt"
head = ["at", "text"]
[paths]
time = "at"
message = "text"
method = "verb"
tool = "called.name"
[kinds.messages]
"gone" = "stale_call"
"""


def test_a_users_own_profile_reads_text(tmp_path: Path) -> None:
    """It names its keys, and those that may stand in front; JSON it leaves alone."""
    path = tmp_path / "ours.toml"
    path.write_text(OWN)
    reader = Recogniser(load_profiles([path]), HASHER, clock=lambda: CALL_NS // 1000)

    gone = only_event(f"at={TIME} text=gone called.name=t".encode(), reader)
    called = only_event(f"at={TIME} text=any verb=tools/call called.name=t".encode(), reader)
    assert (gone.profile, gone.kind, gone.tool, gone.time_ns) == (
        "ours",
        Kind.STALE_CALL,
        "t",
        CALL_NS,
    )
    assert (called.kind, called.tool) == (Kind.CALL, "t")
    assert outcome(f"at={TIME} q=any verb=tools/call called.name=t", reader) == Ignored()
    assert outcome('{"text":"gone","called":{"name":"t"}}', reader) == Ignored()
