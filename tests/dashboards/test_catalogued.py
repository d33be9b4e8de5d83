"""Pages about names that the catalogue tells of and nobody calls."""

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings
from tests.api.test_rest import NOW, line

NAME = "old-<b>"


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    """A service that heard of one name and was told of another."""
    app = create_app(Settings(database_url=database_url), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost") as opened:
        told = {"server": "maps", "name": NAME, "replaced_by": ["plan"]}
        opened.post("/api/v1/catalogue", content=json.dumps(told))
        said = json.dumps(line("2026-10-05T10:00:00Z", "zed"))
        opened.post("/ingest?server=maps", content=said)
        yield opened


def test_a_name_that_was_never_called_has_its_row_and_its_page(client: TestClient) -> None:
    """Both say so, neither breaks, and the name stays text."""
    row = client.get("/")
    page = client.get("/name", params={"server": "maps", "name": NAME})

    assert (row.status_code, page.status_code) == (200, 200)
    assert "never called" in row.text
    assert "Never called, as far as the log tells." in page.text
    assert "plan" in page.text
    assert "<b>old" not in page.text + row.text
    assert "old-<b>" not in page.text + row.text
