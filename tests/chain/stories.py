"""
The example servers and clients, really run: what the clients counted on their side of the wire, and
what the server logged.
"""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2 as httpx

from tests.programs import NODE_MODULES, node, node_package

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RETIRED = json.loads((EXAMPLES / "retired.json").read_text(encoding="utf-8"))
PATIENCE_S = 150


@dataclass(frozen=True)
class Setting:
    """Which server the story is told to, in which era of the protocol, and over what."""

    server: str
    era: str
    transport: str

    @property
    def modern(self) -> bool:
        """Whether the era has no sessions of its own."""
        return self.era == "2026-07-28"

    def __str__(self) -> str:
        name = {"server.py": "python", "server.mjs": "typescript", "server-v2.mjs": "typescript-v2"}
        return f"{name[Path(self.server).name]}-{self.era[:4]}-{self.transport}"


PYTHON, TYPESCRIPT, TYPESCRIPT_V2 = (
    "python-server/server.py",
    "typescript-server/server.mjs",
    "typescript-server/server-v2.mjs",
)
OLDER, NEWER = "2025-11-25", "2026-07-28"
SETTINGS = tuple(
    Setting(server, era, transport)
    for server, eras in {
        PYTHON: (OLDER, NEWER),
        TYPESCRIPT: (OLDER,),
        TYPESCRIPT_V2: (OLDER, NEWER),
    }.items()
    for era in eras
    for transport in ("stdio", "http")
)


@dataclass(frozen=True)
class Story:
    """What happened: each client's messages by kind, as it counted them; the server's log; the end."""

    setting: Setting
    did: Mapping[str, Mapping[str, int]]
    log: Path
    ended: datetime


def copy_examples(to: Path) -> Path:
    """Copy the examples, so that nothing is written into the checkout, and give them npm's packages."""
    node_package("@modelcontextprotocol/sdk")
    shutil.copytree(
        EXAMPLES, to, ignore=shutil.ignore_patterns("node_modules", "__pycache__", "*.log")
    )
    (to / "typescript-server" / "node_modules").symlink_to(NODE_MODULES, target_is_directory=True)
    return to


def tell(setting: Setting, examples: Path, log: Path) -> Story:
    """Run the five clients against the server of a copy of the examples."""
    runner = node() if setting.server.endswith(".mjs") else sys.executable
    server = [runner, str(examples / setting.server), "--log", str(log)]
    story = [sys.executable, str(examples / "clients" / "story.py"), "--era", setting.era]
    if setting.transport == "stdio":
        said = finish([*story, shlex.join(server)])
    else:
        with served(server) as address:
            said = finish([*story, address])
    counted = json.loads(said)
    counted.pop("total")
    return Story(setting, counted, log, datetime.now(UTC))


def finish(command: Sequence[str]) -> str:
    """Run a program to its good end; return what it printed."""
    with started(command, stdout=subprocess.PIPE) as process:
        said, complaint = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, complaint
    return str(said)


@contextmanager
def served(server: Sequence[str]) -> Iterator[str]:
    """A server on HTTP for as long as the block lasts; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with started([*server, "--http", str(port)]) as process:
        deadline = time.monotonic() + PATIENCE_S
        while not answers(address):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < deadline, "the server does not answer"
        yield f"{address}/mcp"


def answers(address: str) -> bool:
    """Whether a server answers; asks again for a moment where nobody listens yet."""
    try:
        httpx.get(address, timeout=5)
    except httpx.TransportError:
        time.sleep(0.02)
        return False
    return True


@contextmanager
def started(
    command: Sequence[str], stdout: int = subprocess.DEVNULL
) -> Iterator["subprocess.Popen[str]"]:
    """A program in a process group of its own, of which nothing is left afterwards."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            stop(process)


def stop(process: "subprocess.Popen[str]") -> None:
    """End a program and what it has started; by force what does not go."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
