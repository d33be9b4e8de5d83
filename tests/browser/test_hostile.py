"""Names that strangers chose: shown as they are, and nothing else happens."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, settings_in
from tests.browser.strangers import NAMES
from tests.browser.watch import watched


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service whose clients, names, servers and versions are all such."""
    lines = [
        json.dumps(
            {
                "level": "warn",
                "time": f"2026-10-05T{hour:02}:00:00Z",
                "data": {
                    "tool": name,
                    "client": name,
                    "clientVersion": name[:40],
                    "replacedBy": [name],
                    "lastRelease": name[:40],
                },
                "msg": "Retired tool called",
            }
        )
        for hour, name in enumerate(NAMES)
    ]
    with running(settings_in(tmp_path_factory.mktemp("hostile")), now=NOW) as service:
        answer = service.client.post(
            "/ingest", params={"server": NAMES[0]}, content="\n".join(lines).encode()
        )
        assert answer.json()["accepted"] == len(NAMES)
        yield service


@pytest.mark.parametrize(
    ("start", "table", "row"), [("/", "names", "name"), ("/clients", "clients", "client")]
)
def test_each_name_leads_to_its_own_page(
    chromium: Browser, hostile: Running, start: str, table: str, row: str
) -> None:
    """By its link, from the names and from the clients."""
    wanted = {str(each[row]) for each in hostile.rows(table)}
    with watched(chromium, hostile.url, javascript=False) as seen:
        seen.page.goto(hostile.url + start)
        links = {
            str(link.text_content()): str(link.get_attribute("href"))
            for link in seen.page.locator(f"#{table} tbody th a.long").all()
        }
        assert links.keys() == wanted
        for text, href in links.items():
            seen.page.goto(hostile.url + href)
            assert seen.page.locator("h1").text_content() == text
            assert seen.page.locator("#callers tbody tr").count() == 1
