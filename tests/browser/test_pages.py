"""Every page as people see it: in both themes, on a desk and on a phone."""

from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.service import Running, running
from tests.browser.conftest import NOW, fill, settings_in
from tests.browser.painted import painted
from tests.browser.watch import STRAY_TEXT, Theme, Watched, watched

NAME = "/name?server=maps&name=tomtom-ev-routing"
PAGES = {
    "names": "/",
    "name": NAME,
    "clients": "/clients",
    "reactions": "/reactions",
    "client": "/client?client=claude-code",
    "nobody": "/client?client=",
    "todo": "/todo",
    "catalogue": "/catalogue",
    "told": "/told",
    "undo": "/undo/1",
    "health": "/health",
    "error": "/name",
}
REFUSED = {"error": 422}


def test_on_a_phone_each_cell_stands_beside_its_label(chromium: Browser, tmp_path: Path) -> None:
    """Rows of what was told, of the catalogue are cards: nothing of them lies outside, and no text slips
    under its label, as the first of two parts of a cell would."""
    with running(settings_in(tmp_path), now=NOW) as service:
        fill(service)
        for kind in ("resolved", "known"):
            mark = {"kind": kind, "server": "maps", "client": "claude-code", "at": "2026-09-01"}
            assert service.client.post("/api/v1/marks", json=mark).status_code == 200
        for name in ("client", "todo", "catalogue", "told", "name"):
            with watched(chromium, service.url, width=390) as seen:
                seen.open(PAGES[name])
                seen.open_tables()
                assert seen.page.evaluate(STRAY_TEXT) == [], name
                found = seen.page.evaluate(BESIDE_LABELS)
            assert found["cells"] > 20, name
            assert (found["under"], found["outside"]) == ([], []), name


@pytest.mark.parametrize("theme", get_args(Theme))
def test_on_a_phone_effects_are_cards(chromium: Browser, months: Running, theme: Theme) -> None:
    """All seven tables, those behind figures, too; nothing for axe to report, and no scrolling sideways."""
    with watched(chromium, months.url, theme, width=390) as seen:
        seen.open("/effect?server=maps")
        seen.open_tables()
        shown = seen.page.eval_on_selector_all("table.cards", "all => all.map(each => each.id)")
        assert shown == [
            "effect-weeks",
            "effect-since",
            "heeded",
            "effect-clients",
            "effect-names",
            "guards",
            "left-out",
        ]
        found = seen.page.evaluate(BESIDE_LABELS)
        assert seen.page.evaluate(STRAY_TEXT) == []
        assert found["cells"] > 200
        assert (found["under"], found["outside"]) == ([], [])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert seen.axe() == []


BESIDE_LABELS = """() => {
  const found = {cells: 0, under: [], outside: []};
  for (const cell of document.querySelectorAll("table.cards tbody td")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const box = cell.getBoundingClientRect();
    const label = parseFloat(getComputedStyle(document.documentElement).fontSize) * 8.5;
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!node.data.trim()) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const at = range.getBoundingClientRect();
      if (!at.width || node.parentElement.closest("details:not([open]) > :not(summary)")) continue;
      found.cells += 1;
      if (at.left < box.left + label) found.under.push(cell.dataset.label + ": " + node.data);
      if (at.right > innerWidth) found.outside.push(cell.dataset.label + ": " + node.data);
    }
  }
  return found;
}"""
"""The texts in cells of cards: how many, and which begin under their label or end outside the window."""


@pytest.mark.parametrize(
    "fault",
    [
        "Plotly.relayout(box, {'xaxis.range': ['2026-07-09', '2026-08-09']})",
        "Plotly.restyle(box, {'marker.pattern.shape': ''}, [0])",
        "Plotly.restyle(box, {'opacity': 0}, [2])",
        "Plotly.restyle(box, {'marker.color': 'rgba(0,0,0,0)', 'marker.line.width': 0}, [1])",
        "Plotly.relayout(box, {'yaxis3.range': [5, 7]})",
    ],
)
def test_a_mark_that_cannot_be_seen_is_noticed(
    chromium: Browser, months: Running, fault: str
) -> None:
    """Clipped, without its hatching, without colour, or beyond the border: it is there, and not seen."""
    with watched(chromium, months.url) as seen:
        seen.open(NAME)
        before = painted(seen, 0)
        seen.page.evaluate(
            f"() => {{ const box = document.querySelector('[data-figure]'); return {fault}; }}"
        )
        assert painted(seen, 0) != before


