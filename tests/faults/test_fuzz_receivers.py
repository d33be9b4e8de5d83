"""A broken request costs nothing but itself, at every receiver."""

import errno
import itertools
import json
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

import pytest

from tests.captures.runs import Request
from tests.faults.answers import Answer, strange
from tests.faults.carriers import CARRIERS
from tests.faults.mutants import first_seed
from tests.faults.programs import (
    PATIENCE_S,
    Server,
    account_of,
    event_line,
    rows,
    serving,
)
from tests.faults.requests import MutantRequests, Sent

SHORT_S, LONG_S = 10.0, 300.0
"""For each of the two databases."""

AT_ONCE = 50
_ENDED = {errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN}
NEIGHBOUR = "neighbour"


def answered(port: int, sent: Sent) -> Answer | None:
    """The answer to a request; None where the connection is closed without one."""
    request = sent.request
    head = [f"{request.method} {request.target} HTTP/1.1", "connection: close"]
    given = {"content-length": sent.length, **request.headers, "host": "localhost"}
    head += [f"{name}: {value}" for name, value in given.items()]
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        try:
            connection.sendall("\r\n".join([*head, "", ""]).encode("latin-1") + request.body)
            if sent.is_short:
                connection.shutdown(socket.SHUT_WR)  # which the server takes for hanging up
        except OSError as error:
            if error.errno not in _ENDED:  # it has answered before it read all
                raise
        response = HTTPResponse(connection, method=request.method)
        try:
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, response.read())
        except (HTTPException, ConnectionError):
            return None


class Trial:
    """A service to which broken requests are given, and good ones between them."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.neighbours = 0
        self.seen: Counter[tuple[str, int]] = Counter()

    def fault(self, mutants: Sequence[Sent]) -> str | None:
        """What goes wrong with these and a good request after each; None if nothing does."""
        for mutant in mutants:
            if why := self._of_mutant(mutant) or self._of_neighbour():
                request = mutant.request
                return (
                    f"{why}\n{request.method} {request.target} {request.headers}\n{request.body!r}"
                )
        return None

    def _of_mutant(self, mutant: Sent) -> str | None:
        try:
            answer = answered(self.server.port, mutant)
        except OSError as error:
            return f"no answer: {error!r}"
        path = mutant.request.target.partition("?")[0]
        self.seen["/".join(path.split("/")[:3]), answer.status if answer else 0] += 1
        if not mutant.is_true:  # then the server itself may refuse it, or wait for more
            return None if answer is None or answer.status < 500 else f"{answer.status} at {path}"
        return strange(path, answer) if answer else f"closed without an answer at {path}"

    def _of_neighbour(self) -> str | None:
        self.neighbours += 1
        name, carrier = list(CARRIERS.items())[self.neighbours % len(CARRIERS)]
        line = event_line(NEIGHBOUR, self.neighbours).rstrip()
        body = carrier.body([line])
        request = Request("POST", f"{carrier.path}?server=maps", carrier.headers, body, "")
        answer = answered(self.server.port, Sent(request, str(len(body))))
        if answer is None or answer.status not in {200, 204}:
            return f"a good request after it, as {name}: {answer}"
        return None


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize(
    "lasts_s",
    [
        pytest.param(SHORT_S, id="short"),
        pytest.param(LONG_S, id="long", marks=pytest.mark.slow),
    ],
)
def test_broken_requests_cost_nothing_but_themselves(
    lasts_s: float, kind: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """Each is answered in its protocol, the good ones between them are stored once, and the account of
    all of them adds up. `LASTCALL_TEST_SEED` says where to begin."""
    with serving(Server(make_url(kind), tmp_path / "serve.log")) as server:
        trial = Trial(server)
        end = time.monotonic() + lasts_s
        for seed in itertools.count(first_seed()):
            mutants = itertools.islice(iter(MutantRequests(seed)), AT_ONCE)
            if why := trial.fault(list(mutants)):
                log = server.log.read_text()[-3_000:]
                pytest.fail(f"LASTCALL_TEST_SEED={seed}: {why}\n{log}")
            if time.monotonic() > end:
                break
        assert_accounted(server, trial.neighbours)
        statuses = {status for _, status in trial.seen}

    print(f"{trial.neighbours} requests, seeds to {seed}: {sorted(trial.seen.items())}")  # noqa: T201
    assert statuses >= {200, 204, 400, 422}
    assert errors_of(server) == []


def errors_of(server: Server) -> list[dict[str, Any]]:
    """What its log says of faults."""
    lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    return [said for line in lines if (said := json.loads(line))["level"] == "error"]


def assert_accounted(server: Server, neighbours: int) -> None:
    """Every neighbour is stored once, and what health says is what is stored."""
    stored = [(row["client"], row["time"]) for row in rows(server.url, "events")]
    good = [each for each in stored if each[0] == NEIGHBOUR]
    assert len(good) == len(set(good)) == neighbours
    assert account_of(server.url)["accepted"] == len(stored)
