"""
Two releases of `server-everything` as npm has them, the later without the tool names of the earlier,
behind the example that answers for retired names; and a client that learnt its names from the earlier.

`data/everything.json` is what each release lists, recorded apart from this test.
"""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, Implementation, TextContent

from tests.chain.checks import SERVER
from tests.chain.deliver import a_day_after, from_file, over_http
from tests.chain.stories import RETIRED
from tests.programs import node, node_package

HISTORY = json.loads((Path(__file__).parent / "data" / "everything.json").read_text("utf-8"))
OLD, NEW = HISTORY["releases"]
CLIENT = "knows-the-old-names"
INPUTS: dict[str, dict[str, Any]] = {
    "echo": {"message": "hi"},
    "add": {"a": 1, "b": 2},
    "longRunningOperation": {"duration": 0.1, "steps": 1},
    "sampleLLM": {"prompt": "hi"},
    "annotatedMessage": {"messageType": "error"},
    "getResourceReference": {"resourceId": 1},
    "getResourceLinks": {"count": 2},
    "structuredContent": {"location": "Chicago"},
    "zip": {"files": {"a.txt": "data:text/plain,hi"}},
}


@dataclass(frozen=True)
class Visit:
    """What a client saw of one release: the names listed, each call's answer; the log; the end."""

    listed: list[str]
    answers: dict[str, str]
    notifications: int
    log: Path
    ended: datetime

    def retired(self) -> set[str]:
        """The names of which the client was told that they were retired."""
        return {name for name, text in self.answers.items() if "was retired after" in text}


def visit(release: str, known: list[str] | None, examples: Path, log: Path) -> Visit:
    """Connect to a release, list its tools, and call the names that are known, or those listed."""
    server = node_package(f"everything-{release}") / "dist" / "index.js"
    front = examples / "typescript-server" / "in-front.mjs"
    command = [str(front), "--log", str(log), "--", node(), str(server), "stdio"]
    heard: Counter[str] = Counter()

    async def incoming(message: object) -> None:
        heard[str(getattr(message, "method", ""))] += 1

    async def go() -> Visit:
        with anyio.fail_after(60), (log.parent / f"{log.stem}.err").open("w") as complaints:
            pipes = stdio_client(StdioServerParameters(command=node(), args=command), complaints)
            info = Implementation(name=CLIENT, version="1.0.0")
            client = Client(pipes, mode="legacy", client_info=info, message_handler=incoming)
            async with client:
                listed = [tool.name for tool in (await client.list_tools()).tools]
                answers = {name: await call(client, name) for name in known or listed}
        told = heard["notifications/tools/list_changed"]
        return Visit(listed, answers, told, log, datetime.now(UTC))

    return anyio.run(go)


async def call(client: Client, name: str) -> str:
    """Call a tool; return the text of its answer, or of the error."""
    try:
        result = await client.call_tool(name, INPUTS.get(name, {}))
    except MCPError as error:
        return str(error)
    assert isinstance(result, CallToolResult)
    return " ".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.fixture(scope="module")
def visits(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Visit, Visit]:
    """To the old release, and to the new one with the names of the old."""
    folder = tmp_path_factory.mktemp("everything")
    old = visit(OLD, None, examples, folder / "old.log")
    return old, visit(NEW, old.listed, examples, folder / "new.log")


def test_the_releases_list_what_was_recorded_of_them(visits: tuple[Visit, Visit]) -> None:
    """The ten names that the example knows as retired are those that the later release dropped."""
    old, new = visits

    assert set(old.listed) == set(HISTORY["releases"][OLD])
    assert set(new.listed) == set(HISTORY["releases"][NEW])
    assert set(old.listed) - set(new.listed) == set(RETIRED)
    assert {name: facts["replacedBy"] for name, facts in RETIRED.items()} == HISTORY["old_to_new"]
    assert {
        replacement for facts in RETIRED.values() for replacement in facts["replacedBy"]
    } <= set(new.listed)


def test_the_client_is_told_of_each_replacement(visits: tuple[Visit, Visit]) -> None:
    """By the new release only: on the old one every name works, on the new one that which stayed."""
    old, new = visits

    assert old.retired() == set()
    assert "The sum of 1 and 2 is 3." in old.answers["add"]
    assert new.retired() == set(RETIRED)
    assert new.answers["echo"] == "Echo: hi"
    for name, replacements in HISTORY["old_to_new"].items():
        assert all(f"'{replacement}'" in new.answers[name] for replacement in replacements)


@pytest.mark.parametrize("deliver", [from_file, over_http])
def test_old_names_are_stale_calls_on_the_new_release_only(
    visits: tuple[Visit, Visit], database_url: str, deliver: Any
) -> None:
    """Each is in REST with its replacement; calls of names that work are ordinary ones."""
    old, new = visits
    with a_day_after(new.ended, database_url) as service:
        before = deliver(service, old.log)["events"]
        names_before = service.rows("names", server=SERVER)
        after = deliver(service, new.log)["events"]
        names = service.rows("names", server=SERVER)
        callers = service.rows("callers", server=SERVER)
        called = service.rows("events", server=SERVER, kind="call")

    assert before == {"hello": 1, "listing": 1, "call": len(old.listed)}
    assert names_before == []
    told = {"notification": new.notifications} if new.notifications else {}
    assert after == {"hello": 1, "listing": 1, "call": 1, "stale_call": len(RETIRED), **told}
    assert {row["name"]: (row["stale_calls"], row["replaced_by"]) for row in names} == {
        name: (1, replacements) for name, replacements in HISTORY["old_to_new"].items()
    }
    assert {row["last_release"] for row in names} == {OLD}
    assert {(row["name"], row["client"], row["stale_calls"]) for row in callers} == {
        (name, CLIENT, 1) for name in HISTORY["old_to_new"]
    }
    assert Counter(row["name"] for row in called) == Counter([*old.listed, "echo"])
    assert {row["outcome"] for row in called} == {None}
