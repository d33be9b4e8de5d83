"""Ten thousand clients with hostile names, loud for one day, beside one that calls on sixty days."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.watch import watched

SCRIPT = "<script>document.title='{0}';alert('{0}')</script>"
SERVER = SCRIPT.format("server")
MANY = 10_000
LOUD = 50
"""So many of them call a hundred times."""
END = datetime(2026, 10, 6, 11, tzinfo=UTC)
LIMIT = 300_000
"""Bytes that a page may have."""


def line(at: datetime, client: str, name: str, version: str) -> str:
    """A stale call whose every text is a script, or its client's own."""
    data = {
        "tool": name,
        "client": client,
        "clientVersion": version,
        "lastRelease": SCRIPT.format("release"),
        "replacedBy": [SCRIPT.format("new")],
        "message": SCRIPT.format("message"),
    }
    time = at.isoformat().replace("+00:00", "Z")
    return json.dumps({"time": time, "data": data, "msg": "Retired tool called"})


def lines() -> Iterator[str]:
    """The real client's calls, and those of the others."""
    for day in range(60):
        yield line(END - timedelta(days=day, minutes=day * 7), "real", "old", "1.0")
    for number in range(MANY):
        for time in range(100 if number < LOUD else 1):
            at = END - timedelta(hours=3) + timedelta(milliseconds=20 * number, microseconds=time)
            client, name = SCRIPT.format(number), SCRIPT.format(number % 300)
            yield line(at, client, name, SCRIPT.format(f"v{number}"))


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that holds them, and was told things in scripts, too."""
    with running(settings_in(tmp_path_factory.mktemp("flood")), now=NOW) as service:
        every = list(lines())
        for first in range(0, len(every), 5_000):
            body = "\n".join(every[first : first + 5_000]).encode()
            asked = {"server": SERVER, "source": SCRIPT.format("source")}
            answer = service.client.post("/ingest", params=asked, content=body)
            assert answer.json()["rejected"] == 0
        note = {"note": SCRIPT.format("note")}
        for number in range(40):
            client = SCRIPT.format(number + 100)
            for path, told in (
                ("marks", {"kind": "known", "server": SERVER, "client": client}),
                ("aliases", {"client": SCRIPT.format(number + 200), "target": SERVER}),
                ("exclusions", {"client": SCRIPT.format(number + 300)}),
            ):
                answer = service.client.post(f"/api/v1/{path}", json={**told, **note})
                assert answer.status_code == 200
            entry = {"server": SERVER, "name": SCRIPT.format(number), **ENTRY}
            service.client.post("/api/v1/catalogue", json=entry)
        yield service


ENTRY = {"message": SCRIPT.format("entry"), "replaced_by": [SCRIPT.format("other")]}
PAGES = {
    "names": "/",
    "todo": "/todo",
    "all": "/todo?show=all",
    "name": f"/name?{urlencode({'server': SERVER, 'name': SCRIPT.format(7)})}",
    "client": f"/client?{urlencode({'client': SCRIPT.format(7)})}",
    "alias": f"/client?{urlencode({'client': SERVER})}",
    "clients": "/clients",
    "catalogue": "/catalogue",
    "told": "/told",
    "left out": "/todo?excluded=only",
    "undo": "/undo/1",
    "health": "/health",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_stays_small_and_runs_no_strangers_script(
    chromium: Browser, flooded: Running, name: str
) -> None:
    """No dialog, no other title, no element of theirs, no fault that axe finds."""
    with watched(chromium, flooded.url) as seen:
        answer = seen.page.goto(flooded.url + PAGES[name])
        seen.settle()
        assert answer is not None
        assert answer.status == 200
        assert len(answer.body()) < LIMIT
        assert "Last Call" in seen.page.title()
        assert seen.page.locator("script:not([src])").count() == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1440
        assert seen.axe() == []


def test_the_real_client_comes_first(flooded: Running) -> None:
    """Sixty days with a call each are more than a hundred calls on one day."""
    (first, second, *_) = flooded.get("/api/v1/todo", limit=2).json()["items"]
    assert (first["client"], first["client_days"], first["client_calls"]) == ("real", 60, 60)
    assert (second["client_days"], second["client_calls"]) == (1, 100)
