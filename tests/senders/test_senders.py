"""
Real senders, alive: the service is stopped, started again and killed while they send, its database cannot
be written for a while, and what they sent is stored once. The service asks for a token, and each sends its own.
"""

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from service.access import open_access
from service.settings import Settings
from tests.faults.programs import FIRST, Server, account_of, free_port, rows, serving, until
from tests.programs import missing
from tests.senders.kinds import AS_IT_COMES, KINDS, LOG, LOSING, MORE, SERVER, Place
from tests.senders.running import Sender, sending

LINES = 1_000
CLIENT = "claude-code"
SENDER = "shipper"
"""The name of its token, which is that of its feed."""
LAST_S = 180.0
"""The longest that a sender waits before it tries again, twice, and some."""


def lines(first: int, end: int) -> bytes:
    """The calls of these numbers; each is of a name of its own."""
    return b"".join(call_line(number) for number in range(first, end))


def call_line(number: int) -> bytes:
    """One call. Who logs it by a logger of its own gives it that logger's time."""
    at = (FIRST + timedelta(milliseconds=number)).isoformat(timespec="milliseconds")
    data = {"tool": f"gone-{number}", "client": CLIENT, "requestId": str(number)}
    line = {"level": "info", "time": at, "pid": 7, "data": data, "msg": "Retired tool called"}
    return json.dumps(line).encode() + b"\n"


def calls(first: int, end: int) -> set[str]:
    """The names of the same calls."""
    return {f"gone-{number}" for number in range(first, end)}


def stored(server: Server) -> int:
    """How many calls the service says it stored."""
    return account_of(server.url, server.secret)["accepted"]


def health(server: Server) -> list[dict[str, Any]]:
    """The account, a row a source and day."""
    return list(rows(server.url, "health", server.secret))


def assert_stored(server: Server, sender: Sender, least: set[str]) -> None:
    """These calls are stored, no more are lost than was predicted, and each is stored and counted once."""
    found = Counter(row["name"] for row in rows(server.url, "events", server.secret))
    assert [call for call, number in found.items() if number > 1] == []
    assert least - set(found) == set(), sender.said()
    assert set(found) - calls(0, LINES) == set()
    assert LINES - len(found) <= sender.kind.loses, sender.said()
    account = account_of(server.url, server.secret)
    assert account["accepted"] == len(found)
    assert account["rejected"] == account["ignored"] == 0
    assert {(row["server"], row["source"]) for row in health(server)} == {(SERVER, SENDER)}


def closed(database_url: str, folder: Path) -> tuple[Server, Place]:
    """A service that asks everybody for a token, and where a sender with one runs that delivers its server's lines."""
    with open_access(Settings(database_url=database_url)) as access:
        own = access.add("own", "admin", actor="command").secret
        deliver = access.add(SENDER, f"ingest:{SERVER}", actor="command").secret
    server = Server(database_url, folder / "serve.log", secret=own)
    place = Place(folder / "sender", server.url, deliver, free_port())
    place.folder.mkdir()
    return server, place


