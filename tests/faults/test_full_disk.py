"""The disk is full: deliveries get 503 until there is room, what is stored can be read, nothing is lost."""

import contextlib
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import httpx2 as httpx
import pytest

from tests.faults.programs import Server, assert_exact, sending, serving, until, works_again

SENDERS = 4
DISK_BYTES = 32 * 1024 * 1024
NAMESPACES = [["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]]


class Disk(Protocol):
    """What the database lies on."""

    def fill(self) -> None:
        """From now on no file on it can grow."""

    def clear(self) -> None:
        """There is room again."""


Surroundings = Callable[[Path, Path], AbstractContextManager[tuple[Server, Disk]]]


class SmallDisk:
    """A small file system of the server's own, which nobody else sees and which goes with it."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.folder = Path(f"/proc/{server.pid}/root{folder}")

    def fill(self) -> None:
        with contextlib.suppress(OSError), (self.folder / "other").open("wb") as other:
            while True:
                other.write(bytes(64 * 1024))
                other.flush()

    def clear(self) -> None:
        (self.folder / "other").unlink()


class Limit:
    """The longest file that the server may write: what it writes beyond fails."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.pid = server.pid

    def fill(self) -> None:
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))

    def clear(self) -> None:
        endless = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, endless)


def namespace() -> list[str]:
    """The command that gives a program mounts of its own."""
    for command in NAMESPACES:
        try_out = [*command, "mount", "-t", "tmpfs", "none", "/mnt"]
        if shutil.which("unshare") and subprocess.run(try_out, capture_output=True).returncode == 0:
            return command
    pytest.skip("mounts of one's own are not permitted here; the limit of a file's size stands in")


@contextmanager
def on_a_small_disk(template: Path, folder: Path) -> Iterator[tuple[Server, Disk]]:
    place = folder / "disk"
    place.mkdir()
    mount = f"mount -t tmpfs -o size={DISK_BYTES} none {place} && cp {template} {place}/faults.db"
    through = [*namespace(), "sh", "-c", f'{mount} && exec "$@"', "sh"]
    url = f"sqlite:///{place}/faults.db"
    with serving(Server(url, folder / "serve.log", through=through)) as server:
        yield server, SmallDisk(server, place)


@contextmanager
def below_a_limit(template: Path, folder: Path) -> Iterator[tuple[Server, Disk]]:
    shutil.copyfile(template, folder / "faults.db")
    url = f"sqlite:///{folder}/faults.db"
    with serving(Server(url, folder / "serve.log")) as server:
        yield server, Limit(server, folder)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts and limits of processes are Linux's")
@pytest.mark.parametrize(
    ("surroundings", "says"),
    [
        pytest.param(on_a_small_disk, "the disk is full", id="small-disk"),
        pytest.param(below_a_limit, "reading or writing failed", id="file-limit"),
    ],
)
def test_a_full_disk_is_waited_out(
    surroundings: Surroundings, says: str, sqlite_template: Path, tmp_path: Path
) -> None:
    """503 says what is wrong, the log says when it begins and ends, and a resend makes all whole."""
    with surroundings(sqlite_template, tmp_path) as (server, disk):
        with sending([server.port], SENDERS, seed=3) as senders:
            until(lambda: sum(len(each.sent) for each in senders) > 200, "the first deliveries")
            disk.fill()
            until(lambda: sum(each.statuses[503] for each in senders) >= 20, "refusals")
            (failed,) = server.logged("writing to the database fails")
            pages = [httpx.get(server.url + path) for path in ("/", "/api/v1/names")]
            disk.clear()
            before = sum(len(each.sent) for each in senders)
            until(lambda: sum(len(each.sent) for each in senders) > before + 200, "going on")
        until(lambda: works_again(server), "a word in the log")

        assert says in failed["detail"]
        assert {page.status_code for page in pages} <= {200, 503}
        assert len(server.logged("writing to the database fails")) == 1
        assert len(server.logged("writing to the database works again")) == 1
        seen = server
        if isinstance(disk, SmallDisk):
            seen = replace(server, database_url=f"sqlite:///{disk.folder}/faults.db")
        assert_exact(seen, senders)
