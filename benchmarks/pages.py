"""Row `pages`: every page, from the request to the last figure drawn, and what is sent on the way."""

import contextlib
import gzip
import json
import re
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape
from http.client import HTTPConnection, HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks import product, queries
from benchmarks.measure import take
from benchmarks.report import Entry, Row, Spread, Target
from benchmarks.workshop import Workshop
from service import demo
from service.answers.query import iso

KB = 1_000
DRAWN_MS = 120_000
VENDORED = "/static/vendor/"
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
REMARKS = (
    (
        "*p50* and *p95* are of the page alone, *with figures* of the page and its figures' data one after the "
        "other; an event is committed before each request, so that no answer can be one that was kept. *cpu* is "
        "that of the service for the page."
    ),
    (
        "*sent* is everything a first visit takes (gzip), with style, scripts and figures; *JavaScript* is that "
        "beside Plotly, as it lies there."
    ),
    (
        "*complete* is the time in Chromium, with nothing in its cache, from the start of the navigation until all "
        "figures are drawn; *ready-made* the same from a server that has every answer ready and sends the same "
        "bytes: what is left is the network, the browser and Plotly."
    ),
)
Fetch = Callable[[str], tuple[int, str]]
"""An address → the bytes that were sent in answer, and the text."""


@dataclass(slots=True)
class Visit:
    """What a first visit of a page takes, address by address."""

    page: int
    files: dict[str, int] = field(default_factory=dict)
    """Style, scripts, icon."""
    figures: dict[str, int] = field(default_factory=dict)
    script: int = 0
    """Bytes of JavaScript beside Plotly, not compressed."""

    @property
    def sent(self) -> int:
        """Bytes in all."""
        return self.page + sum(self.files.values()) + sum(self.figures.values())

    @property
    def has_plotly(self) -> bool:
        """Whether Plotly is loaded."""
        return any(VENDORED in path for path in self.files)


def visit(fetch: Fetch, path: str) -> Visit:
    """Load a page and all that it loads."""
    size, html = fetch(path)
    found = Visit(size)
    for address in dict.fromkeys(re.findall(r'(?:src|href)="([^"]*/static/[^"]+)"', html)):
        address = unescape(address)
        found.files[address], text = fetch(address)
        if ".js" in address and VENDORED not in address:
            found.script += len(text.encode())
    for address in re.findall(r'data-figure="([^"]+)"', html):
        address = unescape(address).replace("/figures/", "/figures/light/")
        found.figures[address] = fetch(address)[0]
    return found


def paths(subject: queries.Subject) -> dict[str, str]:
    """Every page as it opens."""
    name = {"server": subject.server, "name": subject.name}
    asked: dict[str, dict[str, str]] = {
        "/": {},
        "/todo": {},
        "/clients": {},
        "/effect": {},
        "/reactions": {},
        "/catalogue": {},
        "/health": {},
        "/setup": {},
        "/told": {},
        "/explain": {},
        "/search": {"q": subject.name[:3]},
        "/name": name,
        "/client": {"client": subject.client},
    }
    return {path: path + (f"?{urlencode(more)}" if more else "") for path, more in asked.items()}


# ----------------------------------------------------------------------------- the row


def pages(shop: Workshop) -> Row:
    """Every page of the demo, and of a database with as many events as are stored at most."""
    entries: list[Entry] = []
    targets: list[Target] = []
    for label, url in _databases(shop):
        shop.say(f"pages of {label}")
        with queries.serving(url) as service:
            if label == "demo":
                fill_demo(service)
            subject = queries.subject_of(service)
            found = _measured(shop, service, subject)
        entries += [Entry(f"{label}: {page}", numbers) for page, numbers in found.items()]
        targets += _targets(label, found)
        product.remove(Path(url.removeprefix("sqlite:///")))
    title = f"every page, {shop.options.repetitions} times each, as a first visitor gets it"
    return Row("pages", title, entries, targets, list(REMARKS))


def _databases(shop: Workshop) -> Iterator[tuple[str, str]]:
    yield "demo", product.sqlite(product.ready(shop.folder, "demo.db"))
    url, most = product.sqlite(shop.folder / "pages.db"), shop.options.stored
    take(
        [
            *(sys.executable, "-m", "benchmarks.databases", "--mix", "A", "--events", str(most)),
            *("--seed", str(shop.options.seed), "--url", url),
        ]
    )
    yield f"mix A, {most / 1e6:g} M", url


def fill_demo(service: queries.Service) -> None:
    """Send the months of `lastcall demo`, up to now."""
    now = datetime.now(UTC)
    for server, lines in demo.demo_logs(now).items():
        service.post(f"/ingest?{urlencode({'server': server})}", b"\n".join(lines))
    for each in demo.demo_releases(now):
        said = {"server": each.server, "version": each.version, "at": iso(each.at_us)}
        service.post("/api/v1/releases", json.dumps(said).encode())


