"""A client that listens, and lists the tools again when they change."""

import anyio
from common import Setting, main
from mcp import Client


async def run(setting: Setting) -> None:
    """List, call the old name, be told, list again, call the new name."""
    changed = anyio.Event()
    async with setting.connect("example-listens", on_change=changed.set) as client:
        if not setting.modern:  # the GET stream of the session, or the pipe, is open by itself
            await converse(client, setting, changed)
            return
        async with (
            client.listen(tools_list_changed=True) as events,
            anyio.create_task_group() as tasks,
        ):

            async def hear() -> None:
                await anext(events)
                changed.set()

            tasks.start_soon(hear)
            await converse(client, setting, changed)


async def converse(client: Client, setting: Setting, changed: anyio.Event) -> None:
    """Call whichever name of the two the list holds."""
    for _ in range(2):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        name = "get-sum" if "get-sum" in listed else "add"
        await client.call_tool(name, {"a": 1, "b": 2})
        if name == "add":
            await setting.until_retired(client)
            with anyio.fail_after(30):
                await changed.wait()


if __name__ == "__main__":
    main(run)
