"""A proxy on stdio that adds itself to the client's name, as mcp-remote and others do.

python proxy.py http://127.0.0.1:8801/mcp
"""

import sys
from typing import Any

import anyio
from common import transport
from mcp.server.stdio import stdio_server
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp.types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

SUFFIX = " (via example-proxy 1.0.0)"


class Proxy:
    """Passes messages on; only the client's name and the headers of a request are its own."""

    def __init__(self) -> None:
        self._version = ""

    def rename(self, message: Any) -> dict[str, str]:
        """Rename the client in a message to the server; return the headers that HTTP asks for."""
        params = getattr(message, "params", None) or {}
        meta = params.get("_meta") or {}
        for info in (params.get("clientInfo"), meta.get(CLIENT_INFO_META_KEY)):
            if info:
                info["name"] += SUFFIX
        version = meta.get(PROTOCOL_VERSION_META_KEY)
        if version is None:
            return {"mcp-protocol-version": self._version} if self._version else {}
        headers = {"mcp-protocol-version": version, "mcp-method": message.method}
        return headers | ({"mcp-name": params["name"]} if "name" in params else {})

    async def upwards(self, source: Any, sink: Any) -> None:
        """Pass on what the client sends."""
        async with sink:
            async for item in source:
                metadata = ClientMessageMetadata(headers=self.rename(item.message))
                await sink.send(SessionMessage(item.message, metadata))

    async def downwards(self, source: Any, sink: Any) -> None:
        """Pass on what the server sends."""
        async for item in source:
            if isinstance(item, Exception):
                continue
            result = getattr(item.message, "result", None) or {}
            if "serverInfo" in result:
                self._version = result["protocolVersion"]
            await sink.send(SessionMessage(item.message))


async def main(target: str) -> None:
    """Serve the client on stdio until it leaves."""
    proxy = Proxy()
    async with stdio_server() as (read, write), transport(target) as (replies, requests):
        async with write, anyio.create_task_group() as tasks:
            tasks.start_soon(proxy.downwards, replies, write)
            await proxy.upwards(read, requests)
            tasks.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
