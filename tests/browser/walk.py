"""Where one can go: the pages of the application's own table, and the links and keys that are found on them."""

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from fastapi.routing import iter_route_contexts
from starlette.responses import RedirectResponse
from starlette.routing import compile_path

from dashboards import pages
from tests.acceptance.service import Running
from tests.browser.strangers import NAMES, RELEASES, SERVERS
from tests.browser.watch import Watched

PAGES = tuple(
    sorted(
        str(route.path)
        for route in iter_route_contexts(pages.router.routes)
        if {"GET", "HEAD"} <= set(route.methods or ())
        and route.endpoint.__annotations__.get("return") is not RedirectResponse
    )
)
"""The paths of all pages; what is only read by scripts answers no HEAD, and what only leads on to a page is none."""
_PATTERNS = {path: compile_path(path)[0] for path in PAGES}
_NO_LINK = ("/login",)
"""Nobody is led there by a link: who must log in is sent there."""
_NAMES = {*NAMES, *SERVERS.values(), *RELEASES.values()}


def page_of(path: str) -> str | None:
    """The page of the table to which a path leads."""
    return next((page for page, pattern in _PATTERNS.items() if pattern.match(path)), None)


@dataclass(frozen=True, slots=True)
class Shape:
    """What links that do the same have in common: their page, and what they ask for, each name or day being like another."""

    page: str
    asked: frozenset[tuple[str, str]]


def shape_of(address: str) -> Shape | None:
    """The shape of an address; None where it leads to no page."""
    parts = urlsplit(address)
    page = page_of(parts.path)
    if page is None or parts.netloc:
        return None
    asked = parse_qsl(parts.query, keep_blank_values=True)
    if ("format", "json") in asked:
        return None  # what the page shows, for programs
    return Shape(page, frozenset((key, _kind(value)) for key, value in asked))


def _kind(value: str) -> str:
    if value in _NAMES or len(value) > 30:
        return "name"
    return "day" if value[:4].isdigit() and value[4:5] == "-" else value


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.main: list[str] = []
        self.every: list[str] = []
        self._in_main = False
        self._action: str | None = None
        self._fields: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_main |= tag == "main"
        said = dict(attrs)
        href = said.get("href")
        if tag == "form":
            self._action = said.get("action") if said.get("method") == "get" else None
            self._fields = []
        elif tag == "input" and self._action and said.get("type") == "hidden":
            self._fields.append((said.get("name") or "", said.get("value") or ""))
        if tag == "a" and href:
            self.every.append(href)
            if self._in_main:
                self.main.append(href)

    def handle_endtag(self, tag: str) -> None:
        self._in_main &= tag != "main"
        if tag == "form" and self._action:
            asked = f"?{urlencode(self._fields)}" if self._fields else ""
            self.every.append(self._action + asked)
            self._action = None


def links(html: str, *, everywhere: bool = False) -> list[str]:
    """The addresses to which a page leads: links of its content, or of all of it with the forms that ask; in its order."""
    found = _Links()
    found.feed(html)
    return found.every if everywhere else found.main


def shapes(html: str, here: str) -> dict[Shape, str]:
    """One address of each shape to which the content of a page leads; not the page itself."""
    found: dict[Shape, str] = {}
    for href in links(html):
        address = urljoin(here, href)
        shape = shape_of(address)
        if shape is not None and "#" not in href and address != here:
            found.setdefault(shape, address)
    return found


def places(service: Running) -> dict[str, str]:
    """An address of each page, found by following links and forms from the first one, breadth first."""
    found = {page: page for page in ("/", *_NO_LINK)}
    waiting = ["/"]
    while waiting and len(found) < len(PAGES):
        here = waiting.pop(0)
        for href in links(service.client.get(here).text, everywhere=True):
            page = page_of(urlsplit(href).path)
            if page is not None and not urlsplit(href).netloc and page not in found:
                found[page] = href
                waiting.append(href)
    return found


def main_text(seen: Watched) -> str:
    """All that the content of the page says, white space collapsed, but for what a script says later and a first visit is told."""
    text = seen.page.locator("main").inner_text()
    for later in seen.page.locator("main [data-live], main [data-welcome]").all_inner_texts():
        text = text.replace(later, "") if later else text
    return " ".join(text.split())


def follow(seen: Watched, address: str) -> int:
    """Click the link of the content that leads to an address; returns the status of the answer."""
    place = seen.page.eval_on_selector_all(
        "main a[href]",
        """(all, [root, address]) => {
            const same = (one) => one.href === new URL(address, root).href;
            return all.findIndex((one) => same(one) && one.checkVisibility());
        }""",
        [seen.root, address],
    )
    assert place >= 0, address
    with seen.page.expect_navigation() as arrived:
        seen.page.locator("main a[href]").nth(place).click()
    seen.settle()
    answer = arrived.value
    assert answer is not None
    return answer.status


def take_pictures(seen: Watched) -> dict[str, bytes]:
    """Every figure of the page as a file of each form that it offers, by the name that the browser is told."""
    files = {}
    for button in seen.page.locator("[data-picture]").all():
        with seen.page.expect_download() as waited:
            button.click()
        files[waited.value.suggested_filename] = Path(waited.value.path()).read_bytes()
    return files
