"""A service that asks for tokens, and hands that make them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2 as httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service.access import Access
from service.app import create_app
from service.settings import Settings
from service.tokens import Limits

NOW_US = 1_796_000_000_000_000  # 2026-11-30
LINE = '{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"gone"}}'


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_us = NOW_US

    def __call__(self) -> int:
        return self.now_us

    def pass_s(self, seconds: float) -> None:
        self.now_us += round(seconds * 1e6)


@dataclass
class House:
    """A service, a browser or sender before its door, and the clock of the service."""

    app: FastAPI
    client: TestClient
    clock: Hands

    @property
    def access(self) -> Access:
        access: Access = self.app.state.access
        return access

    def token(self, name: str, scope: str, **limits: int) -> str:
        """Make a token; its secret."""
        return self.access.add(name, scope, Limits(**limits), actor="command").secret

    def ask(self, method: str, path: str, secret: str | None = None, **more: Any) -> httpx.Response:
        """A request, with a secret as most senders show it."""
        headers = dict(more.pop("headers", {}))
        if secret is not None:
            headers["Authorization"] = f"Bearer {secret}"
        return self.client.request(method, path, headers=headers, **more)

    def events(self, secret: str) -> list[dict[str, Any]]:
        """What is stored."""
        found: list[dict[str, Any]] = self.ask("GET", "/api/v1/events", secret).json()["items"]
        return found

    def browser(self) -> TestClient:
        """Another one, with cookies of its own, that follows no redirects."""
        return TestClient(self.app, follow_redirects=False)


@pytest.fixture
def open_house(database_url: str) -> Iterator[Callable[..., House]]:
    """Makes services over one database."""
    clients: list[TestClient] = []

    def make(**settings: Any) -> House:
        clock = Hands()
        known = {"database_url": database_url, "allowed_hosts": "testserver", **settings}
        app = create_app(Settings(**known), clock=clock)
        client = TestClient(app, follow_redirects=False)
        client.__enter__()
        clients.append(client)
        return House(app, client, clock)

    yield make
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def house(open_house: Callable[..., House]) -> House:
    """A service that nobody made a token of yet."""
    return open_house()


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Two servers with everything that there is to know of each (`tests.access.shared`)."""
    from tests.access.shared import built

    with built(tmp_path_factory.mktemp("world")) as house:
        yield house
