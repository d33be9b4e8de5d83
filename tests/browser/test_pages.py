"""Every page as people see it: in both themes, on a desk and on a phone."""

from typing import get_args

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running
from tests.browser.painted import painted
from tests.browser.watch import Theme, Watched, watched

NAME = "/name?server=maps&name=tomtom-ev-routing"
PAGES = {
    "names": "/",
    "name": NAME,
    "clients": "/clients",
    "client": "/client?client=claude-code",
    "nobody": "/client?client=",
    "todo": "/todo",
    "catalogue": "/catalogue",
    "told": "/told",
    "undo": "/undo/1",
    "health": "/health",
    "error": "/name",
}
FIGURES = {"names": 2, "name": 2, "clients": 1, "client": 2, "nobody": 2, "health": 1}
"""How many figures a page shows; the others have none."""
REFUSED = {"error": 422}


def expected(service: Running, url: str) -> dict[str, int]:
    """The marks that a figure's data asks for."""
    made = service.client.get(url).json()
    counts = {"bars": 0, "gaps": 0, "marks": 0}
    for trace in made["data"]:
        part = "marks" if trace["type"] == "scatter" else "bars"
        counts["gaps" if trace.get("yaxis") == "y2" else part] += len(trace["y"])
    return counts


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", get_args(Theme))
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_drawn_whole_and_without_fault(
    chromium: Browser, months: Running, name: str, theme: Theme, width: int
) -> None:
    """
    No console error, no request off the host, nothing for axe to report, no scrolling sideways, and
    every mark of every figure stands in the picture.
    """
    with watched(chromium, months.url, theme, width) as seen:
        answer = seen.page.goto(months.url + PAGES[name])
        seen.settle()
        assert answer is not None
        assert answer.status == REFUSED.get(name, 200)
        seen.faults = [] if name in REFUSED else seen.faults  # Chromium logs the refusal itself
        seen.open_tables()
        boxes = seen.page.query_selector_all("[data-figure]")
        assert len(boxes) == FIGURES.get(name, 0)
        for number, box in enumerate(boxes):
            url = str(box.get_attribute("data-figure")).replace("/figures/", f"/figures/{theme}/")
            wanted = expected(months, url)
            assert wanted["bars"] > 0
            assert painted(seen, number) == wanted
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.axe() == []


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
    assert min(marks.values()) > 0
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


STOP = """() => {
    const at = document.activeElement, style = getComputedStyle(at);
    return [at === document.body ? -1 : Number(at.dataset.n),
            style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0];
}"""


def tab_stops(page: Watched) -> dict[int, bool]:
    """The elements that Tab goes through, by number, and whether each shows that it has the focus."""
    every: int = page.page.evaluate("""() => {
        const all = document.querySelectorAll("*");
        all.forEach((node, number) => { node.dataset.n = number; });
        document.querySelector("a.skip").focus();
        return all.length;
    }""")
    first, shown = page.page.evaluate(STOP)
    reached: dict[int, bool] = {first: shown}
    last = first
    for _ in range(every):
        page.page.keyboard.press("Tab")
        at, shown = page.page.evaluate(STOP)
        if at == -1 or (at == first and last != first):
            return reached
        last = at  # the parts of a date field are stops of one element
        reached[at] = reached.get(at, False) or shown
    raise AssertionError("Tab never comes to the end of the page")


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
