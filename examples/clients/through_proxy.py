"""A client whose calls go through a proxy that renames it."""

import shlex
import sys
from pathlib import Path

from common import Setting, main

PROXY = Path(__file__).with_name("proxy.py")


async def run(setting: Setting) -> None:
    """Do as `lists_once` does, through `proxy.py`."""
    proxied = shlex.join([sys.executable, str(PROXY), setting.target])
    async with setting.connect("example-proxied", target=proxied) as client:
        await client.list_tools()
        await client.call_tool("structuredContent", {"location": "Chicago"})
        await setting.until_retired(client)
        await client.call_tool("structuredContent", {"location": "Chicago"})


if __name__ == "__main__":
    main(run)
