"""A page in Chromium with everything noted that must not happen."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request

from tests import programs

Theme = Literal["light", "dark"]
STRAY_TEXT = """[...document.querySelectorAll(".cards td, .cards tbody th")].filter(cell =>
    cell.children.length && [...cell.childNodes].some(node => node.nodeType === 3 && node.data.trim())
).map(cell => cell.textContent)"""
"""Cells of cards where text stands beside elements: on a narrow screen each of them would be a line of its own."""


@dataclass
class Watched:
    """A page, and its faults: console errors, uncaught errors, refused or foreign requests."""

    page: Page
    root: str
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Go to a path below the root and wait until every figure is drawn."""
        self.page.goto(self.root + path)
        self.settle()

    def settle(self) -> None:
        """Wait until every figure is drawn in the theme of the page."""
        self.page.wait_for_function(
            """() => {
                const dark = matchMedia("(prefers-color-scheme: dark)").matches;
                const theme = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
                return [...document.querySelectorAll("[data-figure]")].every(
                    (box) => box.dataset.drawn === theme);
            }"""
        )

    @contextmanager
    def leaving(self) -> Iterator[None]:
        """What is done inside leads to another page: wait for it, until every figure is drawn."""
        with self.page.expect_navigation():
            yield
        self.settle()

    def open_tables(self) -> None:
        """Show the table behind every figure."""
        self.page.evaluate(
            "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )

    def table(self, name: str) -> list[dict[str, str]]:
        """The rows of a table as they are read: column heading → text."""
        rows: list[dict[str, str]] = self.page.eval_on_selector(
            f"#{name}",
            """(table) => {
                const text = (cell) => cell.textContent.replace(/\\s+/g, " ").trim();
                const heads = [...table.tHead.rows[0].cells].map(text);
                return [...table.tBodies[0].rows].map((row) =>
                    Object.fromEntries([...row.cells].map((cell, i) => [heads[i], text(cell)])));
            }""",
        )
        return rows

    def axe(self) -> list[str]:
        """What axe-core reports of the page as it is now: rule, and the elements."""
        axe = programs.node_package("axe-core") / "axe.min.js"
        self.page.evaluate(axe.read_text(encoding="utf-8"))
        found: dict[str, Any] = self.page.evaluate(
            "() => axe.run(document, {resultTypes: ['violations']})"
        )
        return [
            f"{violation['id']}: {json.dumps([node['html'][:200] for node in violation['nodes'][:5]])}"
            for violation in found["violations"]
        ]


@contextmanager
def watched(
    chromium: Browser,
    root: str,
    theme: Theme = "light",
    width: int = 1440,
    *,
    javascript: bool = True,
    touch: bool = False,
) -> Iterator[Watched]:
    """A fresh page of that width and theme, on a screen with a pointer or one to touch; it is an error if it has any fault in the end."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=theme,
        java_script_enabled=javascript,
        has_touch=touch,
        is_mobile=touch,
        bypass_csp=False,
        timezone_id="Asia/Tokyo",
    )
    page = context.new_page()
    seen = Watched(page, root)

    def heard(said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:
            seen.faults.append(said.text)

    def asked(box: Dialog) -> None:
        seen.faults.append(f"dialog {box.message}")
        box.dismiss()

    def failed(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # who goes on leaves what is under way
            seen.faults.append(f"failed {request.url}: {request.failure}")

    def sent(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != root:
            seen.faults.append(f"foreign request {request.url}")

    page.on("console", heard)
    page.on("pageerror", lambda error: seen.faults.append(str(error)))
    page.on("dialog", asked)
    page.on("requestfailed", failed)
    page.on("request", sent)
    try:
        yield seen
        assert not seen.faults, seen.faults
    finally:
        context.close()
