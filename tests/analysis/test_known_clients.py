"""
Known clients. The names are those that two public registries of MCP clients list; what each client is
expected to do was read off the reports that the rows name, version by version.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from service.analysis.known import BadClients, Clients, load_clients, read_clients
from service.app import create_app
from service.settings import Settings

REGISTERED = """
claude-code | claude-ai | Anthropic/ClaudeAI | Anthropic/API | openai-mcp | ChatGPT | cursor-vscode |
Cursor | cursor | Visual Studio Code | Visual Studio Code - Insiders | Visual-Studio-Code | Code - OSS |
codex-mcp-client | Codex | codex-cli | gemini-cli | gemini-cli-mcp-client | antigravity-client |
github-copilot-developer | Windsurf | windsurf | windsurf-client | Zed | zed | Cline | Roo Code |
Roo-Code | Kilo-Code | goose | opencode | amp-mcp-client | crush | warp | Trae | Q-DEV-CLI | q-cli |
factory-cli | continue-client | continue-cli-client | JetBrains-IU-copilot-intellij |
JetBrains-IU/copilot-intellij | JetBrains-JBC-copilot-intellij | jetbrains-ai-assistant-client |
Xcode-copilot-xcode | @librechat/api-client | @n8n/n8n-nodes-langchain.mcpClientTool | Cherry Studio |
lobehub-mcp-client | com.raycast.macos | replit-workspace | CodeRabbit | Mistral | mcs |
spring-ai-mcp-client | docker-mcp-gateway | Jan-Streamable-Client
"""
NAMES = [name.strip() for name in REGISTERED.replace("\n", " ").split("|")]
OWN = """
[[client]]
names = ["claude-code"]
product = "Our fork"
kind = "product"
lists = [{ does = "cached", said = "It keeps the list.", refs = ["us/fork#1"] }]

[[client]]
names = ["nightly-*"]
product = "Our nightly job"
kind = "script"
"""


def with_own(tmp_path: Path, text: str) -> Clients:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return load_clients(path)


def test_every_registered_name_is_known() -> None:
    """All 57 of them, and none as somebody whose calls do not matter."""
    found = {name: load_clients().find(name) for name in NAMES}

    assert len(found) == 57
    assert [name for name, row in found.items() if row is None] == []
    assert {row.kind for row in found.values() if row} == {"product", "gateway", "sdk_default"}


@pytest.mark.parametrize(("name", "product", "kind"), [
    ("mcp", "a program on the Python SDK", "sdk_default"),
    ("mcp-python-client", "a program on the Python SDK", "sdk_default"),
    ("node", "a program without a name of its own", "sdk_default"),
    ("my-awesome-client", "a program that kept the name of an SDK's example", "sdk_default"),
    ("probe", "a probe or test", "probe"),
    ("preflight", "a probe or test", "probe"),
    ("test-client", "a probe or test", "probe"),
    ("coder/aibridge", "Coder AI Bridge", "gateway"),
    ("claude-code/1.0.0", "Claude Code", "product"),
    ("  Claude-Code  ", "Claude Code", "product"),
    ("claude-code (lsp-mcp 1.4.0)", "Claude Code", "product"),
    ("claude-ai (via mcp-remote 0.1.29)", "Claude Desktop or claude.ai", "product"),
    ("gemini-cli-mcp-client-myserver", "Gemini CLI", "product"),
    ("JetBrains-PY/copilot-intellij", "GitHub Copilot for JetBrains or Xcode", "product"),
])  # fmt: skip
def test_odd_spellings_are_known(name: str, product: str, kind: str) -> None:
    """Defaults of SDKs, probes, versions, bridges and the user's own names inside a name."""
    row = load_clients().find(name)

    assert row is not None
    assert (row.product, row.kind) == (product, kind)


@pytest.mark.parametrize(
    "name", [None, "", "   ", "unknown", "my-own-bot", "claude", "a(b*c", "mcp2"]
)
def test_a_name_that_nobody_reported_is_not_guessed(name: str | None) -> None:
    assert load_clients().find(name) is None


@pytest.mark.parametrize(("name", "version", "does"), [
    ("claude-code", "2.0.9", "ignores"),
    ("claude-code", "2.1.234", "unreliable"),  # not in its editor extension, nor headless
    ("claude-code", "nightly", "unreliable"),
    ("claude-code", None, "unreliable"),
    ("openai-mcp", "1.0.0", "frozen"),
    ("openai-mcp", None, "frozen"),
    ("codex-mcp-client", "0.143.9", "unknown"),
    ("codex-mcp-client", "0.148.0-alpha.9", "ignores"),
    ("codex-mcp-client", "0.154.0", "unknown"),
    ("codex-mcp-client", None, "unknown"),
    ("github-copilot-developer", "0.0.330", "ignores"),
    ("github-copilot-developer", "1.0.25", "honours"),
    ("github-copilot-developer", "1.0.0", "unreliable"),  # sent whatever the real version is
    ("gemini-cli-mcp-client-x", "0.0.1", "unreliable"),
    ("Visual Studio Code", "1.119.2", "honours"),
    ("Zed", "0.214.5", "honours"),
    ("opencode", "0.15.8", "honours"),
    ("goose", "1.10.1", "unreliable"),
    ("cursor-vscode", "1.0.0", "unreliable"),
    ("Windsurf", "1.12.3", "unknown"),
    ("Cline", None, "unknown"),
    ("@librechat/api-client", "0.8", "cached"),
    ("mcp", "0.1.0", "unknown"),
    ("mcp", "1.28.0", "ignores"),
    ("mcp", "2.3.0", "unknown"),
    ("warp", "1.0", "unknown"),
])  # fmt: skip
def test_behaviour_is_that_of_the_version(name: str, version: str | None, does: str) -> None:
    """A version in no range is unknown; one that compares with none is so only where reports differ."""
    row = load_clients().find(name)

    assert row is not None
    assert row.at(version).does == does


