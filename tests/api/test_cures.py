"""Cures over REST: what a user's own file says, and the table of them."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings

NOW = 1_791_244_800_000_000  # 2026-10-06T00:00:00Z
OWN = """
[[client]]
names = ["openai-mcp"]
product = "=HYPERLINK(1)"
kind = "script"
"""


def service(database_url: str, own: Path | None = None) -> TestClient:
    settings = Settings(database_url=database_url, clients_file=own)
    return TestClient(create_app(settings, clock=lambda: NOW), base_url="http://localhost")


def log(client: TestClient) -> None:
    data = {"tool": "route", "client": "openai-mcp", "clientVersion": "1.0.0"}
    lines = [
        {"time": f"2026-10-0{day}T10:00:00Z", "data": data, "msg": "Retired tool called"}
        for day in (1, 2)
    ]
    answer = client.post("/ingest", content="\n".join(map(json.dumps, lines)))
    assert answer.json()["accepted"] == 2


def rows(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/v1/cures").json()["items"]
    return found


def test_the_users_own_file_goes_before_ours(database_url: str, tmp_path: Path) -> None:
    """A name that we know as ChatGPT's is a script of theirs, once they say so; the rows are the same."""
    client = service(database_url)
    log(client)
    (ours,) = rows(client)
    own = tmp_path / "clients.toml"
    own.write_text(OWN, encoding="utf-8")
    (theirs,) = rows(service(database_url, own))

    words = ("cure", "product", "kind", "behaviour", "stale_calls")
    assert [ours[word] for word in words] == ["rescan", "ChatGPT", "product", "frozen", 2]
    assert [theirs[word] for word in words] == [
        "hard_coded",
        "=HYPERLINK(1)",
        "script",
        "unknown",
        2,
    ]


def test_the_table_holds_the_sentences_and_no_formula(database_url: str, tmp_path: Path) -> None:
    """One row as CSV: sentences joined, and the product's name as text."""
    own = tmp_path / "clients.toml"
    own.write_text(OWN, encoding="utf-8")
    client = service(database_url, own)
    log(client)
    answer = client.get("/api/v1/cures", params={"format": "csv"})
    (row,) = csv.DictReader(io.StringIO(answer.text))

    assert row["product"] == "'=HYPERLINK(1)"
    assert row["why"].startswith("2 calls on 2 days from 1 caller.; ")
    assert row["cure"] == "hard_coded"
