"""Profiles are data: every built-in one reads its logger's lines, and a wrong one says what is wrong."""

import json
from pathlib import Path

import pytest

from service.events import Event, Kind
from service.ingest.keys import Delivery
from service.ingest.profiles import BadProfile, load_profiles, read_profile
from service.ingest.recognise import Recogniser
from tests.ingest.support import CALL_NS, DATA, HASHER, only_event, recogniser

NAMES = {profile.name.lower().replace(" ", "-"): profile.name for profile in load_profiles()}
SAMPLES = {
    NAMES[path.stem]: path.read_bytes().splitlines()
    for path in sorted((DATA / "profiles").iterdir())
}
WHOLE = [
    "logfmt",
    "Python text with pairs",
    "pino with data",
    "pino",
    "loguru",
    "structlog",
    "python-json-logger",
    "winston",
]
"""Loggers that can write any field."""

GOLDEN = json.loads((DATA / "golden-keys.json").read_text())
"""Profile → keys of its sample lines on server `tomtom` under the tests' secrets. A change here
would count every stored event twice: never change one, only add."""


def test_every_built_in_profile_has_a_sample() -> None:
    """No logger is claimed without a line of its own to show for it."""
    assert set(SAMPLES) == {profile.name for profile in load_profiles()}


@pytest.mark.parametrize(("name", "lines"), SAMPLES.items())
def test_a_sample_is_read_by_its_own_profile(name: str, lines: list[bytes]) -> None:
    """Each line, with its time to the millisecond, or to the second that an access log has."""
    for line in lines:
        event = only_event(line)

        assert event.profile == name
        assert event.time_ns in (CALL_NS, CALL_NS - 114_000_000)


@pytest.mark.parametrize("name", WHOLE)
def test_the_same_call_is_read_whole_from_every_logger(name: str) -> None:
    """The fields are the same, whatever the logger does to them."""
    event = only_event(SAMPLES[name][0])

    assert event.kind is Kind.STALE_CALL
    assert event.tool == "tomtom-ev-routing"
    assert (event.client, event.version) == ("claude-code", "2.1.0")
    assert (event.session, event.request_id) == ("s1", "r1")
    assert (event.last_release, event.replaced_by) == ("1.6.10", ("tomtom-route-planner",))


def test_json_rpc_names_tool_and_client_in_its_parameters() -> None:
    """Modern requests carry the client in `_meta`."""
    event = only_event(SAMPLES["plain JSON"][1])

    assert (event.kind, event.tool) == (Kind.CALL, "tomtom-route-planner")
    assert (event.client, event.version) == ("claude-code", "2.1.0")
    assert event.protocol_version == "2026-07-28"


@pytest.mark.parametrize(("name", "lines"), SAMPLES.items())
def test_keys_of_samples_never_change(name: str, lines: list[bytes]) -> None:
    """The keys in the golden file are those that databases out there hold."""
    delivery = Delivery(HASHER)

    assert [
        delivery.key("tomtom", only_event(line), position) for position, line in enumerate(lines)
    ] == GOLDEN[name]


def test_one_record_through_profiles_that_map_the_same_has_one_key() -> None:
    """structlog, winston at the top and winston under `meta` differ in spelling only."""
    lines = [SAMPLES["structlog"][0], *SAMPLES["winston"]]

    assert len({Delivery(HASHER).key("s", only_event(line), 0) for line in lines}) == 1


def test_a_logger_that_turns_from_json_to_text_says_the_same() -> None:
    """Go's slog as JSON and as text: one key, so that both copies of a call count once."""
    json_line = (
        b'{"time":"2026-10-05T10:15:02.114Z","level":"WARN","msg":"Retired tool called",'
        b'"tool":"tomtom-ev-routing","client":"claude-code","clientVersion":"2.1.0","sessionId":"s1",'
        b'"requestId":"r1","lastRelease":"1.6.10","replacedBy":["tomtom-route-planner"]}'
    )
    as_json, as_text = only_event(json_line), only_event(SAMPLES["logfmt"][0])

    assert as_json.profile == "pino"
    assert as_text._replace(profile="pino") == as_json
    assert Delivery(HASHER).key("s", as_json, 0) == Delivery(HASHER).key("s", as_text, 0)


PROFILE = """
name = "ours"
requires = ["text"]
under = ["ctx"]
[paths]
time = "at"
message = "text"
tool = ["ctx.called", ["ctx", "gen_ai.tool.name"]]
[kinds.messages]
"gone" = "stale_call"
"Tools listed" = "none"
[kinds]
unknown_tool = ["no such tool {tool}"]
greeting_tools = ["hello"]
"""


