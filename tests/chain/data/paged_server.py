"""A server of 250 tools, listed in pages of 100; with --round the last page leads to the first."""

import sys

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, PaginatedRequestParams, Tool

TOOLS = [Tool(name=f"tool-{number:03}", input_schema={"type": "object"}) for number in range(250)]


async def list_tools(_context: object, params: PaginatedRequestParams | None) -> ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    following = start + 100
    more: str | None = str(following) if following < len(TOOLS) else None
    if more is None and "--round" in sys.argv:
        more = "100"
    return ListToolsResult(tools=TOOLS[start:following], next_cursor=more)


async def main() -> None:
    server = Server("paged", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
