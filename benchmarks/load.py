"""
Send events to a running service from many connections at once, each line another event.

    python3 -m benchmarks.load URL --lines 1000 --connections 8 --seconds 5 --seed 1

Prints JSON: events sent and accepted, seconds from the first request to the last answer, the
latency of each request in seconds, and how many requests were refused: with `--refused`, who sends too
much for its `--token` goes on sending at once, as a sender that heeds nothing.
"""

import argparse
import http.client
import itertools
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

from benchmarks.data import START, Events

_TEMPLATES = 16
_SECOND, _REQUEST = b"####-##-##T##:##:##", b"@@@@@@@@"


@dataclass
class Sent:
    """What came of a load; latencies in seconds."""

    events: int = 0
    accepted: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    refused: int = 0


class Bodies:
    """
    Bodies of so many lines, the lines of each within one second of their own.

    They are filled in from a few templates, so that the load takes little of the processor.
    """

    def __init__(self, lines: int, seed: int) -> None:
        rng = random.Random(seed)
        self._templates = [self._template(rng, lines) for _ in range(_TEMPLATES)]

    def __getitem__(self, number: int) -> bytes:
        second = (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S").encode()
        template = self._templates[number % _TEMPLATES]
        return template.replace(_SECOND, second).replace(_REQUEST, b"%08d" % number)

    @staticmethod
    def _template(rng: random.Random, lines: int) -> bytes:
        events = Events(rng)
        made = (
            events.next(START + timedelta(milliseconds=n * 1_000 // lines)) for n in range(lines)
        )
        body = b"".join(line + b"\n" for line, _ in made)
        body = body.replace(START.strftime("%Y-%m-%dT%H:%M:%S").encode(), _SECOND)
        return body.replace(b'"requestId":"', b'"requestId":"' + _REQUEST + b"-")


class Refused(RuntimeError):
    """A request was told to come again later."""


def send(
    url: str,
    bodies: Bodies,
    connections: int,
    seconds: float,
    token: str | None = None,
    *,
    may_refuse: bool = False,
) -> tuple[Sent, int]:
    """
    Send bodies for so many seconds; return what came of it, and how many bodies there were.

    Raises:
        RuntimeError: One of them was refused and may not be, or was not stored whole.
    """
    numbers = itertools.count()
    found, failed = Sent(), list[Exception]()
    lock, ready = threading.Lock(), threading.Barrier(connections + 1)
    until = [0.0]

    def connection() -> None:
        post, close = _connected(url, token)
        ready.wait()
        try:
            while time.perf_counter() < until[0] and not failed:
                with lock:
                    number = next(numbers)
                body = bodies[number]
                start = time.perf_counter()
                try:
                    receipt = post(body)
                except Refused:
                    if not may_refuse:
                        raise
                    with lock:
                        found.refused += 1
                    continue
                latency = time.perf_counter() - start
                with lock:
                    found.events += body.count(b"\n")
                    found.accepted += receipt["accepted"]
                    found.latencies.append(latency)
        except (OSError, http.client.HTTPException, RuntimeError) as error:
            failed.append(error)
        finally:
            close()

    threads = [threading.Thread(target=connection) for _ in range(connections)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    until[0] = start + seconds
    ready.wait()
    for thread in threads:
        thread.join()
    found.seconds = time.perf_counter() - start
    if failed:
        raise RuntimeError(str(failed[0])) from failed[0]
    return found, next(numbers)


def _connected(
    url: str, token: str | None = None
) -> tuple[Callable[[bytes], dict[str, int]], Callable[[], None]]:
    address = urlsplit(url)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=120)

    def post(body: bytes) -> dict[str, int]:
        connection.request("POST", address.path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 503:
            raise Refused(f"{answer.status} {text[:500]!r}")
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {text[:500]!r}")
        receipt: dict[str, int] = json.loads(text)
        if receipt["received"] != body.count(b"\n"):
            raise RuntimeError(f"a body was not received whole: {receipt}")
        return receipt

    return post, connection.close


def main() -> None:
    """Send what the command line asks for; then the first body once more, which adds nothing."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--lines", type=int, default=1_000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--token")
    parser.add_argument("--refused", action="store_true")
    asked = parser.parse_args()
    bodies = Bodies(asked.lines, asked.seed)
    found, _ = send(
        asked.url,
        bodies,
        asked.connections,
        asked.seconds,
        asked.token,
        may_refuse=asked.refused,
    )
    if not asked.refused:
        post, close = _connected(asked.url, asked.token)
        again = post(bodies[0])
        close()
        if again["accepted"]:
            raise SystemExit("a body that was sent again was stored again")
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
