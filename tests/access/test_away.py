"""While nobody can be told apart, nobody is let in and nothing is stored; and strangers take no room of senders."""

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from service.access import Access
from service.settings import Settings, sqlite_path
from tests.acceptance.service import running
from tests.access.conftest import LINE, House


def take_file(url: str) -> Callable[[], Any]:
    """Leave a folder where the SQLite file is; what is returned puts it back."""
    path = sqlite_path(url)
    assert path is not None
    elsewhere = Path(f"{path}.elsewhere")
    path.rename(elsewhere)
    path.mkdir()

    def mend() -> None:
        path.rmdir()
        elsewhere.rename(path)

    return mend


def take_connections(url: str) -> Callable[[], Any]:
    """Have PostgreSQL end every connection to the database and allow none; what is returned undoes that."""
    server = sa.make_url(url)
    name = server.database

    def ask(sql: str) -> None:
        other = server.set(database="postgres").render_as_string(hide_password=False)
        with psycopg.connect(other, autocommit=True) as connection:
            connection.execute(sql.encode())

    ask(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
    ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    return lambda: ask(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@pytest.fixture
def away(
    open_house: Callable[..., House], database_url: str
) -> tuple[House, str, Callable[[], Any]]:
    """A service that cannot look tokens up, although it could write; a secret; and what mends it."""
    secret = open_house().token("anna", "admin")
    house = open_house()
    take = take_file if sqlite_path(database_url) else take_connections
    return house, secret, take(database_url)


def test_what_cannot_be_told_is_told_later(
    away: tuple[House, str, Callable[[], Any]],
) -> None:
    """503 with a time to come again; a bulk request has it for each document; the same to everybody."""
    house, secret, mend = away
    bulk = '{"create":{}}\n' + json.dumps({"message": LINE}) + "\n"
    for shown in (secret, None, "lct_" + "A" * 43):
        for path in (
            "/ingest",
            "/v1/logs",
            "/loki/api/v1/push",
            "/services/collector",
            "/firehose",
        ):
            answer = house.ask("POST", path, shown, content=LINE)
            assert (answer.status_code, "retry-after" in answer.headers) == (503, True), path
        answer = house.ask("POST", "/_bulk", shown, content=bulk)
        assert [item["create"]["status"] for item in answer.json()["items"]] == [429]
        for path in ("/api/v1/names", "/", "/api/v1/audit", "/nothing", "/docs"):
            answer = house.ask("GET", path, shown)
            assert answer.status_code == 503, path
            # what the driver says may name hosts and users: it is for the log
            assert "be used now; send it again later" in answer.text, path
        assert house.ask("GET", "/login").status_code == 200
    mend()
    assert house.events(secret) == []
    assert house.ask("POST", "/ingest", secret, content=LINE).json()["accepted"] == 1
    assert house.ask("POST", "/ingest", content=LINE).status_code == 401


def test_strangers_who_log_in_slowly_keep_no_sender_waiting(database_url: str) -> None:
    """However many they are, and however much each says that it will send."""
    with running(Settings(database_url=database_url)) as service, ExitStack() as open_:
        access: Access = service.app.state.access
        secret = access.add("a", "ingest:maps", actor="command").secret
        address = ("127.0.0.1", int(service.url.rpartition(":")[2]))
        for _ in range(30):
            stranger = open_.enter_context(socket.create_connection(address))
            stranger.sendall(
                b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\ntoken="
            )
        for n in range(5):
            line = LINE.replace("10:15", f"10:1{n}")
            known = {"Authorization": f"Bearer {secret}"}
            answer = service.client.post("/ingest", content=line, headers=known, timeout=8)
            assert answer.json()["accepted"] == 1


def test_of_a_stranger_s_form_little_is_read(house: House) -> None:
    house.token("a", "admin")
    assert house.browser().post("/login", content=b"token=" + b"x" * 100_000).status_code == 413
