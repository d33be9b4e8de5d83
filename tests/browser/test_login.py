"""Somebody logs in and out in a real browser, with scripts and without."""

from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser

from service.access import Access
from tests.acceptance.service import running
from tests.browser.conftest import NOW, fill, settings_in
from tests.browser.watch import Theme, watched


@pytest.mark.sampled(3)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", get_args(Theme))
def test_a_person_logs_in_where_they_wanted_to_go_and_out_again(
    chromium: Browser, tmp_path: Path, theme: Theme, width: int
) -> None:
    """Nothing for axe to report on the way, no fault, and figures load with the pass alone."""
    with running(settings_in(tmp_path), now=NOW) as service:
        fill(service)
        access: Access = service.app.state.access
        secret = access.add("eva", "read", actor="command").secret
        with watched(chromium, service.url, theme, width) as seen:
            seen.page.goto(service.url + "/clients?days=28")
            assert seen.page.url.startswith(service.url + "/login?next=")
            assert seen.axe() == []
            seen.page.get_by_label("Token").fill("lct_no")
            with seen.leaving():
                seen.page.get_by_role("button", name="Log in").click()
            assert seen.page.get_by_role("alert").is_visible()
            assert seen.axe() == []
            seen.faults = []  # Chromium logs the refusal itself
            seen.page.get_by_label("Token").fill(secret)
            with seen.leaving():
                seen.page.get_by_role("button", name="Log in").click()
            assert seen.page.url == service.url + "/clients?days=28"
            assert seen.page.evaluate("document.cookie") == ""
            assert seen.axe() == []
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
            with seen.leaving():
                seen.page.get_by_role("button", name="Log out").click()
            assert seen.page.url == service.url + "/login"
            seen.page.goto(service.url + "/")
            assert seen.page.url.startswith(service.url + "/login")
            assert seen.faults == []


def test_logging_in_needs_no_script(chromium: Browser, tmp_path: Path) -> None:
    with running(settings_in(tmp_path), now=NOW) as service:
        fill(service)
        access: Access = service.app.state.access
        secret = access.add("anna", "admin", actor="command").secret
        context = chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(service.url + "/told")
        page.get_by_label("Token").fill(secret)
        with page.expect_navigation():
            page.get_by_role("button", name="Log in").click()
        assert page.url == service.url + "/told"
        with page.expect_navigation():
            page.get_by_role("button", name="Log out").click()
        assert page.url == service.url + "/login"
        context.close()
