"""Every page as people see it: in both themes, on a desk and on a phone."""

from typing import get_args

import pytest
from playwright.sync_api import Browser

from tests.acceptance.service import Running
from tests.browser.watch import Theme, Watched, watched

NAME = "/name?server=maps&name=tomtom-ev-routing"
PAGES = {
    "names": "/",
    "name": NAME,
    "clients": "/clients",
    "client": "/client?client=claude-code",
    "nobody": "/client?client=",
    "health": "/health",
    "error": "/name",
}
FIGURES = {"names": 1, "name": 2, "clients": 1, "client": 2, "nobody": 2, "health": 0, "error": 0}
"""How many figures each page shows. Nothing arrived in the range by the clock that the tests set."""
REFUSED = {"error": 422}


def drawn(page: Watched, box: int) -> dict[str, int]:
    """What can be seen in the *box*th figure: marks with an extent, by the part they belong to."""
    found: dict[str, int] = page.page.evaluate(
        """(number) => {
            const box = document.querySelectorAll("[data-figure]")[number];
            const seen = (marks) => [...marks].filter((mark) => {
                const at = mark.getBoundingClientRect();
                return at.width > 0 && at.height > 0;
            }).length;
            const all = [...box.querySelectorAll(".barlayer .point path")];
            return {
                bars: seen(all.filter((mark) => !mark.closest(".xy2"))),
                gaps: seen(all.filter((mark) => mark.closest(".xy2"))),
                marks: seen(box.querySelectorAll(".scatterlayer .point")),
            };
        }""",
        box,
    )
    return found


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
        boxes = seen.page.query_selector_all("[data-figure]")
        assert len(boxes) == FIGURES[name]
        for number, box in enumerate(boxes):
            url = str(box.get_attribute("data-figure")).replace("/figures/", f"/figures/{theme}/")
            wanted = expected(months, url)
            assert wanted["bars"] > 0
            assert drawn(seen, number) == wanted
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.axe() == []


def test_the_figure_marks_gaps_notifications_and_releases(
    chromium: Browser, months: Running
) -> None:
    """The months of the demo have all three, and the picture has all three."""
    with watched(chromium, months.url) as seen:
        seen.open("/")
        marks = drawn(seen, 0)
        words = seen.page.locator(".legend").inner_text()
    assert min(marks.values()) > 0
    for word in ("log not heard", "notification sent", "released"):
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
    page.page.evaluate("""() => {
        document.querySelectorAll("*").forEach((node, number) => { node.dataset.n = number; });
        document.activeElement.blur();
    }""")
    reached: dict[int, bool] = {}
    last = first = None
    while True:
        page.page.keyboard.press("Tab")
        at, shown = page.page.evaluate(STOP)
        if at == -1 or (at == first and last != first):
            return reached
        first = at if first is None else first
        last = at  # the parts of a date field are stops of one element
        reached[at] = reached.get(at, False) or shown


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything_and_shows_where_it_is(
    chromium: Browser, months: Running, name: str
) -> None:
    """Links, fields, disclosures and areas that scroll, each with a visible outline."""
    with watched(chromium, months.url) as seen:
        seen.open(PAGES[name])
        reached = tab_stops(seen)
        wanted = seen.page.evaluate(
            """() => [...document.querySelectorAll(
                    "a[href], button, select, summary, input:not([type=hidden]), [tabindex='0']")]
                .filter((node) => node.checkVisibility() && !node.closest("details:not([open]) > :not(summary)"))
                .map((node) => Number(node.dataset.n))"""
        )
        seen.faults = [] if name in REFUSED else seen.faults
    assert len(wanted) > 4
    assert set(wanted) <= reached.keys()
    assert all(reached.values())
