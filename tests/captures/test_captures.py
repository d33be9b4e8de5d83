"""
What real log clients sent is stored exactly once, whatever they went through and sent again.

The recordings tell what each client did when it was refused, or lost an answer; here every request is
taken, which is the worst that can happen: the receiver stored it and the client did not hear of it.
"""

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import httpx2 as httpx
import pytest
from fastapi import FastAPI

from service.app import create_app
from service.settings import Settings
from service.store.engine import writing
from service.store.schema import metadata
from tests.captures import truth
from tests.captures.runs import (
    CALLS,
    FOLDER,
    GROWING,
    ONE_LINE,
    STREAMS,
    UNREAD,
    Request,
    requests,
)
from tests.house.checkout import BIN, plain_environment

NOW = 1_796_083_200_000_000  # 2026-12-01T00:00:00Z, after the last recording
RUNS = sorted(CALLS)
CLIENTS = {client: list(runs) for client, runs in groupby(RUNS, lambda run: run.partition("/")[0])}
REFUSED = [run for run in RUNS if run[-3:] in {"400", "401", "413", "422", "429"}]
CUT_GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab"
T = TypeVar("T")


class Service:
    """The application over a database, spoken to over ASGI."""

    def __init__(self, database_url: str, **given: Any) -> None:
        settings = Settings(database_url=database_url, **given)
        self.app: FastAPI = create_app(settings, clock=lambda: NOW)

    def talk(self, say: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
        """Run *say* with a client of the service."""

        async def run() -> T:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                return await say(client)

        return asyncio.run(run())

    def send(self, sent: Sequence[Request], *, at_once: bool = False) -> list[httpx.Response]:
        """Send the requests one after the other, or all at the same time."""

        async def say(client: httpx.AsyncClient) -> list[httpx.Response]:
            if at_once:
                return await asyncio.gather(*(_answer(client, each) for each in sent))
            return [await _answer(client, each) for each in sent]

        return self.talk(say)

    def rows(self, collection: str) -> list[dict[str, Any]]:
        """The rows of a collection, at most a thousand."""

        async def say(client: httpx.AsyncClient) -> list[dict[str, Any]]:
            answer = await client.get(f"/api/v1/{collection}", params={"limit": 1_000})
            found: list[dict[str, Any]] = answer.raise_for_status().json()["items"]
            return found

        return self.talk(say)

    def calls(self) -> Counter[truth.Call]:
        """The stale calls that are stored, as the recordings tell them."""
        return Counter(
            (truth.milliseconds(row["time"]), row["name"], row["client"])
            for row in self.rows("events")
            if row["kind"] == "stale_call"
        )

    def forget(self) -> None:
        """Empty the database, but keep its secrets."""
        with writing(self.app.state.engine) as conn:
            for table in reversed(metadata.sorted_tables):
                if table.name != "meta":
                    conn.execute(table.delete())

    def fate(self, name: str) -> int:
        """A number of the health page, over all sources."""
        return sum(row[name] for row in self.rows("health"))


async def _answer(client: httpx.AsyncClient, request: Request) -> httpx.Response:
    return await client.request(
        request.method, request.target, headers=request.headers, content=request.body
    )


def with_body(run: str) -> list[Request]:
    """The requests of a run that bring something."""
    return [each for each in requests(run) if each.body]


def expected(run: str, sent: Sequence[Request]) -> Counter[truth.Call]:
    """What must be stored of these requests of a run."""
    found = truth.expected(sent)
    client = run.partition("/")[0]
    if client in UNREAD:
        return Counter()
    return found


def test_every_recording_is_told() -> None:
    """Each has its number of calls, and none is missing here."""
    assert {str(path.parent.relative_to(FOLDER)) for path in FOLDER.rglob("*.req")} == set(CALLS)
    assert {str(path.relative_to(FOLDER))[:-4] for path in FOLDER.rglob("*.bin")} == set(STREAMS)


@pytest.mark.parametrize("run", RUNS)
def test_the_count_by_hand_is_that_of_the_bytes(run: str) -> None:
    """Two ways to the same number, neither of which uses the product."""
    found = truth.expected(with_body(run)).total()
    assert found == CALLS[run]
    if run in ONE_LINE:
        assert sum(len(list(truth.calls(each))) for each in with_body(run)) - found == ONE_LINE[run]


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_the_count_by_hand_is_that_of_the_stream(name: str) -> None:
    """Likewise; but for a protocol of its own, which is no log."""
    text = (FOLDER / f"{name}.bin").read_bytes().decode(errors="replace")
    assert Counter(truth.of_text(text)).total() == STREAMS[name]


@pytest.fixture
def service(database_url: str) -> Service:
    """A service whose database can be emptied."""
    return Service(database_url)


@pytest.mark.parametrize("client", CLIENTS)
def test_a_run_is_stored_once(client: str, service: Service, subtests: pytest.Subtests) -> None:
    """Every request of it is answered as a success, its questions too; sent once more, every one of
    them, nothing is added. Of one-line senders the second of two equal calls is shown as suppressed."""
    for run in CLIENTS[client]:
        with subtests.test(run=run):
            service.forget()
            sent = requests(run)
            answers = service.send(sent)
            assert [answer.status_code for answer in answers if not answer.is_success] == []
            assert service.calls() == expected(run, with_body(run))
            if run in ONE_LINE:
                assert service.fate("suppressed") == ONE_LINE[run]
            service.send(with_body(run))
            assert service.calls() == expected(run, with_body(run))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_run_that_comes_twice_at_once_is_stored_once(
    client: str, service: Service, subtests: pytest.Subtests
) -> None:
    """Two copies of every request, all of them under way together."""
    for run in CLIENTS[client]:
        with subtests.test(run=run):
            service.forget()
            answers = service.send(with_body(run) * 2, at_once=True)
            assert [answer.status_code for answer in answers if not answer.is_success] == []
            assert service.calls() == expected(run, with_body(run))


@pytest.mark.parametrize("client", CLIENTS)
def test_what_was_refused_leaves_nothing(
    client: str, service: Service, subtests: pytest.Subtests
) -> None:
    """Where the first request was refused when it was recorded, it is not stored here either: what the
    client sent after it is all there is."""
    for run in CLIENTS[client]:
        with subtests.test(run=run):
            service.forget()
            heard = [each for each in with_body(run) if each.status[0] not in "45"]
            service.send(heard)
            assert service.calls() == expected(run, heard)


@pytest.mark.parametrize("run", sorted(GROWING))
def test_a_client_that_repeats_lines_within_a_body_is_believed(run: str, service: Service) -> None:
    """Equal lines of one body are events of their own, so bodies that grow by lines that were in them
    before count too many: as many as stand in the last. Five lines were logged, ten stand there. It is
    harmless: the client does this when it is refused, and no line of a good body makes that happen."""
    sent = with_body(run)
    assert len(sent[-1].body.splitlines()) == 10
    service.send(sent[:1])
    assert service.calls().total() == 3
    service.send(sent[1:])
    assert service.calls().total() == CALLS[run] == 6


@pytest.mark.parametrize("client", sorted({run.partition("/")[0] for run in REFUSED}))
def test_a_body_that_cannot_be_read_is_refused_in_the_words_of_the_protocol(
    client: str, database_url: str, subtests: pytest.Subtests
) -> None:
    """Those runs were refused for good bodies, which are taken here (see above). Broken, or larger than
    the limit, the same request gets the answer that its protocol asks for, and leaves nothing."""
    service = Service(database_url)
    small = Service(database_url, max_body_bytes=1024)
    for run in (run for run in REFUSED if run in CLIENTS[client]):
        with subtests.test(run=run):
            first = with_body(run)[0]
            headers = {**first.headers, "content-encoding": "gzip"}
            broken = Request(first.method, first.target, headers, CUT_GZIP, "")
            [answer] = service.send([broken])
            assert answer.status_code == _refused(first.target)
            _says_why(first, answer)
            large = Request(first.method, first.target, first.headers, first.body * 20, "")
            [answer] = small.send([large])
            assert answer.status_code == 413
            _says_why(first, answer)
    assert service.rows("events") == []
    assert service.rows("rejects") == []


def _refused(target: str) -> int:
    """The status for an undecodable body: 422 where it makes senders drop it, 400 elsewhere."""
    return 422 if target.startswith("/ingest") else 400


def _says_why(request: Request, answer: httpx.Response) -> None:
    """The form of a refusal."""
    if request.target.startswith("/v1/logs"):
        assert answer.headers["content-type"] == request.headers["content-type"]
        assert answer.content[0] == 8  # google.rpc.Status: a code, then a message
    elif "_bulk" in request.target:
        assert answer.headers["x-elastic-product"] == "Elasticsearch"
        assert answer.json()["status"] == answer.status_code
        assert answer.json()["error"]["reason"]
    elif request.target.startswith("/services/collector"):
        assert isinstance(answer.json()["code"], int)
        assert answer.json()["text"]
    elif request.target.startswith("/ingest"):
        assert answer.headers["content-type"] == "application/problem+json"
    else:
        assert answer.text


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_the_bytes_of_a_connection_are_read_as_a_file(name: str, tmp_path: Path) -> None:
    """`lastcall ingest -` of what came over TCP or UDP, and once more."""
    data = (FOLDER / f"{name}.bin").read_bytes()
    command = [str(BIN / "lastcall"), "ingest", "-", "--json", "--db", f"{tmp_path}/calls.db"]
    receipts = [
        json.loads(
            subprocess.run(
                command,
                input=data,
                env=plain_environment(tmp_path),
                capture_output=True,
                check=True,
            ).stdout
        )
        for _ in range(2)
    ]
    assert [receipt["accepted"] for receipt in receipts] == [STREAMS[name], 0]
    assert receipts[1]["duplicates"] == STREAMS[name]
