"""A client that lists the tools when it connects, and never again."""

from common import Setting, main


async def run(setting: Setting) -> None:
    """List, call the old name, and go on calling it."""
    async with setting.connect("example-lists-once") as client:
        await client.list_tools()
        await client.call_tool("getTinyImage")
        await setting.until_retired(client)
        for _ in range(2):
            await client.call_tool("getTinyImage")


if __name__ == "__main__":
    main(run)
