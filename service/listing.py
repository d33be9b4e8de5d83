"""
What a server lists now, asked over MCP as any client would: both eras, all pages.

The server sees a client named `lastcall` that lists the tools and calls none.
"""

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2 as httpx
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation

from service import __version__
from service.entries import TOOLS_LIMIT
from service.errors import BadParameter, UnreadableInput

TIMEOUT_S = 60
PAGE_LIMIT = 16 * 1024 * 1024
"""Bytes of a page over HTTP."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools as they came; `version` and `protocol_version` are what the server says of itself."""

    tools: list[dict[str, Any]]
    version: str | None
    protocol_version: str | None


def ask(
    *,
    stdio: str | None = None,
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = TIMEOUT_S,
) -> Listing:
    """
    List the tools of a server that the command *stdio* starts, or that answers at *url*.

    Raises:
        BadParameter: Neither or both are given, or the command cannot be split.
        UnreadableInput: It did not start, answer in time, or list its tools.
    """
    if (stdio is None) == (url is None):
        raise BadParameter("--stdio", "give a command with --stdio, or an address with --url")
    command = [] if stdio is None else _split(stdio)
    where = command[0] if command else url
    try:
        return anyio.run(_ask, command, url, dict(headers or {}), timeout_s)
    except TimeoutError:
        why = f"no answer within {timeout_s:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever the library raises, the server did not list
        why = _why(error)
    raise UnreadableInput(f"{where} did not list its tools: {why}")


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadParameter("--stdio", f"{error}; quote it as for a shell") from None
    if not words:
        raise BadParameter("--stdio", "missing; give the command that starts the server")
    return words


async def _ask(
    command: list[str], url: str | None, headers: dict[str, str], timeout_s: float
) -> Listing:
    with anyio.fail_after(timeout_s):
        if url is None:
            return await _list(stdio_client(_process(command), sys.stderr))
        async with httpx.AsyncClient(headers=headers, timeout=timeout_s) as http:
            return await _list(
                streamable_http_client(url, http_client=http, max_sse_event_size=PAGE_LIMIT)
            )


def _process(command: list[str]) -> StdioServerParameters:
    """As a shell would start it, but without our own settings, among them a password."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LASTCALL_")}
    return StdioServerParameters(command=command[0], args=command[1:], env=env)


async def _list(transport: Any) -> Listing:
    info = Implementation(name="lastcall", version=__version__)
    async with Client(transport, mode="auto", client_info=info) as client:
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        seen: set[str] = set()
        while True:
            found = await client.list_tools(cursor=cursor)
            tools += [
                tool.model_dump(mode="json", by_alias=True, exclude_unset=True)
                for tool in found.tools
            ]
            cursor = found.next_cursor
            if cursor is None:
                break
            if cursor in seen or len(tools) > TOOLS_LIMIT:
                raise UnreadableInput("its pages have no end")
            seen.add(cursor)
        server = client.server_info
        return Listing(tools, server.version if server else None, client.protocol_version)


def _why(error: BaseException) -> str:
    """The first cause, in one line."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    said = str(error).strip().splitlines()
    return said[0][:300] if said else type(error).__name__
