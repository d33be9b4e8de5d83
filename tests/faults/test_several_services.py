"""Several services on one database, fed the same deliveries at once: everything is stored once."""

import json
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2 as httpx
import pytest

from tests.faults.carriers import CARRIERS
from tests.faults.programs import (
    COMMAND,
    PATIENCE_S,
    Server,
    account_of,
    environment,
    event_line,
    rows,
    serving,
)

DELIVERIES: Final = 50
LINES: Final = 400
SENDERS: Final = 3
"""At once, to each of the services."""

RECEIVERS: Final = ["lines", "bulk", "loki", "loki packed", "otlp", "otlp packed"]


@dataclass(frozen=True)
class Delivery:
    """Lines, and the receiver that they go to."""

    carrier: str
    lines: tuple[bytes, ...]


def deliveries(rng: random.Random) -> Iterator[Delivery]:
    """
    Lines of a log in pieces, some of them once more: cut elsewhere, overlapping, in another wrapping.

    In every tenth piece the first line stands twice, as two equal calls.
    """
    log = [event_line("crowd", number).rstrip() for number in range(LINES)]
    for number in range(DELIVERIES):
        first = rng.randrange(LINES - 40) if number % 2 else number // 2 * (LINES // 25)
        size = rng.randrange(1, 40) if number % 2 else LINES // 25
        lines = log[first : first + size]
        if number % 10 == 0:
            lines.insert(0, lines[0])
        yield Delivery(RECEIVERS[number % len(RECEIVERS)], tuple(lines))


@dataclass
class Sender:
    """Delivers everything in its own order to one service, again what could not be stored then."""

    url: str
    left: list[Delivery]
    received: int = 0
    accepted: int = 0
    """Of those answers that say so."""
    strange: list[str] = field(default_factory=list)
    busy: int = 0

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=PATIENCE_S) as client:
            deadline = time.monotonic() + 2 * PATIENCE_S
            while self.left and not self.strange:
                if self._taken(client, self.left[-1]):
                    self.received += len(self.left.pop().lines)
                elif time.monotonic() > deadline:
                    self.strange.append(f"not taken within {2 * PATIENCE_S} s")

    def _taken(self, client: httpx.Client, delivery: Delivery) -> bool:
        carrier = CARRIERS[delivery.carrier]
        answer = client.post(
            carrier.path,
            params={"server": "maps"},
            content=carrier.body(delivery.lines),
            headers=carrier.headers,
        )
        if answer.status_code == 503 or (carrier.path == "/_bulk" and _is_busy(answer.json())):
            self.busy += 1
            return False
        if not answer.is_success:
            self.strange.append(f"{answer.status_code}: {answer.text}")
        elif carrier.path == "/ingest":
            self.accepted += answer.json()["accepted"]
        return answer.is_success


def _is_busy(said: dict[str, Any]) -> bool:
    """Whether a bulk request was not stored: all of its items say so, or none."""
    statuses = {item["index"]["status"] for item in said["items"]}
    assert statuses in ({201}, {429})
    return statuses == {429}


def imported(database_url: str, path: Path) -> dict[str, Any]:
    """The receipt of a file that is read while the services are fed, tried again where they are in its
    way."""
    while True:
        done = subprocess.run(
            [*COMMAND, "ingest", "--server", "maps", "--json", str(path)],
            env=environment(database_url),
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        if done.returncode == 0:
            receipt: dict[str, Any] = json.loads(done.stdout)
            return receipt
        assert "again" in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_services_that_are_fed_the_same_store_it_once(
    kind: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """The same deliveries to both, in parallel and in different orders, while a file with all of the
    lines is imported: every call is stored once, equal calls of a delivery each, and the account of
    both services and the import says so."""
    rng = random.Random(kind)
    sent = list(deliveries(rng))
    file = tmp_path / "calls.log"
    file.write_bytes(b"".join(event_line("crowd", number) for number in range(LINES)))
    url = make_url(kind)
    with ExitStack() as running:
        servers = [
            running.enter_context(serving(Server(url, tmp_path / f"serve-{n}.log"))) for n in (1, 2)
        ]
        senders = [
            Sender(server.url, part) for server in servers for part in _dealt(rng, sent, SENDERS)
        ]
        threads = [threading.Thread(target=sender.run) for sender in senders]
        for thread in threads:
            thread.start()
        receipt = imported(url, file)
        for thread in threads:
            thread.join(4 * PATIENCE_S)

        assert [strange for sender in senders for strange in sender.strange] == []
        assert [sender.left for sender in senders] == [[]] * len(senders)
        stored = Counter(row["time"] for row in rows(servers[0].url, "events"))
        account = account_of(servers[1].url)

    expected = Counter(map(time_of, file.read_bytes().splitlines()))
    for each in sent:
        expected |= Counter(map(time_of, each.lines))
    assert expected.total() > LINES
    assert stored == expected
    assert account["accepted"] == expected.total()
    assert account["rejected"] == account["ignored"] == 0
    assert account["received"] == sum(sender.received for sender in senders) + LINES
    assert receipt["accepted"] + sum(sender.accepted for sender in senders) <= account["accepted"]
    assert_checked(url)


def _dealt(rng: random.Random, sent: Sequence[Delivery], hands: int) -> Iterator[list[Delivery]]:
    """All deliveries in an order of their own, among so many senders."""
    mixed = rng.sample(sent, len(sent))
    for hand in range(hands):
        yield mixed[hand::hands]


def time_of(line: bytes) -> str:
    """When a line says it was, as answers write it."""
    time: str = json.loads(line)["time"]
    return time.replace("+00:00", "Z")


def assert_checked(database_url: str) -> None:
    """The roll-ups agree with the rows."""
    checked = subprocess.run(
        [*COMMAND, "db", "check"],
        env=environment(database_url),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