def test_the_figure_marks_gaps_notifications_and_releases(
    chromium: Browser, months: Running
) -> None:
    """The months of the demo have all three, and the picture has all three."""
    with watched(chromium, months.url) as seen:
        seen.open("/")
        marks = painted(seen, 0)
        words = seen.page.locator(".legend").inner_text()
    assert min(marks[kind] for kind in ("bars", "gaps", "marks")) > 0
    for word in ("gap in the log", "notification sent", "released"):
        assert word in words


def test_figures_follow_when_the_system_changes_its_theme(
    chromium: Browser, months: Running
) -> None:
    """No reload is needed."""
    with watched(chromium, months.url, "light") as seen:
        seen.open(NAME)
        before = seen.page.evaluate(
            "getComputedStyle(document.querySelector('.xtick text, .xaxislayer-above text')).fill"
        )
        seen.page.emulate_media(color_scheme="dark")
        seen.settle()
        after = seen.page.evaluate(
            "getComputedStyle(document.querySelector('.xtick text, .xaxislayer-above text')).fill"
        )
        assert before != after


def test_every_page_reads_without_javascript(chromium: Browser, months: Running) -> None:
    """Figures become tables."""
    with watched(chromium, months.url, javascript=False) as seen:
        seen.page.goto(months.url + NAME)
        assert "needs JavaScript" in seen.page.content()
        seen.page.click("summary >> nth=0")
        assert seen.page.locator("#table-calls-by-client tbody tr").count() == 90


WATCH = """() => {
    document.querySelectorAll("*").forEach((node, number) => { node.dataset.n = number; });
    window.stops = {};
    window.rounds = 0;
    let first = null;
    document.addEventListener("focusin", ({target}) => {
        const style = getComputedStyle(target), last = window.last;
        const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        target.dataset.n ??= document.querySelectorAll("*").length + Object.keys(window.stops).length;  // offered since
        window.stops[target.dataset.n] ||= shown;
        if (target === first && last !== first) window.rounds += 1;
        first ??= target;
        window.last = target;
    });
    document.querySelector("a.skip").focus();
    return document.querySelectorAll("*").length;
}"""
"""Notes each element that has the focus, whether it shows that, and how often the first one had it again."""
AT_ONCE = 40


def tab_stops(page: Watched) -> dict[int, bool]:
    """The elements that Tab goes through, by number, and whether each shows that it has the focus."""
    every: int = page.page.evaluate(WATCH)
    for pressed in range(2 * every):
        page.page.keyboard.press("Tab")
        if pressed % AT_ONCE == AT_ONCE - 1 and page.page.evaluate("window.rounds"):
            stops: dict[str, bool] = page.page.evaluate("window.stops")
            return {int(number): shown for number, shown in stops.items()}
    raise AssertionError("Tab never comes to the end of the page")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "width"), [*((name, 1440) for name in PAGES), ("names", 390)])
def test_the_keyboard_reaches_everything_and_shows_where_it_is(
    chromium: Browser, months: Running, name: str, width: int
) -> None:
    """Links, fields, disclosures and areas that scroll, each with a visible outline."""
    with watched(chromium, months.url, width=width) as seen:
        seen.open(PAGES[name])
        for summary in seen.page.locator("summary").all():
            summary.focus()
            seen.page.keyboard.press("Enter")
        reached = tab_stops(seen)
        wanted = seen.page.evaluate(
            """() => [...document.querySelectorAll(
                    "a[href], button, select, summary, input:not([type=hidden]), [tabindex='0']")]
                .filter((node) => node.checkVisibility())
                .map((node) => Number(node.dataset.n))"""
        )
        seen.faults = [] if name in REFUSED else seen.faults
    assert len(wanted) > 4
    assert set(wanted) <= reached.keys()
    assert all(reached.values())


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1440)])
def test_the_reference_of_the_api_is_a_page_like_the_others(
    chromium: Browser, months: Running, theme: Theme, width: int
) -> None:
    with watched(chromium, months.url, theme, width) as seen:
        seen.open("/docs")
        assert seen.axe() == []
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        seen.page.get_by_role("link", name="Last Call", exact=True).click()
        expect(seen.page.get_by_role("heading", level=1)).to_have_text("Who still calls what")
        assert seen.faults == []
