"""What a first visit of each page takes: bytes, scripts, and Plotly only where a figure is."""

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import datetime

import cramjam
import pytest
from fastapi.testclient import TestClient

from benchmarks import pages, queries
from dashboards.templating import address, asset
from service import demo
from service.app import create_app
from service.settings import Settings
from tests.acceptance.service import micros

NOW = "2026-10-06T12:00:00Z"
SENT = 600_000
SCRIPT = 60_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a service that holds the months of `lastcall demo`."""
    settings = Settings(database_url=f"sqlite:///{tmp_path_factory.mktemp('demo') / 'events.db'}")
    with TestClient(
        create_app(settings, clock=lambda: micros(NOW)), base_url="http://localhost"
    ) as opened:
        for server, lines in demo.demo_logs(datetime.fromisoformat(NOW)).items():
            opened.post("/ingest", params={"server": server}, content=b"\n".join(lines))
        yield opened


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a service without an event."""
    path = tmp_path_factory.mktemp("nothing") / "events.db"
    app = create_app(Settings(database_url=f"sqlite:///{path}"))
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def fetching(client: TestClient) -> pages.Fetch:
    """Fetches as a browser that takes gzip does, and counts what comes over the line."""

    def fetch(path: str) -> tuple[int, str]:
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200, (path, answer.text[:500])
        return int(answer.headers["content-length"]), answer.text

    return fetch


def subject_of(client: TestClient) -> queries.Subject:
    """A name with its client that calls it most."""
    rows = client.get("/api/v1/overview", params={"sort": "-stale_calls"}).json()["items"]
    row = next(row for row in rows if row["top_client"]["client"])
    return queries.Subject(row["server"], row["name"], row["top_client"]["client"])


def test_a_first_visit_of_any_page_with_its_figures_stays_small(client: TestClient) -> None:
    """At most 600 KB in all, of which at most 60 KB are scripts beside Plotly, however little they compress."""
    for page, path in pages.paths(subject_of(client)).items():
        found = pages.visit(fetching(client), path)
        assert 0 < found.sent <= SENT, page
        assert 0 < found.script <= SCRIPT, page
        assert found.has_plotly == bool(found.figures), page


def test_a_page_without_a_figure_does_not_load_what_draws(nothing: TestClient) -> None:
    """Where nothing has arrived there is none, and the pages say what to do instead."""
    for path in ("/", "/clients", "/effect", "/reactions", "/health", "/todo"):
        found = pages.visit(fetching(nothing), path)
        assert not found.figures, path
        assert not found.has_plotly, path


def test_a_file_may_be_kept_for_ever_under_the_address_that_pages_know(client: TestClient) -> None:
    """What is in it stands in the address; an address without, or of another version, is asked again soon."""
    known = client.get(address("site.js"))
    assert known.headers["cache-control"] == "private, max-age=31536000, immutable"
    for path in ("/static/site.js", "/static/site.js?v=0123456789ab"):
        answer = client.get(path)
        assert answer.content == known.content
        assert answer.headers["cache-control"] == "private, max-age=300"


@pytest.mark.parametrize("path", ["site.css", "site.js", "icon.svg"])
def test_a_file_is_the_same_in_every_coding(client: TestClient, path: str) -> None:
    """Whoever takes none gets it plain, and a cache between tells the three apart."""
    unpack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress,
        "br": lambda body: bytes(cramjam.brotli.decompress(body)),
        "identity": bytes,
    }
    for coding, plain in unpack.items():
        with client.stream("GET", address(path), headers={"Accept-Encoding": coding}) as answer:
            body = b"".join(answer.iter_raw())
        assert answer.headers.get("content-encoding", "identity") == coding
        assert answer.headers["vary"] == "Accept-Encoding"
        assert plain(body) == asset(path)[0]


def test_what_answers_a_form_or_a_program_is_not_compressed(client: TestClient) -> None:
    """A page that shows a token tells nothing of it by its length, and a tag of the API names its very bytes."""
    packed = {"Accept-Encoding": "gzip"}
    page = client.get("/setup", headers=packed)
    assert page.headers["content-encoding"] == "gzip"
    form = client.post("/explain", data={"line": "x" * 5_000}, headers=packed)
    assert len(form.content) > pages.KB
    assert "content-encoding" not in form.headers
    answer = client.get("/api/v1/overview", headers=packed)
    assert re.match('^(W/)?"', answer.headers["etag"])
    assert "content-encoding" not in answer.headers
