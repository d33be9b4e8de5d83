"""Figures as files: what is drawn, with its heading and legend, named by page, range and zone."""

import re
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running
from tests.browser.watch import Theme, watched

PNG = b"\x89PNG\r\n\x1a\n"
FIGURES = {
    "/clients?days=28&tz=Asia/Tokyo": [
        "lastcall-clients-calls-by-client-2026-09-09-to-2026-10-06-Asia-Tokyo"
    ],
    "/health?days=28": ["lastcall-health-records-2026-09-09-to-2026-10-06-UTC"],
    "/effect?server=maps&days=28": [
        f"lastcall-effect-effect-{kind}-2026-09-09-to-2026-10-06-UTC"
        for kind in ("weeks", "since", "clients")
    ],
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("theme", get_args(Theme))
@pytest.mark.parametrize("path", FIGURES)
def test_each_figure_can_be_taken_as_png_and_svg(
    chromium: Browser, months: Running, path: str, theme: Theme
) -> None:
    """Without a fault; the SVG holds the heading, the range and each entry of the legend as text."""
    with watched(chromium, months.url, theme) as seen:
        seen.open(path)
        names = []
        for figure in seen.page.locator(".figure:has([data-figure])").all():
            files = {}
            for form in ("PNG", "SVG"):
                with seen.page.expect_download() as waited:
                    figure.get_by_role("button", name=re.compile(f"as {form}$")).click()
                name, _, kind = waited.value.suggested_filename.rpartition(".")
                assert kind == form.lower()
                files[form] = Path(waited.value.path()).read_bytes()
            names.append(name)
            assert files["PNG"].startswith(PNG)
            assert int.from_bytes(files["PNG"][16:20]) == 2400
            drawn = files["SVG"].decode()
            words = " ".join(re.sub(r"<[^>]+>", " ", drawn).split())
            heading = figure.locator("h2").inner_text()
            assert " ".join(heading.split()) in words
            assert "2026-10-06" in words
            for word in figure.locator(".legend a").all_inner_texts():
                assert word[:15] in words
        assert names == FIGURES[path]
