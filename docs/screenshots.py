"""
Take the pictures of docs/images from the demo, in both themes.

    .venv/bin/python docs/screenshots.py

needs Chromium (`python3 dev.py test` installs it where it may). Take them again when a page has changed: its
numbers end on the day on which they are taken.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent / "images"
PAGES = {"names": "/?server=maps", "effect": "/effect?server=maps"}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
DRAWN = """(theme) => [...document.querySelectorAll("[data-figure]")].every(
    (box) => box.dataset.drawn === theme)"""


@contextmanager
def shown() -> Iterator[str]:
    """The running demo; gives its address."""
    command = [sys.executable, "-m", "service", "demo"]
    with subprocess.Popen(
        command, cwd=FOLDER.parents[1], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said = re.search(r"http://\S+:\d+", process.stderr.readline() if process.stderr else "")
            if said is None:
                raise SystemExit("the demo did not start")
            yield said[0]
        finally:
            process.terminate()


def main() -> None:
    """Write one file for each page and theme."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("Chromium is missing; install it, or run `python3 dev.py test` as root")
    FOLDER.mkdir(exist_ok=True)
    with shown() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        for theme in THEMES:
            page = browser.new_page(color_scheme=theme, viewport={"width": 1280, "height": 860})
            page.set_default_timeout(120_000)
            for name, where in PAGES.items():
                page.goto(address + where)
                for button in page.get_by_role("button", name="Got it").all():
                    button.click()  # what a first visit is told
                page.wait_for_function(DRAWN, arg=theme)
                page.screenshot(path=FOLDER / f"{name}-{theme}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
