"""Senders in processes of their own."""

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.senders.kinds import Kind

PATIENCE_S: Final = 60.0


@dataclass
class Sender:
    """A sender at work in a folder."""

    kind: Kind
    folder: Path
    process: subprocess.Popen[bytes]
    _writer: ThreadPoolExecutor

    def log(self, lines: bytes) -> None:
        """Give it lines; one that is slow to read them holds nobody up."""
        if self.kind.follows:
            with (self.folder / "calls.log").open("ab") as file:
                file.write(lines)
        else:
            self._writer.submit(self._write, lines)

    def _write(self, lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines)
        self.process.stdin.flush()

    def end(self) -> None:
        """Let it bring to an end what it has, or tell it to stop where it would never end."""
        if self.kind.follows:
            self.process.send_signal(signal.SIGTERM)
        else:
            self._writer.shutdown()
            assert self.process.stdin is not None
            self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0, self.said()

    def said(self) -> str:
        """What it wrote about its own work."""
        return (self.folder / "sender.log").read_text(errors="replace")


@contextmanager
def sending(kind: Kind, folder: Path, url: str) -> Iterator[Sender]:
    """Run a sender until the block ends, whatever happens in it."""
    folder.mkdir()
    (folder / "calls.log").touch()
    command, variables = kind.command(folder, url)
    with (
        (folder / "sender.log").open("wb") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL if kind.follows else subprocess.PIPE,
            stdout=log,
            stderr=log,
        ) as process,
        ThreadPoolExecutor(1) as writer,
    ):
        try:
            yield Sender(kind, folder, process, writer)
        finally:
            process.kill()
