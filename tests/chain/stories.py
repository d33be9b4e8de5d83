"""
The example servers and clients, really run: what the clients counted on their side of the wire, and
what the server logged.
"""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

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
    """Run the five clients against the server of a copy of the examples; all is written beside `log`."""
    runner = node() if setting.server.endswith(".mjs") else sys.executable
    server = [runner, str(examples / setting.server), "--log", str(log)]
    story = [sys.executable, str(examples / "clients" / "story.py"), "--era", setting.era]
    if setting.transport == "stdio":
        said = finish([*story, shlex.join(server)], log.with_name("story"))
    else:
        with served(server, log.with_name("served")) as address:
            said = finish([*story, address], log.with_name("story"))
    counted = json.loads(said)
    counted.pop("total")
    return Story(setting, counted, log, datetime.now(UTC))


def finish(command: Sequence[str], said: Path) -> str:
    """Run a program to its good end; return what it printed."""
    with started(command, said) as (process, printed):
        assert process.wait(PATIENCE_S) == 0, "it ended badly"
        return printed.read_text(encoding="utf-8")


@contextmanager
def served(server: Sequence[str], said: Path) -> Iterator[str]:
    """A server on HTTP for as long as the block lasts, on a port that it finds; gives its address."""
    with started([*server, "--http", "0"], said) as (process, printed):
        deadline = time.monotonic() + PATIENCE_S
        while not (address := printed.read_text(encoding="utf-8")).endswith("/mcp\n"):
            assert process.poll() is None, "the server ended at its start"
            assert time.monotonic() < deadline, "the server does not say where it listens"
            time.sleep(0.02)
        yield address.strip()


@contextmanager
def started(command: Sequence[str], said: Path) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """
    A program in a process group of its own, of which nothing is left afterwards; gives the file that it
    prints to, too. Whatever goes wrong meanwhile is told with the end of what the program complained of.
    """
    printed, complaints = said.with_suffix(".out"), said.with_suffix(".err")
    with (
        printed.open("wb") as out,
        complaints.open("wb") as err,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        ) as process,
    ):
        try:
            yield process, printed
        except Exception as error:
            last = complaints.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
            error.add_note("\n".join([f"{shlex.join(command)} complained:", *last]))
            raise
        finally:
            stop(process)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it has started; by force what does not go."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
