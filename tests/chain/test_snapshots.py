"""
Real servers asked for their tools as the command asks them: two releases of `server-everything` as npm
has them, the examples in both eras and over both transports, a server of several pages.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service import listing
from service.cli import app
from service.errors import BadParameter, UnreadableInput
from tests.chain.stories import NEWER, OLDER, PYTHON, RETIRED, TYPESCRIPT_V2, served
from tests.programs import node, node_package

HISTORY = json.loads((Path(__file__).parent / "data" / "everything.json").read_text("utf-8"))
OLD, NEW = HISTORY["releases"]
PAGED = Path(__file__).parent / "data" / "paged_server.py"


def everything(release: str) -> str:
    """The command that starts a release."""
    server = node_package(f"everything-{release}") / "dist" / "index.js"
    return shlex.join([node(), str(server), "stdio"])


@pytest.fixture(scope="module")
def listed() -> Mapping[str, listing.Listing]:
    """What each release lists."""
    return {release: listing.ask(stdio=everything(release)) for release in (OLD, NEW)}


def lastcall(*arguments: str, db: str, given: str | None = None, status: int = 0) -> str:
    """What a command prints; one that starts a server is a process, as it hands its stderr on."""
    if arguments[0] == "snapshot":
        program = [sys.executable, "-c", "from service.cli import main; main()", "catalogue"]
        return subprocess.run(
            [*program, *arguments, "--db", db], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
    done = CliRunner().invoke(app, ["catalogue", *arguments, "--db", db], input=given)
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout


def as_json(*arguments: str, db: str, status: int = 0) -> Any:
    return json.loads(lastcall(*arguments, "--json", db=db, status=status))


def test_a_release_lists_what_was_recorded_of_it(listed: Mapping[str, listing.Listing]) -> None:
    """Every tool with its schema, asked by a client that declares no capabilities."""
    for release, found in listed.items():
        assert {tool["name"] for tool in found.tools} == set(HISTORY["releases"][release])
        assert all(tool["inputSchema"]["type"] == "object" for tool in found.tools)
        assert found.protocol_version == OLDER


def test_two_snapshots_differ_as_the_releases_did(database_url: str) -> None:
    """From the servers to the catalogue: taken, compared, proposed, imported, looked over."""
    for release in (OLD, NEW):
        command = ["snapshot", "--server", "ev", "--version", release]
        said = as_json(*command, "--stdio", everything(release), db=database_url)
        assert (said["outcome"], said["version"]) == ("created", release)
    again = as_json(*command, "--stdio", everything(NEW), db=database_url)
    assert again["outcome"] == "unchanged"

    answer = as_json("diff", db=database_url)
    old, new = (set(HISTORY["releases"][release]) for release in (OLD, NEW))
    assert set(answer["lost"]) == old - new
    assert set(answer["gained"]) == new - old
    lost = {row["tool"] for row in answer["items"] if row["rule"] == "name_lost"}
    assert lost == set(HISTORY["old_to_new"]) == set(RETIRED)
    assert {row["tool"] for row in answer["items"]} - lost <= old & new
    for row in answer["proposals"]:
        assert set(row["maybe"]) <= new - old
        assert row["last_release"] == OLD

    proposed = lastcall("diff", OLD, NEW, "--entries", db=database_url)
    lastcall("import", "-", "--server", "ev", db=database_url, given=proposed)
    assert as_json("diff", db=database_url)["proposals"] == []
    replaced = json.dumps({name: {"replacedBy": by} for name, by in HISTORY["old_to_new"].items()})
    lastcall("import", "-", "--server", "ev", db=database_url, given=replaced)
    entries = {row["name"]: row for row in as_json("list", db=database_url)["items"]}
    assert {name: row["replaced_by"] for name, row in entries.items()} == HISTORY["old_to_new"]
    assert {row["last_release"] for row in entries.values()} == {OLD}
    faults = as_json("lint", db=database_url)["items"]
    assert {(row["name"], row["rule"]) for row in faults} == {(n, "never_called") for n in RETIRED}

    kept = lastcall("export", db=database_url)
    names = ["import", "-", "--server", "ev", "--dry-run"]
    assert "(0 created, 0 changed, 10 unchanged)" in lastcall(*names, db=database_url, given=kept)


def test_what_certainly_is_wrong_ends_the_lint_with_1(database_url: str) -> None:
    """So that a pipeline stops; what somebody has to judge does not."""
    entry = ["--server", "ev", "--replaced-by", "zip", "--message", "Use zip"]
    lastcall("set", "add", *entry, db=database_url)
    lastcall("set", "zip", "--server", "ev", "--no-replacement", db=database_url)

    said = lastcall("lint", db=database_url, status=1)
    assert "message incomplete (wrong): ev add: its message does not name add" in said
    assert "replacement retired (wrong): ev add" in said
    lastcall("set", "add", "--server", "ev", "--replaced-by", "", "--message", "", db=database_url)
    assert "wrong" not in lastcall("lint", db=database_url)
    lastcall("hide", "add", "--server", "ev", db=database_url)
    assert "ev  add: release not said, replacement not said, hidden" in lastcall(
        "list", db=database_url
    )


@pytest.mark.parametrize(("server", "era"), [(PYTHON, NEWER), (TYPESCRIPT_V2, NEWER)])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_both_eras_are_understood(
    examples: Path, tmp_path: Path, server: str, era: str, transport: str
) -> None:
    """A server that knows the newer one is asked in it; the list is the same over both transports."""
    runner = node() if server.endswith(".mjs") else sys.executable
    command = [runner, str(examples / server), "--log", str(tmp_path / "log")]
    if transport == "stdio":
        found = listing.ask(stdio=shlex.join(command))
    else:
        with served(command, tmp_path / "served") as address:
            found = listing.ask(url=address, headers={"X-Asked-By": "a test"})

    assert found.protocol_version == era
    assert {tool["name"] for tool in found.tools} >= set(RETIRED)


def test_all_pages_are_read_and_their_end_is_waited_for_only_once() -> None:
    """250 tools in pages of 100; a server whose pages lead to each other is left."""
    command = shlex.join([sys.executable, str(PAGED)])
    names = [tool["name"] for tool in listing.ask(stdio=command).tools]
    assert names == [f"tool-{number:03}" for number in range(250)]
    with pytest.raises(UnreadableInput, match="its pages have no end"):
        listing.ask(stdio=f"{command} --round")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stdio": "no-such-program-here"}, "No such file"),
        ({"stdio": shlex.join([sys.executable, "-c", ""])}, "did not list its tools"),
        ({"stdio": "sleep 60", "timeout_s": 0.5}, "no answer within 0.5 seconds"),
        ({"url": "http://127.0.0.1:9/mcp"}, "did not list its tools"),
    ],
)
def test_a_server_that_does_not_list_is_said(given: dict[str, Any], says: str) -> None:
    """In one line, with what was asked."""
    with pytest.raises(UnreadableInput, match=says):
        listing.ask(**given)


@pytest.mark.parametrize(
    "given", [{}, {"stdio": "a", "url": "http://127.0.0.1/"}, {"stdio": "'a"}, {"stdio": " "}]
)
def test_one_server_is_to_be_named(given: dict[str, Any]) -> None:
    """A command or an address."""
    with pytest.raises(BadParameter):
        listing.ask(**given)
