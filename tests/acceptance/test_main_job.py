"""The main job on a realistic log: counts, exactly once, whatever way the lines take."""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.service import Running, running, with_fixed_secrets

LOG = Path(__file__).parent / "effect" / "p1_minus70_staggered.ndjson.gz"
LINES = gzip.decompress(LOG.read_bytes()).splitlines()
NOW = "2026-10-06T00:00:00Z"
ASKED = {
    "as_of": "2026-09-28T00:00:00Z",
    "since": "2026-07-06T00:00:00Z",
    "until": "2026-09-28T00:00:00Z",
}
EVENTS = {"stale_call": 2678, "notification": 19, "listing": 300, "hello": 971, "call": 6742}
BY_NAME = Counter(
    record["data"]["tool"]
    for record in map(json.loads, LINES)
    if record["msg"].startswith("Retired")
)


def deliver_file(service: Running) -> list[dict[str, Any]]:
    """Through `lastcall ingest`, as a user types it."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from service.cli import main; main()"),
            *("ingest", str(LOG), "--server", "s", "--json"),
            *("--db", service.app.state.settings.database_url),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(done.stdout)]


def post(service: Running, lines: list[bytes], source: str = "http") -> dict[str, Any]:
    answer = service.client.post(
        "/ingest", params={"server": "s", "source": source}, content=b"\n".join(lines)
    )
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


def deliver_reversed(service: Running) -> list[dict[str, Any]]:
    return [
        post(service, LINES[::-1][start : start + 2000]) for start in range(0, len(LINES), 2000)
    ]


def deliver_in_sevens(service: Running) -> list[dict[str, Any]]:
    return [post(service, LINES[start : start + 7]) for start in range(0, len(LINES), 7)]


def deliver_in_three_parts(service: Running) -> list[dict[str, Any]]:
    parts: list[list[bytes]] = [[], [], []]
    chance = random.Random(63)
    for line in LINES:
        parts[chance.randrange(3)].append(line)
    return [post(service, part, source) for part, source in zip(parts, "aba", strict=True)]


def answers(service: Running) -> dict[str, Any]:
    """Every answer about the log, without what depends on when and how it was asked."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "names": ("names", {}),
        "callers": ("callers", {}),
        "clients": ("clients", {}),
        "events": ("events", {"limit": 1000}),
        "series UTC": ("series", {"bucket": "day", "tz": "UTC"}),
        "series Kolkata": ("series", {"bucket": "day", "tz": "Asia/Kolkata"}),
    }
    found = {}
    for title, (collection, params) in asked.items():
        pages = list(pages_of(service, collection, params))
        found[title] = pages
    return found