def test_where_a_version_compares_with_nothing_all_that_is_known_is_shown() -> None:
    """Copilot CLI sends 1.0.0 in releases of before and after the change: both ranges stand there."""
    row = load_clients().find("github-copilot-developer")

    assert row is not None
    constant, real = row.at("1.0.0"), row.at("1.0.25")
    assert (len(constant.rows), constant.compared) == (2, False)
    assert (len(real.rows), real.compared) == (1, True)
    assert [each.sentence() for each in constant.rows] == [
        "Before 0.0.354: ignores a changed list. The notification was ignored in 0.0.330. (2025-11)",
        "From 0.0.354: lists again when the list changes. It lists again; faults were reported in 2026-03. (2026-03)",
    ]
    assert constant.refs == ("github/copilot-cli#132",)


def test_each_sure_row_has_a_reference_and_each_cure_a_sentence() -> None:
    """What a row claims can be looked up; a reference is a project with a number, a file or a list."""
    form = re.compile(r"[\w.-]+/[\w.-]+(#\d+| [\w./]+)|apify list of clients")
    for row in load_clients().layers[-1]:
        for behaviour in row.lists:
            assert behaviour.refs, row.product
            assert all(form.fullmatch(ref) for ref in behaviour.refs), behaviour.refs
            assert behaviour.said.endswith("."), row.product
        assert row.refresh is None or row.refresh.endswith("."), row.product
        sure = {behaviour.does for behaviour in row.lists} - {"unknown"}
        assert row.refresh or not sure or row.kind != "product", row.product


def test_rows_of_the_users_own_go_before_ours(tmp_path: Path) -> None:
    """A name of ours is theirs where they say so; what they do not name is as it was."""
    known = with_own(tmp_path, OWN)
    fork, job, other = (known.find(n) for n in ("Claude-Code", "nightly-eval", "openai-mcp"))

    assert fork is not None
    assert job is not None
    assert other is not None
    assert (fork.product, fork.at("2.1.234").does, fork.at("2.1.234").refs) == (
        "Our fork",
        "cached",
        ("us/fork#1",),
    )
    assert (job.kind, other.product) == ("script", "ChatGPT")
    assert known.digest != load_clients().digest


GOOD = 'names = ["x"]\nproduct = "X"\nkind = "product"\n'


@pytest.mark.parametrize(("text", "says"), [
    ("[[client]\n", "not TOML"),
    ("[client]\n" + GOOD, "write each client under a line [[client]]"),
    ("[[clients]]\n" + GOOD, "`clients` is not a key here; use one of client"),
    ("[[client]]\n" + GOOD + "colour = 1\n", "client 1: `colour` is not a key here; use one of names"),
    ("[[client]]\n" + GOOD + "[[client]]\nnames = []\n", "client 2: `names` must be a list of names"),
    ('[[client]]\nnames = ["*"]\n', "`names` must be a list of names"),
    ('[[client]]\nnames = ["x"]\nkind = "product"\n', "`product` must be a text"),
    ('[[client]]\nnames = ["x"]\nproduct = "X"\nkind = "robot"\n', "`kind` must be one of product, gat"),
    ("[[client]]\n" + GOOD + 'lists = "cached"\n', "`lists` must be a list of tables"),
    ("[[client]]\n" + GOOD + "lists = [{}]\n", "x: lists: `does` must be one of honours, ignores"),
    ("[[client]]\n" + GOOD + 'lists = [{does = "cached", since = "new"}]\n', "`since` must be numbers"),
    ("[[client]]\n" + GOOD + "refresh = 3\n", "`refresh` must be a text"),
    ("[[client]]\n" + GOOD + "constant_versions = [1]\n", "`constant_versions` must be a list of texts"),
])  # fmt: skip
def test_what_is_wrong_in_a_file_is_named(text: str, says: str) -> None:
    """File, row, key, and what would do."""
    with pytest.raises(BadClients, match=r"own\.toml") as caught:
        read_clients(text, "own.toml")
    assert says in caught.value.detail


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path, content: Any) -> None:
    """A service begins with all of its settings or not at all."""
    path = tmp_path / "clients.toml"
    if content is not None:
        path.write_bytes(content)
    settings = Settings(database_url=f"sqlite:///{tmp_path}/x.db", clients_file=path)

    with pytest.raises(BadClients, match="cannot be read as UTF-8 text"):
        create_app(settings)