def own(tmp_path: Path) -> Recogniser:
    """A recogniser that has the profile above in front of the built-in ones."""
    path = tmp_path / "ours.toml"
    path.write_text(PROFILE)
    return Recogniser(load_profiles([path]), HASHER, clock=lambda: CALL_NS // 1000)


@pytest.mark.parametrize(
    ("record", "kind", "tool"),
    [
        ({"text": "gone", "ctx": {"called": "a"}}, Kind.STALE_CALL, "a"),
        ({"text": "gone", "ctx": {"gen_ai.tool.name": "b"}}, Kind.STALE_CALL, "b"),
        ({"text": "gone", "ctx": {"toolName": "c"}}, Kind.STALE_CALL, "c"),
        ({"text": "no such tool d"}, Kind.UNKNOWN_CALL, "d"),
        ({"text": "Tool called", "ctx": {"tool": "hello"}}, Kind.HELLO, "hello"),
        ({"text": "Retired tool called", "ctx": {"tool": "e"}}, Kind.STALE_CALL, "e"),
    ],
)
def test_a_users_own_profile_comes_first(
    tmp_path: Path, record: dict[str, object], kind: Kind, tool: str
) -> None:
    """Its words and places are tried before ours; what it does not say is as usual."""
    event = own(tmp_path).line(json.dumps(record).encode())

    assert isinstance(event, Event)
    assert (event.profile, event.kind, event.tool) == ("ours", kind, tool)


def test_a_profile_can_take_a_message_away(tmp_path: Path) -> None:
    """`none` in its table means that this logger's message is something else."""
    assert not isinstance(own(tmp_path).line(b'{"text":"Tools listed"}'), Event)


def test_every_message_and_method_has_its_needle() -> None:
    """A profile's own words make lines ours, however they are escaped."""
    reader = recogniser()
    for profile in load_profiles():
        own = [profile.needle] if profile.needle else [*profile.messages, *profile.methods]
        for text in own:
            assert reader.has_needle(json.dumps({"a": text}).encode())
            assert reader.has_needle(json.dumps({"a": text}).replace("/", "\\/").encode())


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ("name = ", "not TOML"),
        ("requires = []", "`name`"),
        ('name = "x"\ncolour = 1', "`colour`"),
        ('name = "x"\nunder = [""]\n[paths]\ntools = "a"', "`paths.tools`"),
        ('name = "x"\nunder = [""]\n[paths]\ntool = 5', "`paths.tool`"),
        ('name = "x"\nunder = [""]\n[paths]\ntool = "a..b"', "`paths.tool`"),
        ('name = "x"\nunder = [""]\nkey_fields = ["time"]', "`key_fields`"),
        ('name = "x"\nunder = [""]\n[kinds.messages]\n"a" = "odd"', '`kinds.messages."a"`'),
        ('name = "x"\nunder = [""]\n[kinds]\nunknown_tool = ["gone"]', "`kinds.unknown_tool`"),
        ('name = "x"', "`paths`"),
        ('name = "x"\nunder = [""]\nkind = "odd"', "`kind`"),
        ('name = "x"\nunder = [""]\nkind = "call"', "`needle`"),
        ('name = "x"\nunder = [""]\nrequires = ["a.b"]\nneedle = "c"', "`needle`"),
        ('name = "x"\nunder = [""]\noutcome = "odd"', "`outcome`"),
        ('name = "x"\nunder = [""]\njson = [""]', "`json`"),
        ('name = "x"\nunder = ["a"]\njson = ["a"]', "`json`"),
        ('name = "x"\nunder = [""]\n[kinds]\ninherit = 1', "`kinds.inherit`"),
        ('name = "x"\nunder = [""]\n[kinds.both]\n"a" = "call"', '`kinds.both."a"`'),
        ('name = "x"\nunder = [""]\n[kinds.both]\n"a b" = "none"', '`kinds.both."a b"`'),
        ('name = "x"\nunder = [""]\n[kinds.methods]\n"a" = "odd"', '`kinds.methods."a"`'),
        ('name = "x"\nunder = [""]\nformat = "logfmt"\njson = ["a"]', "`json`"),
        (
            'name = "x"\nunder = [""]\nformat = ["json", "logfmt"]\nrequires = ["a"]\nneedle = "a"\nkind = "call"',
            "`kind`",
        ),
        ('name = "x"\nunder = [""]\nformat = "yaml"', "`format`"),
        ('name = "x"\nunder = [""]\nformat = ["logfmt", 5]', "`format`"),
        ('name = "x"\nunder = [""]\nformat = "logfmt"\nhead = "msg"', "`head`"),
        ('name = "x"\nunder = [""]\nhead = ["msg"]', "`head`"),
        ('name = "x"\nunder = [""]\nheaders = 1', "`headers`"),
    ],
)
def test_a_wrong_profile_is_refused_with_file_and_key(toml: str, key: str) -> None:
    """Whoever wrote it can mend it without reading our code."""
    with pytest.raises(BadProfile) as refused:
        read_profile(toml, "mine.toml")

    assert "mine.toml" in refused.value.detail
    assert key in refused.value.detail


def test_a_profile_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A mistyped path is an error, not an absent profile."""
    with pytest.raises(BadProfile, match=r"nowhere\.toml"):
        load_profiles([tmp_path / "nowhere.toml"])