def pages_of(service: Running, collection: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        answer = service.get(f"/api/v1/{collection}", **ASKED, **params, cursor=cursor)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        yield {k: v for k, v in page.items() if k not in {"generated_at", "coverage"}}
        cursor = page["next_cursor"]
        if cursor is None:
            return


def test_a_log_goes_in_and_every_count_is_right(database_url: str) -> None:
    """What `lastcall ingest` says and what REST answers are the numbers of the log itself."""
    with running(with_fixed_secrets(database_url), now=NOW) as service:
        (receipt,) = deliver_file(service)

        assert receipt["received"] == receipt["accepted"] == len(LINES) == 10_710
        assert receipt["events"] == EVENTS
        names = service.rows("names", **ASKED)
        assert {row["name"]: row["stale_calls"] for row in names} == dict(BY_NAME)
        callers = service.rows("callers", **ASKED)
        assert len(callers) == 72
        assert len({row["client"] for row in callers}) == 24


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answers after one pass over the file, on SQLite."""
    url = f"sqlite:///{tmp_path_factory.mktemp('reference')}/lastcall.db"
    with running(with_fixed_secrets(url), now=NOW) as service:
        deliver_file(service)
        return answers(service)


@pytest.mark.parametrize(
    "deliver",
    [deliver_file, deliver_reversed, deliver_in_sevens, deliver_in_three_parts],
    ids=["from a file", "in reverse", "seven lines a request", "three parts over two sources"],
)
def test_answers_do_not_depend_on_how_the_lines_came(
    deliver: Callable[[Running], list[dict[str, Any]]],
    reference: dict[str, Any],
    database_url: str,
) -> None:
    """Any order, any split, any source, either database, and all of it twice: the same answers."""
    with running(with_fixed_secrets(database_url), now=NOW) as service:
        first = deliver(service)
        assert sum(receipt["accepted"] for receipt in first) == len(LINES)
        assert answers(service) == reference

        (again,) = deliver_file(service)
        assert (again["accepted"], again["duplicates"]) == (0, len(LINES))
        assert answers(service) == reference


def pairs() -> list[bytes]:
    """50 pairs of identical lines, each pair a second after the one before."""
    lines = []
    for number in range(50):
        record = {
            "level": "info",
            "time": f"2026-08-01T10:00:{number:02d}.000Z",
            "data": {"tool": "gone", "client": "claude-code"},
            "msg": "Retired tool called",
        }
        lines += [json.dumps(record).encode()] * 2
    return lines


def suppressed(service: Running) -> int:
    rows = service.get("/api/v1/health").json()["items"]
    return sum(row["suppressed"] for row in rows)


def test_identical_lines_of_one_delivery_are_calls_of_their_own(database_url: str) -> None:
    """50 pairs in one file are 100 calls, and nothing is suspected to be lost."""
    with running(with_fixed_secrets(database_url), now=NOW) as service:
        receipt = post(service, pairs())

        assert (receipt["accepted"], receipt["duplicates"]) == (100, 0)
        assert suppressed(service) == 0


def test_a_border_that_cuts_a_pair_shows_the_loss_as_suppressed(database_url: str) -> None:
    """With seven lines a request every second border cuts a pair: seven calls are lost, and said."""
    borders = [start for start in range(7, 100, 7) if start % 2]
    with running(with_fixed_secrets(database_url), now=NOW) as service:
        lines = pairs()
        receipts = [post(service, lines[start : start + 7]) for start in range(0, 100, 7)]

        assert sum(receipt["duplicates"] for receipt in receipts) == len(borders) == 7
        assert sum(receipt["accepted"] for receipt in receipts) == 93
        assert suppressed(service) == 7


class Cells(HTMLParser):
    """The tables of a page, by id: a list of rows of text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._rows = self.tables.setdefault(dict(attrs).get("id") or "", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in {"td", "th"} and self._rows is not None:
            self._rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._rows and self._open:
            self._rows[-1][-1] += data


def test_report_csv_and_page_show_the_numbers_of_rest(database_url: str, tmp_path: Path) -> None:
    """One log, four ways to look at it, the same numbers."""
    html = tmp_path / "report.html"
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from service.cli import main; main()"),
            *("report", str(LOG), "--server", "s", "--html", str(html), "--json"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    report = json.loads(done.stdout)
    with running(with_fixed_secrets(database_url), now=NOW) as service:
        deliver_file(service)
        rest = {row["name"]: row for row in service.rows("names")}
        text = service.get("/api/v1/names", format="csv").text
        pages = {
            name: service.get("/name", server="s", name=name, days="all").text for name in rest
        }

    assert {row["name"]: row["stale_calls"] for row in report["names"]["items"]} == dict(BY_NAME)
    assert {row["name"]: row for row in report["names"]["items"]} == rest
    rows = list(csv.DictReader(io.StringIO(text)))
    for word in ("stale_calls", "clients", "callers", "active_days"):
        assert {r["name"]: int(r[word]) for r in rows} == {n: rest[n][word] for n in rest}
    shown = Cells(html.read_text()).tables["names"][1:]
    numbers = {row[0]: [int(cell) for cell in row[2:6]] for row in shown}
    words = ("stale_calls", "clients", "callers", "active_days")
    assert numbers == {n: [rest[n][word] for word in words] for n in rest}
    for name, page in pages.items():
        clients = [int(row[1]) for row in Cells(page).tables["callers"][1:]]
        assert sum(clients) == rest[name]["stale_calls"]
        assert len(clients) == rest[name]["clients"] + (rest[name]["unattributed_calls"] > 0)
    assert "src=" not in html.read_text()
    assert "<link" not in html.read_text()
