"""`lastcall serve` in a process of its own, and senders that behave as shippers do."""

import gzip
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.unspoken import secrets_in

COMMAND = [sys.executable, "-c", "from service.cli import main; main()"]
FIRST = datetime(2026, 10, 5, tzinfo=UTC)
PATIENCE_S = 60.0


def until(done: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait for something that happens in another process."""
    deadline = time.monotonic() + patience_s
    while not done():
        assert time.monotonic() < deadline, f"{what} did not happen within {patience_s} s"
        time.sleep(0.02)


def environment(database_url: str, **settings: object) -> dict[str, str]:
    """What a process of the product runs with; its modules are compiled once, as on any machine."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LASTCALL_", "PYTHON"))}
    own = {f"LASTCALL_{name.upper()}": str(value) for name, value in settings.items()}
    return {**kept, "LASTCALL_DATABASE_URL": database_url, **own}


def free_port() -> int:
    """
    A port that nobody listens on, below those that the system hands out: a sender that asks for it
    while no server is there must not be given it as its own.
    """
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


@dataclass
class Server:
    """
    A `lastcall serve` that can be killed and started again on its port; what it says is in `log`.

    `through` stands before the command: what starts it in surroundings of its own. `secret` is a token by which it
    answers, where it asks for one.
    """

    database_url: str
    log: Path
    settings: dict[str, object] = field(default_factory=dict)
    through: Sequence[str] = ()
    secret: str | None = None
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.through, *COMMAND, "serve", "--port", str(self.port)],
                env=environment(self.database_url, **self.settings),
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        until(self._answers, "the start of the service")

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()
        try:
            asked = httpx.get(
                f"{self.url}/api/v1/health",
                timeout=10,
                verify=False,
                headers=credentials(self.secret),
            )
            return asked.status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """Signal 9, as the kernel sends it when memory is short."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
                raise

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log that say *event*."""
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [said for line in lines if (said := json.loads(line))["event"] == event]

    def memory(self, which: str) -> int:
        """`VmRSS` or `VmHWM`, in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(rf"{which}:\s+(\d+) kB", status)
        assert found
        return int(found[1]) * 1024


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Run a server until the block ends; whatever happened, its log holds no secret."""
    try:
        server.start()
        yield server
    except BaseException as error:
        error.add_note(
            f"The service said at last:\n{server.log.read_text(errors='replace')[-4000:]}"
        )
        raise
    finally:
        server.stop()
    assert not secrets_in(server.log.read_text(errors="replace"))


def event_line(client: str, number: int) -> bytes:
    """The n-th stale call of a client: its time is its number in milliseconds, so no other has both."""
    at = (FIRST + timedelta(milliseconds=number)).isoformat(timespec="milliseconds")
    data = {"tool": f"gone-{number % 5}", "client": client, "sessionId": f"s{number // 100}"}
    data["requestId"] = f"{client}/{number}"
    line = {"level": "info", "time": at, "pid": 7, "data": data, "msg": "Retired tool called"}
    return json.dumps(line).encode() + b"\n"


def other_line(number: int) -> bytes:
    """A line that is none of ours."""
    return b'{"level":"info","time":"2026-10-05T10:15:02.114Z","msg":"route %d done"}\n' % number


Identity = tuple[str, str]
"""Client and time of an event."""


