"""A client that connects for each call, and once mistypes the name."""

from contextlib import suppress

from common import Setting, main
from mcp import MCPError


async def run(setting: Setting) -> None:
    """Connect and call an old name, five times; then a name that never was."""
    for number in range(6):
        if number == 2:
            await setting.until_retired()
        async with setting.connect("example-connects-anew") as client:
            tool = "get-links" if number == 5 else "getResourceLinks"
            with suppress(MCPError):  # some servers answer an unknown name with an error
                await client.call_tool(tool, {"count": 2})


if __name__ == "__main__":
    main(run)