def _measured(
    shop: Workshop, service: queries.Service, subject: queries.Subject
) -> dict[str, dict[str, Spread]]:
    every = paths(subject)
    fetch = fetching(service.host)
    visits = {page: visit(fetch, path) for page, path in every.items()}
    timed = {
        one.request: one for one in queries.timed(service, subject, every, shop.options.repetitions)
    }
    whole = {
        page: [_with_figures(service, subject, path, visits[page]) for _ in range(3)]
        for page, path in every.items()
    }
    drawn = _drawn(shop, service.host, every)
    found: dict[str, dict[str, Spread]] = {}
    for page, each in visits.items():
        found[page] = {
            "p50 ms": Spread.of([timed[page].p50_ms]),
            "p95 ms": Spread.of([timed[page].p95_ms]),
            "cpu ms": Spread.of([timed[page].cpu_ms]),
            "with figures ms": Spread.of(whole[page]),
            "sent kB": Spread.of([each.sent / KB]),
            "JavaScript kB": Spread.of([each.script / KB]),
            "Plotly": Spread.of([int(each.has_plotly)]),
            "figures": Spread.of([len(each.figures)]),
            **drawn.get(page, {}),
        }
    return found


def _with_figures(
    service: queries.Service, subject: queries.Subject, path: str, about: Visit
) -> float:
    queries.commit(service, subject)
    start = time.perf_counter()
    for address in (path, *about.figures):
        service.get(address)
    return (time.perf_counter() - start) * 1_000


def _targets(label: str, found: dict[str, dict[str, Spread]]) -> list[Target]:
    def most(column: str) -> float:
        return max(numbers[column].median for numbers in found.values())

    idle = sum(
        numbers["Plotly"].median > 0 and not numbers["figures"].median for numbers in found.values()
    )
    return [
        Target(f"slowest page, {label}, p95", most("p95 ms"), 150, 50, "ms", at_most=True),
        Target(f"most that is sent, {label}", most("sent kB"), 600, None, "kB", at_most=True),
        Target(f"JavaScript beside Plotly, {label}", most("JavaScript kB"), 60, None, "kB", at_most=True),
        Target(f"pages with Plotly and no figure, {label}", idle, 0, None, "pages", at_most=True),
    ]  # fmt: skip


def fetching(host: str) -> Fetch:
    """Fetches as a browser that takes gzip does."""
    connection = HTTPConnection(host, timeout=120)

    def fetch(path: str) -> tuple[int, str]:
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise product.Wrong(f"{path} was answered {answer.status}")
        packed = answer.headers.get("Content-Encoding") == "gzip"
        return len(body), (gzip.decompress(body) if packed else body).decode()

    return fetch


# ----------------------------------------------------------------------------- the browser


def _drawn(shop: Workshop, host: str, every: dict[str, str]) -> dict[str, dict[str, Spread]]:
    """How long Chromium takes for each page, from the service and ready-made; nothing without Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        shop.say_once("there is no Chromium with Playwright, so no page is drawn")
        return {}
    found: dict[str, dict[str, Spread]] = {}
    with sync_playwright() as play, _ready_made(host) as copied:
        browser = play.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for page, path in every.items():
            _complete(browser, copied + path)  # the copy is made
            ours, theirs = [], []
            for _ in range(max(shop.options.rounds, 1)):
                ours.append(_complete(browser, f"http://{host}{path}"))
                theirs.append(_complete(browser, copied + path))
            ratio = statistics.median(ours) / statistics.median(theirs)
            found[page] = {
                "complete ms": Spread.of(ours),
                "ready-made ms": Spread.of(theirs),
                "ratio": Spread.of([ratio]),
            }
        browser.close()
    return found


_COMPLETE = """() => document.readyState === "complete"
  && [...document.querySelectorAll("[data-figure]")].every((box) => box.dataset.drawn)
  && performance.now()"""


def _complete(browser: Any, url: str) -> float:
    """Milliseconds from the start of the navigation until all is drawn, in a browser that knows nothing yet."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(url, wait_until="commit", timeout=DRAWN_MS)
    took = page.wait_for_function(_COMPLETE, timeout=DRAWN_MS).json_value()
    context.close()
    return float(took)


@contextlib.contextmanager
def _ready_made(host: str) -> Iterator[str]:
    """A server that hands out what the service answered the first time; its address."""
    kept: dict[str, tuple[int, HTTPMessage, bytes]] = {}

    class Copy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path not in kept:
                connection = HTTPConnection(host, timeout=120)
                wanted = {"Accept-Encoding": self.headers.get("Accept-Encoding", "")}
                connection.request("GET", self.path, headers=wanted)
                answer = connection.getresponse()
                kept[self.path] = (answer.status, answer.headers, answer.read())
                connection.close()
            status, headers, body = kept[self.path]
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in {"date", "server", "connection"}:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is said of single requests."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A browser that is closed takes no more: nothing is said of it."""

    server = Server(("127.0.0.1", 0), Copy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
