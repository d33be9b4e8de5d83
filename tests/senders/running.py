"""Senders in processes of their own."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from tests.faults.programs import until
from tests.programs import system_program
from tests.senders.kinds import LOG, Kind, Place

PATIENCE_S: Final = 60.0


@dataclass
class Sender:
    """A sender at work in a folder."""

    kind: Kind
    place: Place
    process: subprocess.Popen[bytes]
    _writer: ThreadPoolExecutor
    _kept: int = 0

    def log(self, lines: bytes) -> None:
        """Give it lines; one that is slow to read them holds nobody up."""
        match self.kind.feed:
            case "input":
                self._writer.submit(self._write, lines)
            case "file":
                with (self.place.folder / LOG).open("ab") as file:
                    file.write(lines)
            case "logger":
                self._hand_over(lines)
            case "journal":
                self._keep(lines)

    def _write(self, lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def _hand_over(self, lines: bytes) -> None:
        """By the program `logger`, once somebody listens."""
        until(self._listens, "a syslog that listens")
        given = ["--server", "127.0.0.1", "--port", str(self.place.port), "--tcp", "--octet-count"]
        given += ["--size", "64KiB", "--tag", "mcp"]
        subprocess.run(["logger", *given], input=lines, check=True, timeout=PATIENCE_S)

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.said()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.place.port)) == 0

    def _keep(self, lines: bytes) -> None:
        """As entries of a journal, each a microsecond after the one before."""
        program, variables = system_program("systemd-journal-remote")
        entries = b""
        for line in lines.splitlines():
            self._kept += 1
            entries += b"__REALTIME_TIMESTAMP=%d\n" % (1_793_700_902_000_000 + self._kept)
            entries += b"__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n" % (
                self._kept,
                b"0123456789abcdef" * 2,
            )
            entries += b"PRIORITY=6\nSYSLOG_IDENTIFIER=mcp\nMESSAGE=%s\n\n" % line
        name = f"journal/system-{self._kept}.journal"
        subprocess.run(
            [str(program), f"--output={name}", "--split-mode=none", "-"],
            cwd=self.place.folder,
            env={**os.environ, **variables},
            input=entries,
            check=True,
            timeout=PATIENCE_S,
            capture_output=True,
        )

    def end(self) -> None:
        """Let it bring to an end what it has, or tell it to stop where it would never end."""
        self._writer.shutdown()
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.kind.stays:
            os.killpg(self.process.pid, signal.SIGTERM)
        status = self.process.wait(PATIENCE_S)
        assert status == 0 or (self.kind.stays and status == -signal.SIGTERM), self.said()

    def said(self) -> str:
        """What it wrote about its own work."""
        return (self.place.folder / "sender.log").read_text(errors="replace")


@contextmanager
def sending(kind: Kind, place: Place) -> Iterator[Sender]:
    """Run a sender until the block ends, whatever happens in it."""
    folder = place.folder
    (folder / LOG).parent.mkdir(parents=True)
    (folder / LOG).touch()
    command, variables = kind.command(place)
    with (
        (folder / "sender.log").open("wb") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE if kind.feed == "input" else subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # it may start others, which end with it
        ) as process,
        ThreadPoolExecutor(1) as writer,
    ):
        try:
            yield Sender(kind, place, process, writer)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
