"""A link in a real browser: alone, in a frame of another site, and in one that it was not made for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import get_args

import pytest
from playwright.sync_api import Browser, Page, expect

from service.sharing import Sharing
from tests.acceptance.service import Running
from tests.browser.watch import Theme, watched

GROUND = {"light": "rgb(247, 247, 245)", "dark": "rgb(19, 22, 26)"}
"""Of each theme, as DESIGN has it."""


@contextmanager
def wiki() -> Iterator[tuple[str, dict[str, str]]]:
    """A site of its own: its origin, and what it serves by path, to which tests add."""
    pages: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200 if body else 204)  # it has no icon
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}", pages
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sharing_of(service: Running) -> Sharing:
    found: Sharing = service.app.state.sharing
    return found


def framing(address: str) -> str:
    return f'<!doctype html><title>Wiki</title><h1>Wiki</h1><iframe title="calls" src="{address}" width="1000" height="1600"></iframe>'


def heard(page: Page) -> list[str]:
    """What the page and its frames complain of, from now on."""
    said: list[str] = []
    page.on(
        "console", lambda one: said.append(one.text) if one.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.mark.parametrize("theme", get_args(Theme))
def test_a_page_of_the_site_that_a_link_was_made_for_frames_it_and_it_draws(
    chromium: Browser, months: Running, theme: Theme
) -> None:
    """
    In the theme that the frame asks for, whatever the system has; without a cookie, a fault or a word to the wiki
    of where it is; and what is clicked on stays in the frame, without a bar.
    """
    other: Theme = "light" if theme == "dark" else "dark"
    with wiki() as (origin, pages):
        path = sharing_of(months).add("maps", embed=[origin], actor="command").path
        address = f"{months.url}{path}?embed=1&theme={theme}"
        pages["/page"] = framing(address.replace("&", "&amp;"))
        context = chromium.new_context(color_scheme=other, viewport={"width": 1100, "height": 1700})
        page = context.new_page()
        said = heard(page)
        asked: list[str] = []
        page.on("request", lambda one: asked.append(one.url))
        page.goto(f"{origin}/page")
        frame = page.frame_locator("iframe")
        expect(
            frame.locator(f"[data-figure][data-drawn={theme}] .barlayer .point").first
        ).to_be_visible()
        inside = page.frames[1]
        assert inside.evaluate("getComputedStyle(document.body).backgroundColor") == GROUND[theme]
        assert inside.evaluate("document.cookie") == ""
        for part in ("header", ".controls", "dialog", "form"):
            assert frame.locator(part).count() == 0, part
        frame.locator("#names tbody th a").first.click()
        expect(frame.locator("#callers")).to_be_visible()
        assert inside.url.startswith(f"{months.url}{path}name?")
        assert "embed=1" in inside.url
        assert frame.locator("header").count() == 0
        assert context.cookies() == []
        assert all(each.startswith((origin, months.url + path)) for each in asked)
        assert said == []
        context.close()


def test_a_site_that_a_link_was_not_made_for_frames_nothing(
    chromium: Browser, months: Running
) -> None:
    """Neither a link for nobody, nor one for another port of the same host, nor a page without a link."""
    with wiki() as (origin, pages), wiki() as (another, _):
        none = sharing_of(months).add("maps", actor="command").path
        elsewhere = sharing_of(months).add("maps", embed=[another], actor="command").path
        context = chromium.new_context()
        for path in (none, elsewhere, "/"):
            pages["/page"] = framing(f"{months.url}{path}?embed=1")
            page = context.new_page()
            said = heard(page)
            page.goto(f"{origin}/page")
            page.wait_for_load_state("networkidle")
            assert any("frame-ancestors" in each for each in said), (path, said)
            assert page.frames[1].locator("table").count() == 0
            page.close()
        context.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_somebody_makes_a_link_and_somebody_else_reads_by_it(
    chromium: Browser, months: Running, javascript: bool
) -> None:
    """From the form at the foot of a page to the same numbers; nothing for axe to report."""
    with watched(chromium, months.url, javascript=javascript) as seen:
        seen.page.goto(f"{months.url}/clients?server=maps&days=28")
        seen.page.get_by_text("Share this view…").click()
        seen.page.get_by_role("button", name="Make the link").click()
        address = seen.page.get_by_label("To server maps").input_value()
        if javascript:
            assert seen.axe() == []
    with (
        watched(chromium, months.url, "dark", 390) as guest,
        watched(chromium, months.url) as owner,
    ):
        guest.page.goto(address)
        guest.settle()
        assert guest.axe() == []
        assert guest.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert guest.page.get_by_text("Share this view…").count() == 0
        guest.page.keyboard.press("/")
        guest.page.keyboard.press("?")
        assert guest.page.locator("#keys").is_visible()
        owner.open("/clients?server=maps&days=28")
        assert guest.table("clients") == owner.table("clients")
        guest.page.keyboard.press("Escape")
        guest.page.goto(address.partition("/clients")[0] + "/told")
        assert guest.page.get_by_role("heading", name="Not allowed").is_visible()
        guest.faults = []  # Chromium logs the refusal itself