@dataclass
class Sender:
    """
    Delivers its own numbered events, each body again until it is taken, to one of *ports* at a time.

    Of the lines of a body about one in ten is an event.
    """

    name: str
    ports: Sequence[int]
    random: random.Random
    sent: set[Identity] = field(default_factory=set)
    received: int = 0
    tries: int = 0
    strange: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    _number: int = 0

    def body(self) -> tuple[bytes, list[Identity], int]:
        """A body of 1 to 500 lines, its events, and how many lines it has."""
        lines: list[bytes] = []
        events: list[Identity] = []
        for _ in range(self.random.randint(1, 500)):
            self._number += 1
            if self.random.random() < 0.1 or not events:
                lines.append(event_line(self.name, self._number))
                at = (FIRST + timedelta(milliseconds=self._number)).replace(tzinfo=None)
                events.append((self.name, at.isoformat(timespec="milliseconds") + "Z"))
            else:
                lines.append(other_line(self._number))
        return b"".join(lines), events, len(lines)

    def run(self, stopped: threading.Event) -> None:
        """Send until told to stop; what was begun then is brought to its end."""
        while not stopped.is_set() and not self.strange:
            self.deliver()

    def deliver(self) -> None:
        """Send one more body until it is taken, or something strange is answered."""
        body, events, lines = self.body()
        zipped = self.random.random() < 0.2
        headers = {"Content-Encoding": "gzip"} if zipped else {}
        data = gzip.compress(body) if zipped else body
        deadline = time.monotonic() + 2 * PATIENCE_S
        while (answer := self._post(data, headers)) not in range(200, 300):
            if answer not in (None, 503):
                return
            if time.monotonic() > deadline:
                self.strange.append(f"a body was not taken within {2 * PATIENCE_S} s")
                return
            threading.Event().wait(0.05)
        self.sent.update(events)
        self.received += lines

    def _post(self, data: bytes, headers: dict[str, str]) -> int | None:
        """The status that was answered; None where the connection broke."""
        self.tries += 1
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.random.choice(self.ports), timeout=PATIENCE_S
        )
        try:
            connection.request("POST", "/ingest?server=maps", data, headers)
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        self.statuses[answer.status] += 1
        if answer.status != 503 and not 200 <= answer.status < 300:
            self.strange.append(f"{answer.status}: {said[:300]!r}")
        elif answer.status == 503 and not answer.headers.get("Retry-After"):
            self.strange.append("503 without Retry-After")
        return answer.status


@contextmanager
def sending(ports: Sequence[int], number: int, seed: int) -> Iterator[list[Sender]]:
    """Run so many senders at once while the block runs; their last bodies are taken when it ends."""
    senders = [
        Sender(f"sender-{each}", ports, random.Random(f"{seed}/{each}")) for each in range(number)
    ]
    stopped = threading.Event()
    threads = [threading.Thread(target=each.run, args=(stopped,)) for each in senders]
    for thread in threads:
        thread.start()
    try:
        yield senders
    finally:
        stopped.set()
        for thread in threads:
            thread.join(3 * PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)


def works_again(server: Server) -> bool:
    """Send a line that is none of ours; whether the log says that writing works again."""
    httpx.post(f"{server.url}/ingest", content=other_line(1), timeout=PATIENCE_S)
    return bool(server.logged("writing to the database works again"))


def credentials(secret: str | None) -> dict[str, str]:
    """The header by which a token is shown."""
    return {"Authorization": f"Bearer {secret}"} if secret else {}


def rows(url: str, collection: str, secret: str | None = None) -> Iterator[dict[str, Any]]:
    """All rows of a collection, page by page."""
    cursor: str | None = ""
    headers = credentials(secret)
    with httpx.Client(base_url=url, timeout=PATIENCE_S, verify=False, headers=headers) as client:
        while cursor is not None:
            asked = {"limit": "1000", **({"cursor": cursor} if cursor else {})}
            answer = client.get(f"/api/v1/{collection}", params=asked)
            assert answer.status_code == 200, answer.text
            yield from answer.json()["items"]
            cursor = answer.json()["next_cursor"]


def assert_exact(server: Server, senders: Sequence[Sender]) -> None:
    """What was sent is stored, every event once; the account adds up; the roll-ups agree."""
    strange = [each for sender in senders for each in sender.strange]
    assert strange == []
    sent = {event for sender in senders for event in sender.sent}
    assert sent
    assert_stored_once(server, sent)
    account = account_of(server.url)
    assert account["accepted"] == len(sent)
    assert account["rejected"] == 0
    assert account["received"] >= sum(sender.received for sender in senders)


def assert_stored_once(server: Server, sent: set[Identity]) -> None:
    """The stored events are those that were sent, by content, and the roll-ups agree."""
    stored = Counter((row["client"], row["time"]) for row in rows(server.url, "events"))
    assert [event for event, number in stored.items() if number > 1] == []
    assert sent - set(stored) == set(), "lost"
    assert set(stored) - sent == set(), "never sent"
    checked = subprocess.run(
        [*COMMAND, "db", "check"],
        env=environment(server.database_url),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def account_of(url: str, secret: str | None = None) -> Counter[str]:
    """The account of all sources and days, which adds up in each row."""
    whole: Counter[str] = Counter()
    for row in rows(url, "health", secret):
        fates = {name: row[name] for name in ("accepted", "duplicates", "ignored", "rejected")}
        assert row["received"] == sum(fates.values()), row
        whole.update(fates)
        whole["received"] += row["received"]
    return whole
