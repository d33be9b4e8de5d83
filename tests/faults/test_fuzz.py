"""A broken line costs nothing but itself: not its neighbours, not the account, not the service."""

import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service import intake
from service.app import create_app
from service.settings import Settings
from service.store import check
from service.store.engine import make_engine, reading
from tests.faults.mutants import Mutants, first_seed
from tests.faults.programs import event_line

SHORT_S, LONG_S = 10.0, 300.0
"""For each of the two databases."""

AT_ONCE = 100
NEIGHBOUR = "neighbour"
QUESTIONS = [
    "names",
    "clients",
    "callers",
    "events",
    "reactions",
    "reactions/latency",
    "health",
    "rejects",
    "cures",
    "uptake",
    "stopped",
    "said",
    "vintage",
]
PAGES = ["/", "/clients", "/reactions", "/health"]
FATES = ("accepted", "duplicates", "ignored", "rejected")


FOUND = {
    "nul-in-needle": b'{"time":"2026-10-05T10:15:02Z","data":{"tool":"a"},"msg":"Retired to\0ol called"}',
    "nul-in-broken": b'{"time":"2026-10-05T10:15:02Z","data":{"tool":NaN,},"msg":"Retired to\0ol called"}',
}
"""What was found here before."""


class Trial:
    """A service and the files beside it, to which broken lines are given."""

    def __init__(self, client: TestClient, settings: Settings, folder: Path) -> None:
        self.client, self.settings, self.folder = client, settings, folder
        self.neighbours = 0

    def fault(self, mutants: Sequence[bytes]) -> str | None:
        """What goes wrong when each of the lines stands between two good ones; None if nothing does."""
        first = self.neighbours
        self.neighbours += len(mutants) + 1
        good = [event_line(NEIGHBOUR, number) for number in range(first, self.neighbours)]
        lines = itertools.chain.from_iterable(
            (line, mutant + b"\n") for line, mutant in zip(good, mutants, strict=False)
        )
        body = b"".join(lines) + good[-1]
        try:
            return self._fault(body, len(good))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            return repr(error)

    def _fault(self, body: bytes, good: int) -> str | None:
        answer = self.client.post("/ingest?server=maps", content=body)
        if answer.status_code != 200:
            return f"{answer.status_code}: {answer.text}"
        by_request: dict[str, Any] = answer.json()
        file = self.folder / "broken.log"
        file.write_bytes(body)
        read = intake.read([str(file)], self.settings, server="maps", source="files")
        by_file = read.receipt.as_json()
        if read.unread:
            return f"unread: {read.unread}"
        both: list[dict[str, Any]] = [by_request, by_file]
        for said in both:
            if said["received"] != sum(int(said[fate]) for fate in FATES):
                return f"does not add up: {said}"
        if by_request["accepted"] < good:
            return f"of {good} neighbours and the broken lines only {by_request['accepted']} stored"
        if self._told(by_request) != self._told(by_file):
            return f"as a request {by_request}, as a file {by_file}"
        return None

    def _told(self, receipt: dict[str, Any]) -> list[Any]:
        events = receipt["accepted"] + receipt["duplicates"]
        return [events, *(receipt[name] for name in ("received", "ignored", "rejected", "reasons"))]

    def least(self, mutants: Sequence[bytes]) -> tuple[Sequence[bytes], str | None]:
        """The fewest of these lines that still show a fault: one, where one alone does."""
        for mutant in mutants:
            if why := self.fault([mutant]):
                return [mutant], why
        return mutants, self.fault(mutants)


@pytest.mark.parametrize(
    "lasts_s",
    [
        pytest.param(SHORT_S, id="short"),
        pytest.param(LONG_S, id="long", marks=pytest.mark.slow),
    ],
)
def test_broken_lines_cost_nothing_but_themselves(
    lasts_s: float, new_database: Callable[[], str], tmp_path: Path
) -> None:
    """Each is accounted for, alike in a request and in a file, and both its neighbours are stored."""
    settings = Settings(database_url=new_database())
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        trial = Trial(client, settings, tmp_path)
        end = time.monotonic() + lasts_s
        first = first_seed()
        for seed in itertools.count(first):
            mutants = list(itertools.islice(iter(Mutants(seed)), AT_ONCE))
            if why := trial.fault(mutants):
                least, alone = trial.least(mutants)
                pytest.fail(
                    f"LASTCALL_TEST_SEED={seed}: {alone or why}\n" + "\n".join(map(repr, least))
                )
            if time.monotonic() > end:
                break

        assert neighbours(client) == trial.neighbours
        assert seed > first
        answers = [client.get(f"/api/v1/{question}") for question in QUESTIONS]
        answers += [client.get(page) for page in PAGES]

    assert [answer.status_code for answer in answers] == [200] * len(answers)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        assert check.differences(connection) == []
    engine.dispose()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("line", FOUND.values(), ids=FOUND)
def test_what_was_found_before_stays_mended(
    line: bytes, new_database: Callable[[], str], tmp_path: Path
) -> None:
    """The line is read alike in a request and in a file, and its neighbours are stored."""
    settings = Settings(database_url=new_database())
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert Trial(client, settings, tmp_path).fault([line]) is None


def neighbours(client: TestClient) -> int:
    """How many neighbours are stored, by their own times."""
    times: set[str] = set()
    stored, cursor = 0, None
    while True:
        asked = {"client": NEIGHBOUR, "limit": "1000", **({"cursor": cursor} if cursor else {})}
        answer = client.get("/api/v1/events", params=asked).json()
        stored += len(answer["items"])
        times.update(row["time"] for row in answer["items"])
        cursor = answer["next_cursor"]
        if cursor is None:
            assert len(times) == stored
            return stored
