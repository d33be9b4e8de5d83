"""
Real senders, alive: the service is stopped, started again and killed while they send, its database cannot
be written for a while, and what they sent is stored once.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from tests.faults.programs import (
    FIRST,
    Identity,
    Server,
    account_of,
    event_line,
    rows,
    serving,
    until,
)
from tests.senders.kinds import AS_IT_COMES, KINDS
from tests.senders.running import Sender, sending

LINES = 1_000
CLIENT = "claude-code"


def lines(first: int, end: int) -> bytes:
    """The calls of these numbers; each has a time of its own."""
    return b"".join(event_line(CLIENT, number) for number in range(first, end))


def calls(first: int, end: int) -> set[Identity]:
    """The same calls, as they are told when they are stored."""
    times = (FIRST + timedelta(milliseconds=number) for number in range(first, end))
    told = (at.replace(tzinfo=None).isoformat(timespec="milliseconds") for at in times)
    return {(CLIENT, f"{at}Z") for at in told}


def stored(server: Server) -> int:
    """How many calls the service says it stored."""
    return account_of(server.url)["accepted"]


def assert_stored(server: Server, sender: Sender, least: set[Identity]) -> None:
    """These calls are stored, no more are lost than was predicted, and each is stored and counted once."""
    found = Counter((row["client"], row["time"]) for row in rows(server.url, "events"))
    assert [call for call, number in found.items() if number > 1] == []
    assert least - set(found) == set(), sender.said()
    assert set(found) - calls(0, LINES) == set()
    assert LINES - len(found) <= sender.kind.loses, sender.said()
    account = account_of(server.url)
    assert account["accepted"] == len(found)
    assert account["rejected"] == account["ignored"] == 0


@pytest.mark.parametrize("name", KINDS)
def test_what_is_sent_to_a_service_that_is_stopped_and_killed_is_stored_once(
    name: str, make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """A thousand calls are logged while it runs, is stopped, runs again, is killed, and runs."""
    server = Server(make_url("sqlite"), tmp_path / "serve.log")
    with serving(server), sending(KINDS[name], tmp_path / "sender", server.url) as sender:
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
    server = Server(url, tmp_path / "serve.log")
    with serving(server), sending(KINDS[name], tmp_path / "sender", server.url) as sender:
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
    server = Server(f"sqlite:///{tmp_path / 'calls.db'}", tmp_path / "serve.log")
    with serving(server), sending(AS_IT_COMES, tmp_path / "sender", server.url) as sender:
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


def kill_in_the_middle(server: Server, sender: Sender) -> None:
    """Have the last 400 calls sent, and kill the service as soon as some more are stored; start it again
    and wait until the sender has done."""
    before = stored(server)
    sender.log(lines(600, 900))
    until(lambda: stored(server) > before, "a delivery after the outage")
    server.kill()
    sender.log(lines(900, LINES))
    server.start()
    until(lambda: stored(server) >= LINES - sender.kind.loses, "the last delivery")
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
