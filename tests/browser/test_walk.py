"""
A walk through all there is, with names that strangers chose: each page of the application's own table, in both themes, on
a desk and on a phone; where its links and forms lead and back again; each key of the sheet; each figure as a file.
"""

from typing import get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Locator

from tests.acceptance.service import Running
from tests.browser.painted import asked_for, painted
from tests.browser.strangers import NAMES
from tests.browser.walk import PAGES, follow, main_text, page_of, shapes, take_pictures
from tests.browser.watch import STRAY_TEXT, Theme, Watched, watched
from tests.figure_tables import differences
from tests.shown import figures

THEMES = get_args(Theme)
CASES = [(path, theme, width) for path in PAGES for theme in THEMES for width in (1440, 390)]
CASES += [
    (path, theme, width) for path in ("/", "/effect") for theme in THEMES for width in (768, 320)
]
STARTS = {b"\x89PNG": "png", b"<svg": "svg"}
RECORD = """() => {
    window.pressable = [];
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (kind, ...more) {
        if (/^(click|dblclick|mousedown|mouseup|pointerdown|pointerup)$/.test(kind)) window.pressable.push(this);
        return add.call(this, kind, ...more);
    };
}"""
MICE_ONLY = """() => window.pressable.filter((one) => one instanceof Element && one.isConnected
    && !one.closest(".js-plotly-plot, dialog") && one !== document.documentElement && one.tabIndex < 0
    && !one.matches("label")).map((one) => one.outerHTML.slice(0, 200))"""
"""What listens to a mouse and cannot have the focus; a figure's table is its way for keys, Escape that of a dialog."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("path", "theme", "width"), CASES)
def test_a_page_is_drawn_whole_and_without_fault(
    chromium: Browser,
    strange: Running,
    ways: dict[str, str],
    path: str,
    theme: Theme,
    width: int,
) -> None:
    """
    No console error, no request off the host, nothing for axe to report, no scrolling sideways, no element or script of
    a stranger's; every mark of every figure stands in the picture and in its table; each can be taken as a file; and
    nothing listens to a mouse alone.
    """
    with watched(chromium, strange.url, theme, width) as seen:
        seen.page.add_init_script(f"({RECORD})()")
        answer = seen.page.goto(strange.url + ways[path])
        seen.settle()
        assert answer is not None
        assert answer.status == 200
        seen.open_tables()
        shown = figures(seen.page.content())
        assert len(shown) == seen.page.locator("[data-figure]").count()
        for number, figure in enumerate(shown):
            made = strange.client.get(figure.data(theme)).json()
            wanted = asked_for(made)
            assert wanted["bars"] + wanted["curves"] + wanted["marks"] > 0
            assert painted(seen, number) == wanted, figure.kind
            assert differences(figure, made) == []
        files = take_pictures(seen)
        assert len(files) == 2 * len(shown)
        for name, file in files.items():
            assert name.endswith(STARTS[file[:4]])
        assert seen.page.locator("img, script:not([src]), u, b:has-text('bold')").count() == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert width > 400 or seen.page.evaluate(STRAY_TEXT) == []
        assert seen.page.evaluate(MICE_ONLY) == []
        assert seen.axe() == []


def steps(html: str, here: str) -> list[str]:
    """One address of each kind to which a page leads: another page, or the same with other things asked for."""
    found: dict[tuple[str, frozenset[str]], str] = {}
    for shape, address in shapes(html, here).items():
        keys = (
            frozenset(key for key, _ in shape.asked) if shape.page == page_of(here) else frozenset()
        )
        found.setdefault((shape.page, keys), address)
    return list(found.values())


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
@pytest.mark.parametrize("path", PAGES[::-1])
def test_each_link_is_a_step_that_can_be_taken_back(
    chromium: Browser,
    strange: Running,
    ways: dict[str, str],
    path: str,
    theme: Theme,
    width: int,
) -> None:
    """Back shows what was shown before, and forward what came after."""
    with watched(chromium, strange.url, theme, width) as seen:
        seen.open(ways[path])
        seen.open_tables()
        before = main_text(seen)
        for address in steps(seen.page.content(), ways[path].split("?")[0] + _query(seen)):
            assert follow(seen, address) == 200, address
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width, address
            seen.open_tables()
            after = main_text(seen)
            seen.page.go_back()
            seen.settle()
            seen.open_tables()
            assert main_text(seen) == before, address
        if before != after:
            seen.page.go_forward()
            seen.settle()
            seen.open_tables()
            assert main_text(seen) == after


def _query(seen: Watched) -> str:
    return str(seen.page.evaluate("location.search"))


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("theme", "width"), [("dark", 1440), ("light", 390)])
@pytest.mark.parametrize("path", PAGES)
def test_each_form_that_asks_is_answered_and_can_be_taken_back(
    chromium: Browser,
    strange: Running,
    ways: dict[str, str],
    path: str,
    theme: Theme,
    width: int,
) -> None:
    """Whatever the last choice of each list is, with a day and a text of a stranger; the answer keeps what was chosen."""
    with watched(chromium, strange.url, theme, width) as seen:
        seen.open(ways[path])
        seen.open_tables()
        before = main_text(seen)
        for number in range(seen.page.locator("main form[method=get]").count()):
            form = seen.page.locator("main form[method=get]").nth(number)
            chosen = fill_in(form)
            with seen.page.expect_navigation() as arrived:
                form.locator("button:not([type=button])").first.click()
            seen.settle()
            assert arrived.value is not None
            assert arrived.value.status == 200
            asked = parse_qsl(urlsplit(seen.page.url).query)
            told = [text for pair in asked for text in pair]
            assert all(any(word in text for text in told) for word in chosen.values()), chosen
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
            seen.page.go_back()
            seen.settle()
            seen.open_tables()
            assert main_text(seen) == before


def fill_in(form: Locator) -> dict[str, str]:
    """Choose the last of each list, and write into each field that can be seen; returns what was chosen, by field."""
    chosen = {}
    for field in form.locator("select[name], input[name]").all():
        name, kind = str(field.get_attribute("name")), field.get_attribute("type")
        if kind == "hidden" or not field.is_visible() or name in LEFT_AS_IS:
            continue
        if kind in {"checkbox", "radio"}:
            field.check()
            continue
        if kind == "date":
            field.fill("2026-09-10")
        elif field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(index=field.locator("option").count() - 1)
        else:
            field.fill(NAMES[4])
        chosen[name] = field.input_value()
    return chosen


LEFT_AS_IS = {"address", "server"}
"""A shipper's configuration is not written for any address, nor for any server."""