@pytest.mark.parametrize("name", KINDS)
def test_what_is_sent_to_a_service_that_is_stopped_and_killed_is_stored_once(
    name: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """A thousand calls are logged while it runs, is stopped, runs again, is killed, and runs."""
    server, place = closed(make_url("sqlite"), tmp_path)
    with serving(server), sending(KINDS[name], place) as sender:
        sender.log(lines(0, 300))
        until(lambda: stored(server) > 0, "the first delivery")
        server.stop()
        sender.log(lines(300, 600))
        server.start()
        kill_in_the_middle(server, sender)

        assert_stored(server, sender, least=calls(0, LINES))


@pytest.mark.parametrize("name", KINDS)
def test_what_a_database_refuses_for_a_while_is_stored_once(
    name: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """A thousand calls are logged while PostgreSQL can be written, cannot, and can again, and while the
    service is killed."""
    url = make_url("postgresql")
    server, place = closed(url, tmp_path)
    with serving(server), sending(KINDS[name], place) as sender:
        sender.log(lines(0, 300))
        until(lambda: stored(server) > 0, "the first delivery")
        with read_only(url):
            sender.log(lines(300, 600))
            until(lambda: bool(server.logged("writing to the database fails")), "a refusal")
        kill_in_the_middle(server, sender)

        assert_stored(server, sender, least=calls(0, LINES))


def test_rsyslog_as_it_comes_loses_what_is_logged_while_the_service_is_away(
    tmp_path: Path,
) -> None:
    """Nothing that was delivered is lost or counted twice; how much else is lost depends on the time."""
    server, place = closed(f"sqlite:///{tmp_path / 'calls.db'}", tmp_path)
    with serving(server), sending(AS_IT_COMES, place) as sender:
        sender.log(lines(0, 300))
        until(lambda: stored(server) == 300, "the first deliveries")
        server.stop()
        sender.log(lines(300, 600))
        until(lambda: "suspending" in sender.said(), "a delivery that fails")
        server.start()
        sender.log(lines(600, LINES))
        sender.end()

        assert_stored(server, sender, least=calls(0, 300))
        assert stored(server) < LINES


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE)
def test_what_more_senders_send_to_a_service_that_is_stopped_and_killed_is_stored_once(
    name: str, tmp_path: Path
) -> None:
    """Likewise, for those that take a while."""
    server, place = closed(f"sqlite:///{tmp_path / 'calls.db'}", tmp_path)
    with serving(server), sending(MORE[name], place) as sender:
        sender.log(lines(0, 300))
        until(lambda: stored(server) > 0, "the first delivery")
        server.stop()
        sender.log(lines(300, 600))
        server.start()
        kill_in_the_middle(server, sender)

        assert_stored(server, sender, least=calls(0, LINES))


@pytest.mark.slow
@pytest.mark.parametrize("name", LOSING)
def test_what_was_delivered_before_the_service_went_away_is_stored_once(
    name: str, tmp_path: Path
) -> None:
    """Some senders lose what comes later, and count none twice."""
    server, place = closed(f"sqlite:///{tmp_path / 'calls.db'}", tmp_path)
    with serving(server), sending(LOSING[name], place) as sender:
        sender.log(lines(0, 300))
        until(lambda: stored(server) == 300, "the first deliveries")
        server.stop()
        sender.log(lines(300, 600))
        server.start()
        server.kill()
        sender.log(lines(600, LINES))
        server.start()
        sender.end()

        assert_stored(server, sender, least=calls(0, 300))


def test_a_file_that_curl_sends_again_is_stored_once(tmp_path: Path) -> None:
    """It is sent while the service is away, tried until it is there, and sent once more."""
    if not shutil.which("curl"):
        missing("curl")
    server, place = closed(f"sqlite:///{tmp_path / 'calls.db'}", tmp_path)
    (place.folder / LOG).parent.mkdir(parents=True)
    (place.folder / LOG).write_bytes(lines(0, LINES))
    command = ["sh", str(place.example("curl", "example.sh"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as early, serving(server):
        assert early.wait(60) == 0
        again = subprocess.run(command, capture_output=True, check=True, timeout=60)

        assert json.loads(again.stdout)["duplicates"] == LINES
        assert {(row["server"], row["source"]) for row in health(server)} == {(SERVER, SENDER)}
        assert {row["name"] for row in rows(server.url, "events", server.secret)} == calls(0, LINES)
        assert account_of(server.url, server.secret)["accepted"] == LINES


def kill_in_the_middle(server: Server, sender: Sender) -> None:
    """Have the last 400 calls sent, and kill the service as soon as some more are stored; start it again
    and wait until the sender has done."""
    before = stored(server)
    sender.log(lines(600, 900))
    until(lambda: stored(server) > before, "a delivery after the outage")
    server.kill()
    sender.log(lines(900, LINES))
    server.start()
    until(lambda: stored(server) >= LINES, "the last delivery", LAST_S)
    sender.end()


@contextmanager
def read_only(url: str) -> Iterator[None]:
    """A database that may not be written while the block runs, as after a failover."""
    database = sa.make_url(url).database
    other = sa.make_url(url).set(database="postgres").render_as_string(hide_password=False)
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"

    def switch(word: str) -> None:
        with psycopg.connect(other, autocommit=True) as administrator:
            administrator.execute(
                f'ALTER DATABASE "{database}" SET default_transaction_read_only = {word}'.encode()
            )
            administrator.execute(ends, [database])

    switch("on")
    try:
        yield
    finally:
        switch("off")
