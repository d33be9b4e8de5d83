"""A service that really runs: uvicorn on a loopback port, with a clock that can be set."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2 as httpx
import uvicorn
from fastapi import FastAPI

from service.app import create_app
from service.settings import Settings
from service.store import engine as db
from service.store import migrate, secrets


def micros(instant: str) -> int:
    """Microseconds since the epoch of an ISO instant."""
    return round(datetime.fromisoformat(instant).timestamp() * 1e6)


@dataclass
class Running:
    """A running service and a client for it."""

    app: FastAPI
    client: httpx.Client
    url: str

    def get(self, path: str, **params: Any) -> httpx.Response:
        return self.client.get(path, params={k: v for k, v in params.items() if v is not None})

    def rows(self, collection: str, **params: Any) -> list[dict[str, Any]]:
        """All rows of a collection, page by page."""
        rows: list[dict[str, Any]] = []
        cursor = None
        while True:
            answer = self.get(f"/api/v1/{collection}", **params, cursor=cursor, limit=1000)
            assert answer.status_code == 200, answer.text
            rows += answer.json()["items"]
            cursor = answer.json()["next_cursor"]
            if cursor is None:
                return rows


def with_fixed_secrets(database_url: str) -> Settings:
    """A database whose keys and identity hashes are the same as in every other test database."""
    opened = db.make_engine(database_url)
    migrate.upgrade(opened)
    with db.writing(opened) as connection:
        secrets.set_secrets(db.driver_of(connection), bytes(range(32)), bytes(range(32, 64)))
    opened.dispose()
    return Settings(database_url=database_url)


@contextmanager
def running(settings: Settings, now: str | None = None) -> Iterator[Running]:
    """Serve `settings` on a free loopback port until the block ends."""
    clock = {"clock": lambda: micros(now)} if now else {}
    app = create_app(settings, **clock)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the service ended at its start"
        assert time.monotonic() < deadline, "the service did not start"
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, timeout=60) as client:
        yield Running(app, client, url)
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive(), "the service did not stop"