STATE = """() => JSON.stringify([
    location.href,
    document.documentElement.dataset.theme,
    [...document.querySelectorAll("dialog[open], details[open]")].map((one) => one.id || one.className),
    document.activeElement.id || document.activeElement.outerHTML.slice(0, 200),
])"""
"""What a key can change: where one is, the theme, what is open, what has the focus."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", THEMES)
def test_every_key_of_the_sheet_does_something_and_goes_where_it_says(
    chromium: Browser, strange: Running, theme: Theme, width: int
) -> None:
    """Whatever stands on the sheet; of keys for pages, the bar marks the one that was named."""
    start = "/told?from_day=2026-09-01&to_day=2026-09-10"
    with watched(chromium, strange.url, theme, width) as seen:
        seen.open(start)
        seen.page.keyboard.press("?")
        said = seen.page.eval_on_selector_all(
            "#keys dl > div",
            """(all) => all.map((one) => [[...one.querySelectorAll("kbd")].map((key) => key.textContent),
                                          one.querySelector("dd").textContent.trim()])""",
        )
        assert len(said) > 10
        for keys, word in said:
            seen.open(start)
            before = seen.page.evaluate(STATE)
            for key in keys:
                seen.page.keyboard.press(key)
            seen.page.wait_for_function(f"(before) => ({STATE})() !== before", arg=before)
            seen.page.wait_for_load_state()
            seen.settle()
            if keys[0] == "g":
                assert seen.page.locator("nav [aria-current]").inner_text() == word
            seen.page.evaluate("localStorage.clear()")


def test_what_listens_to_a_mouse_alone_is_noticed(chromium: Browser, strange: Running) -> None:
    """A part that can be clicked, and not be reached by keys."""
    with watched(chromium, strange.url) as seen:
        seen.page.add_init_script(f"({RECORD})()")
        seen.open("/told")
        assert seen.page.evaluate("window.pressable.length") > 2
        assert seen.page.evaluate(MICE_ONLY) == []
        seen.page.evaluate("document.querySelector('h1').addEventListener('click', () => {})")
        assert len(seen.page.evaluate(MICE_ONLY)) == 1


def test_a_page_is_worked_by_keys_alone(chromium: Browser, strange: Running) -> None:
    """A list is chosen from, a day written, the form sent; a heading sorts; what is folded opens; a figure is taken."""
    with watched(chromium, strange.url) as seen:
        page = seen.page
        seen.open("/clients")
        page.locator("[name=tz]").focus()
        page.keyboard.type("Asia/Kath")
        page.keyboard.press("Tab")
        page.locator("[name=from_day]").focus()
        page.keyboard.type("09012026")
        with seen.leaving():
            page.keyboard.press("Enter")
        assert "tz=Asia%2FKathmandu" in page.url
        assert "from_day=2026-09-01" in page.url
        with seen.leaving():
            page.locator("#clients thead a", has_text="Sessions").press("Enter")
        assert page.locator("#clients [aria-sort=descending]").inner_text() == "Sessions"
        page.locator("details.behind summary").first.press("Space")
        assert page.locator("#table-calls-by-client").is_visible()
        with page.expect_download() as taken:
            page.locator("[data-picture=svg]").first.press("Enter")
        assert taken.value.suggested_filename.endswith("Asia-Kathmandu.svg")
