"""What the clients share: the connection, its counts, and the moment of the retirement.

A target is an address (`http://127.0.0.1:8801/mcp`) or a command that starts a server on stdio.
"""

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation

KINDS = {
    "initialize": "hello",
    "server/discover": "hello",
    "tools/list": "listing",
    "subscriptions/listen": "listen",
    "notifications/tools/list_changed": "notification",
}


def transport(target: str) -> Any:
    """Return the SDK's transport to a target."""
    if target.startswith("http"):
        return streamable_http_client(target)
    command, *args = shlex.split(target)
    return stdio_client(StdioServerParameters(command=command, args=args))


@dataclass
class Setting:
    """Where a client connects, in which era, and how it learns that the old names are gone."""

    target: str
    era: str = "2025-11-25"
    wait: Callable[[], Awaitable[None]] | None = None
    did: Counter[str] = field(default_factory=Counter)

    @property
    def modern(self) -> bool:
        """Whether the era has no sessions."""
        return self.era == "2026-07-28"

    @asynccontextmanager
    async def connect(
        self, name: str, target: str | None = None, discover: bool = True, on_change: Any = None
    ) -> AsyncIterator[Client]:
        """Connect under a name; count what passes on the wire in `did`, by kind."""

        async def incoming(message: Any) -> None:
            method = getattr(message, "method", None)
            if on_change is not None and method == "notifications/tools/list_changed":
                on_change()

        mode = "legacy" if not self.modern else "auto" if discover else self.era
        connection = Client(
            Wire(transport(target or self.target), self.did),
            mode=mode,
            client_info=Implementation(name=name, version="1.0.0"),
            message_handler=incoming,
        )
        async with connection as client:
            yield client

    async def until_retired(self, client: Client | None = None) -> None:
        """Wait for the moment; a server on stdio is the client's own, which so brings it about."""
        if self.target.startswith("http"):
            assert self.wait is not None
            await self.wait()
        elif client is not None:
            await call(client, "retire-old-names")
        else:
            self.target += " --retired"  # the next process is the next release


async def call(
    client: Client, tool: str, arguments: dict[str, Any] | None = None
) -> CallToolResult:
    """Call a tool and no more; `Client.call_tool` lists the tools first if nobody did."""
    params = CallToolRequestParams(name=tool, arguments=arguments or {})
    return await client.session.send_request(CallToolRequest(params=params), CallToolResult)


class Wire:
    """A transport that counts the messages that pass it."""

    def __init__(self, inner: Any, did: Counter[str]) -> None:
        self._inner, self._did = inner, did
        self._calls: set[Any] = set()

    async def __aenter__(self) -> tuple[Any, Any]:
        read, write = await self._inner.__aenter__()
        return _Reading(read, self._received), _Writing(write, self._sent)

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def _sent(self, message: Any) -> None:
        method = getattr(message, "method", None)
        if method == "tools/call":
            self._calls.add(message.id)
        elif method in KINDS:
            self._did[KINDS[method]] += 1

    def _received(self, message: Any) -> None:
        if getattr(message, "method", None) in KINDS:
            self._did[KINDS[message.method]] += 1
        elif getattr(message, "id", None) in self._calls:
            self._calls.discard(message.id)
            text = str(getattr(message, "result", None) or getattr(message, "error", None))
            retired, unknown = "was retired after" in text, "Unknown tool" in text
            unknown |= "not found" in text
            self._did["stale_call" if retired else "unknown_call" if unknown else "call"] += 1


class _Stream:
    def __init__(self, inner: Any, count: Callable[[Any], None]) -> None:
        self._inner, self._count = inner, count

    async def __aenter__(self) -> Any:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._inner.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Reading(_Stream):
    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        item = await self._inner.__anext__()
        self._count(getattr(item, "message", None))
        return item


class _Writing(_Stream):
    async def send(self, item: Any) -> None:
        self._count(item.message)
        await self._inner.send(item)


def main(run: Callable[[Setting], Awaitable[None]]) -> None:
    """Run one client from the command line and print what it did."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("target", help="address of a server, or a command that starts one")
    parser.add_argument("--era", choices=["2025-11-25", "2026-07-28"], default="2025-11-25")
    args = parser.parse_args()

    async def wait() -> None:
        prompt = "Call retire-old-names (retire.py), then press Enter "
        await anyio.to_thread.run_sync(input, prompt)

    setting = Setting(args.target, args.era, wait)
    anyio.run(run, setting)
    print(dict(setting.did))
