"""Two servers with all that a service knows of them; of one a link is made, and nothing of the other may be seen by it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.access.conftest import Hands, House

OWN, OTHER = "own", "canary"
"""Words in every name of the server *maps*, which links are made to, and of *weather*."""
END = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAYS = 35
CLIENTS = ("alpha", "beta", "gamma")
NAMES = ("one", "two")


def lines(
    word: str, names: tuple[str, ...] = NAMES, clients: tuple[str, ...] = CLIENTS
) -> Iterator[str]:
    """
    Five weeks of a server: each client says hello, lists, calls each name, is notified one day of its own, lists
    again and calls on, less. Whatever has a name has the *word* in it.
    """
    for day in range(DAYS):
        for number, client in enumerate(clients):
            at = END - timedelta(days=DAYS - day, minutes=-7 * number)
            who: dict[str, object] = {
                "client": f"{word}-client-{client}",
                "clientVersion": f"{1 + day // 20}.0-{word}",
                "sessionId": f"{word}-session-{client}-{day}",
                "address": f"192.0.2.{number + 1}",
            }
            told = 10 + 5 * number
            said: list[tuple[str, dict[str, object]]] = [
                ("Client initialized", who),
                ("Tools listed", {**who, "toolCount": 3}),
            ]
            if day >= told:
                said.append(
                    ("Tool list changed notification sent", {**who, "trigger": f"{word}-trigger"})
                )
                said.append(("Tools listed", {**who, "toolCount": 3}))
            for name in names:
                if day < told or (day + number) % 3 == 0:
                    entry = {
                        "tool": f"{word}-name-{name}",
                        "lastRelease": f"1.0.0-{word}",
                        "replacedBy": [f"{word}-new-{name}"],
                        "tombstone": f"use {word}-new-{name}",
                    }
                    said.append(("Retired tool called", {**who, **entry}))
                said.append(("Tool called", {**who, "tool": f"{word}-new-{name}"}))
            for step, (message, data) in enumerate(said):
                moment = at + timedelta(seconds=3 * step)
                yield json.dumps(
                    {"time": f"{moment:%Y-%m-%dT%H:%M:%S}.{step:03}Z", "msg": message, "data": data}
                )
        calls = END - timedelta(days=DAYS - day, minutes=-50)
        nobody = {"tool": f"{word}-name-{names[0]}"}
        yield json.dumps(
            {"time": f"{calls:%Y-%m-%dT%H:%M:%S}Z", "msg": "Retired tool called", "data": nobody}
        )


def tell(house: House, secret: str, server: str, word: str) -> None:
    """Everything that people can tell, of one server."""
    client, name = f"{word}-client-alpha", f"{word}-name-one"
    one = {
        "name": f"{word}-name-told",
        "message": f"{word}-message",
        "replaced_by": [f"{word}-new-told"],
    }
    tools = [{"name": f"{word}-new-one", "inputSchema": {"type": "object"}}]
    for path, body in (
        ("/api/v1/marks", {"kind": "contacted", "server": server, "client": client, "name": name,
                           "note": f"{word}-note"}),
        ("/api/v1/aliases", {"client": f"{word}-client-spelled", "target": client, "note": f"{word}-note"}),
        ("/api/v1/exclusions", {"server": server, "client": f"{word}-probe", "note": f"{word}-note"}),
        ("/api/v1/releases", {"server": server, "version": f"1.1.0-{word}", "at": "2026-11-10T00:00:00Z"}),
        ("/api/v1/notes", {"server": server, "at": "2026-11-11T00:00:00Z", "text": f"{word}-note"}),
        ("/api/v1/notes", {"at": "2026-11-12T00:00:00Z", "text": f"{word}-note"}),
        ("/api/v1/catalogue", {"server": server, **one}),
        ("/api/v1/snapshots", {"server": server, "version": f"1.1.0-{word}", "tools": tools}),
        ("/api/v1/plans", {"server": server, "wave_1_at": "2026-12-01", "wave_2_at": "2026-12-15",
                           "note": f"{word}-note"}),
    ):  # fmt: skip
        answer = house.ask("POST", path, secret, json=body)
        assert answer.status_code in {200, 201}, (path, answer.text)


def deliver(house: House, secret: str, server: str, body: str) -> None:
    answer = house.ask("POST", f"/ingest?server={server}&source={server}-log", secret, content=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["accepted"] > 0, answer.text


@contextmanager
def built(folder: Path) -> Iterator[House]:
    """A service with both servers and everything that there is to know of each, that asks for tokens."""
    clock = Hands()
    url = f"sqlite:///{folder / 'events.db'}"
    app = create_app(Settings(database_url=url, allowed_hosts="testserver"), clock=clock)
    with TestClient(app, follow_redirects=False) as client:
        house = House(app, client, clock)
        admin = house.token("anna", "admin")
        for server, word in (("maps", OWN), ("weather", OTHER)):
            deliver(house, admin, server, "\n".join(lines(word)))
            tell(house, admin, server, word)
        yield house
