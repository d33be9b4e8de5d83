"""An MCP server that renames its tools while it runs, after `server-everything`.

It begins with the tools of release 2025.12.18 and has those of 2026.1.26 from the moment its tool
`retire-old-names` is called.

    python server.py --log server.log               # stdio
    python server.py --http 8801 --log server.log   # http://127.0.0.1:8801/mcp
"""

import argparse
import base64
import gzip
import json
import platform
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.types import ImageContent
from retired_tools import RetiredTools, json_logger

NAMES = json.loads(Path(__file__).parent.parent.joinpath("retired.json").read_text("utf-8"))
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def echo(message: str) -> str:
    """Say the message again."""
    return f"Echo: {message}"


def get_sum(a: float, b: float) -> str:
    """Add two numbers."""
    return f"The sum of {a} and {b} is {a + b}."


def get_annotated_message(messageType: str, includeImage: bool = False) -> str:
    """Return a message of a type."""
    return f"{messageType}: with{'' if includeImage else 'out'} an image"


def get_resource_links(count: int = 3) -> str:
    """Return links to resources."""
    return "\n".join(f"demo://resource/{number}" for number in range(1, count + 1))


def get_resource_reference(resourceId: int, resourceType: str = "Text") -> str:
    """Return a reference to a resource."""
    return f"demo://resource/{resourceType.lower()}/{resourceId}"


def get_tiny_image() -> ImageContent:
    """Return an image of one pixel."""
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


async def trigger_long_running_operation(duration: float = 0.1, steps: int = 2) -> str:
    """Wait."""
    await anyio.sleep(duration)
    return f"Done after {duration} s in {steps} steps."


def get_env() -> dict[str, str]:
    """Return what the server runs on; the environment itself would hold secrets."""
    return {"python": platform.python_version(), "system": platform.system()}


def sample_llm(prompt: str) -> str:
    """Stand for a request to a language model."""
    return f"No model was asked: {prompt}"


def get_structured_content(location: str) -> dict[str, Any]:
    """Return the weather of a place."""
    return {"location": location, "temperature": 21, "conditions": "sunny"}


def gzip_file_as_resource(name: str, data: str) -> str:
    """Compress a text."""
    return f"{name}.gz {base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode()}"


def zip_files(files: dict[str, str]) -> str:
    """Compress several texts."""
    return "\n".join(gzip_file_as_resource(name, data) for name, data in files.items())


CURRENT = {
    "echo": echo,
    "get-sum": get_sum,
    "get-annotated-message": get_annotated_message,
    "get-resource-links": get_resource_links,
    "get-resource-reference": get_resource_reference,
    "get-tiny-image": get_tiny_image,
    "trigger-long-running-operation": trigger_long_running_operation,
    "get-env": get_env,
    "get-structured-content": get_structured_content,
    "gzip-file-as-resource": gzip_file_as_resource,
}
OLD = {"echo": echo, "sampleLLM": sample_llm, "zip": zip_files} | {
    old: CURRENT[facts["replacedBy"][0]]
    for old, facts in NAMES.items()
    if old not in ("sampleLLM", "zip")
}


def build(retired: RetiredTools, already_retired: bool) -> MCPServer[Any]:
    """Return the server with its old tools and the one that retires them."""
    server: MCPServer[Any] = MCPServer(
        "everything",
        version="2026.1.26",
        middleware=[retired],
        subscriptions=retired.bus,
        log_level="ERROR",
    )

    listed: dict[str, Any] = {}

    def offer(tools: dict[str, Any]) -> None:
        for name in listed:
            server.remove_tool(name)
        listed.clear()
        listed.update(tools)
        for name, function in listed.items():
            server.add_tool(function, name=name)

    async def retire_old_names() -> str:
        """Replace the old tools by the new ones and tell every client that listens."""
        if listed == CURRENT:
            return "The old names are retired already."
        offer(CURRENT)
        await retired.announce("retire-old-names")
        return f"{len(NAMES)} names retired."

    offer(CURRENT if already_retired else OLD)
    server.add_tool(retire_old_names, name="retire-old-names")
    return server


def main() -> None:
    """Serve over stdio, or over HTTP on this machine only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--http", type=int, metavar="PORT", help="instead of stdio; 0: a free one")
    parser.add_argument("--log", type=Path, help="file to append to instead of standard error")
    parser.add_argument("--retired", action="store_true", help="begin after the retirement")
    args = parser.parse_args()
    stream = args.log.open("a", encoding="utf-8") if args.log else sys.stderr
    retired = RetiredTools(NAMES, json_logger(stream))
    server = build(retired, args.retired)
    if args.http is None:
        server.run("stdio")
    else:
        app = retired.watch_streams(server.streamable_http_app())
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        with socket.create_server(("127.0.0.1", args.http)) as listening:
            print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
