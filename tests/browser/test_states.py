"""What a page can come to beside showing what was asked for: each such state can be read by everybody, in both themes."""

from collections.abc import Callable
from typing import get_args

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.service import Running
from tests.browser.strangers import NAMES, SERVERS
from tests.browser.watch import Theme, Watched, watched

CALL = '{"time":"2026-10-05T10:15:02Z","msg":"Retired tool called","data":{"tool":"<b>x","client":"c"}}'
NAMELESS = '{"time":"2026-10-05T10:15:03Z","msg":"Retired tool called","data":{"client":"<b>c"}}'


def palette(text: str, said: str) -> Callable[[Watched], None]:
    """Type something into the palette and wait until it says how much it found."""

    def act(seen: Watched) -> None:
        seen.page.keyboard.press("/")
        expect(seen.page.locator("#palette-list li >> nth=0")).to_be_visible()
        seen.page.keyboard.type(text)
        expect(seen.page.locator("#palette [role=status]")).to_contain_text(said)

    return act


def sheet(seen: Watched) -> None:
    """The sheet of keys."""
    seen.page.keyboard.press("?")
    expect(seen.page.locator("#keys")).to_be_visible()


def explained(line: str) -> Callable[[Watched], None]:
    """Have a line explained."""

    def act(seen: Watched) -> None:
        seen.page.get_by_label("Line", exact=True).fill(line)
        with seen.page.expect_navigation():
            seen.page.get_by_role("button", name="Explain").click()

    return act


def refused_form(seen: Watched) -> None:
    """Say that a client is itself."""
    seen.open_tables()
    seen.page.get_by_label("Is the same client as").fill(NAMES[5])
    with seen.page.expect_navigation():
        form = seen.page.get_by_role("form", name="Say which client it is")
        form.get_by_role("button", name="Save").click()


def kept_view(seen: Watched) -> None:
    """Keep the view under a name."""
    seen.page.get_by_label("Keep this view as").fill(NAMES[4])
    seen.page.get_by_role("button", name="Keep", exact=True).click()
    expect(seen.page.locator(".views li")).to_have_count(1)


def turned(seen: Watched) -> None:
    """The other theme, by its key."""
    seen.page.keyboard.press("t")
    seen.page.wait_for_function(
        "() => [...document.querySelectorAll('[data-figure]')].every("
        "(box) => box.dataset.drawn === document.documentElement.dataset.theme)"
    )


def on_paper(seen: Watched) -> None:
    """As it is printed."""
    seen.page.emulate_media(media="print")


def next_rows(seen: Watched) -> None:
    """Further rows of the page's own table."""
    seen.page.get_by_role("link", name="next rows").first.click()
    expect(seen.page.get_by_role("link", name="First rows").first).to_be_visible()


def nothing(_: Watched) -> None:
    """What the address alone shows."""


STATES: dict[str, tuple[str, Callable[[Watched], None]]] = {
    "found": ("/search?q=a", nothing),
    "nothing found": ("/search?q=nobody-bears-this", nothing),
    "palette": ("/told", palette("bold", "found")),
    "empty palette": ("/told", palette("nobody-bears-this", "Nothing holds this text.")),
    "sheet": ("/told", sheet),
    "line that counts": ("/explain", explained(CALL)),
    "line that does not": ("/explain", explained(NAMELESS)),
    "line of nobody": ("/explain", explained("what is <i>this</i>?")),
    "filters": (
        f"/?server={SERVERS['maps']}&client=other&as_of=2026-09-20&excluded=count",
        nothing,
    ),
    "left out": ("/todo?excluded=only", nothing),
    "further rows": ("/todo", next_rows),
    "every one": ("/todo?show=all", nothing),
    "not asked so": ("/clients?tz=Nowhere/At-all", nothing),
    "not found": (f"/name?server=<b>x&name={NAMES[4]}", nothing),
    "refused form": (f"/client?client={NAMES[5].replace('&', '%26')}", refused_form),
    "kept view": ("/told?tz=Asia/Tokyo", kept_view),
    "turned": ("/health", turned),
    "paper": ("/health", on_paper),
    "no range": ("/clients?from_day=2026-12-01", nothing),
    "nothing passes": ("/?server=nobody-bears-this", nothing),
}
REFUSED = {"not asked so", "not found", "refused form", "no range"}
"""Chromium itself logs these answers."""


@pytest.mark.sampled(7)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", get_args(Theme))
@pytest.mark.parametrize("name", STATES)
def test_every_state_is_accessible_and_fits(
    chromium: Browser, strange: Running, name: str, theme: Theme, width: int
) -> None:
    """Nothing for axe to report, no scrolling sideways, and no fault."""
    path, act = STATES[name]
    with watched(chromium, strange.url, theme, width) as seen:
        seen.open(path)
        act(seen)
        seen.faults = [] if name in REFUSED else seen.faults
        assert seen.axe() == []
        wide = seen.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width or act is on_paper  # which has a width of its own


@pytest.mark.parametrize("theme", get_args(Theme))
def test_a_figure_that_cannot_be_fetched_says_so_and_its_table_stays(
    chromium: Browser, strange: Running, theme: Theme
) -> None:
    """In words that everybody can read."""
    with watched(chromium, strange.url, theme) as seen:
        seen.page.route(
            "**/figures/**", lambda route: route.fulfill(status=503, json={"detail": "Busy"})
        )
        seen.page.goto(strange.url + "/health")
        expect(seen.page.locator("[data-figure]")).to_contain_text("could not be drawn (Busy)")
        seen.faults = []  # Chromium logs the refusal itself
        seen.page.locator("details.behind summary").first.press("Enter")
        expect(seen.page.locator("#table-records")).to_be_visible()
        assert seen.axe() == []
