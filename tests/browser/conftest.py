"""A real Chromium, and services with made-up months in front of it."""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from service import demo
from service.settings import Settings
from tests import programs
from tests.acceptance.service import Running, running
from tests.browser import strangers, walk

NOW = "2026-10-06T12:00:00Z"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """
    One browser for these tests; each page gets a fresh profile. Not for the whole run: as long as it
    lives, Playwright runs an event loop in this thread, and no other test can run one.
    """
    path = programs.chromium()
    with sync_playwright() as play:
        own = {"FONTCONFIG_FILE": str(Path(__file__).with_name("fonts.conf"))}
        browser = play.chromium.launch(
            executable_path=path, args=list(FLAGS), env={**os.environ, **own}
        )
        yield browser
        browser.close()


def settings_in(folder: Path) -> Settings:
    """Settings with a database in that folder."""
    return Settings(database_url=f"sqlite:///{folder / 'events.db'}")


@pytest.fixture(scope="package")
def months(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that holds the months of `lastcall demo`, with its clock at `NOW`."""
    with running(settings_in(tmp_path_factory.mktemp("months")), now=NOW) as service:
        fill(service)
        yield service


def fill(service: Running) -> None:
    """Deliver the months of `lastcall demo`, with a line in each that cannot be used."""
    now = datetime.fromisoformat(NOW)
    for server, lines in demo.demo_logs(now).items():
        body = b"\n".join([*lines, b'{"msg": "Retired tool called", "level": "warn"}'])
        service.client.post("/ingest", params={"server": server}, content=body)
    for release in demo.demo_releases(now):
        service.app.state.cataloguing.release(
            release.server, release.version, release.at_us, source=release.source, actor="demo"
        )


@pytest.fixture(scope="package")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The same months, in which every client, retired name and server bears a stranger's name, and of which things are told."""
    with running(settings_in(tmp_path_factory.mktemp("strange")), now=NOW) as service:
        strangers.fill(service, NOW)
        yield service


@pytest.fixture(scope="package")
def ways(strange: Running) -> dict[str, str]:
    """An address of each page that holds those names, as links lead there."""
    return walk.places(strange)
