"""
Logs with a built-in truth, from their lines to REST, on both databases: who listed because they were told.
What is expected is what the logs were made with, and what `effect/README.md` says of them.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

LOGS = Path(__file__).parent / "effect"
AS_OF = "2026-09-28T00:00:00Z"
NOW = "2026-10-06T00:00:00Z"
PORTION = 20_000
"""Lines of one request."""


@pytest.fixture
def told(database_url: str) -> Iterator[Callable[[str], Running]]:
    """Starts a service that holds one of the logs."""
    with ExitStack() as started:

        def start(log: str) -> Running:
            service = started.enter_context(running(Settings(database_url=database_url), now=NOW))
            lines = gzip.decompress((LOGS / f"{log}.ndjson.gz").read_bytes()).splitlines()
            for at in range(0, len(lines), PORTION):
                body = b"\n".join(lines[at : at + PORTION])
                answer = service.client.post("/ingest", params={"server": "maps"}, content=body)
                assert answer.status_code == 200, answer.text
            return service

        yield start


def totals(service: Running, **asked: str) -> dict[str, Any]:
    answer = service.get("/api/v1/reactions", as_of=AS_OF, **asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["totals"]
    return found


def span(shares: dict[str, Any], word: str) -> str:
    """A share with its interval, to two decimals."""
    value, low, high = (shares[key] for key in (word, f"{word}_low", f"{word}_high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def test_clients_told_at_their_hello_list_beyond_what_they_do_anyway(
    told: Callable[[str], Running],
) -> None:
    """All 48 listed at once; at 168 of 571 earlier connects they had, too: excess 1.00 [0.88, 1.05]."""
    found = totals(told("p3_null_hello_triggered"))
    shares = found["shares"]

    assert (found["clients"], found["notifications"], found["episodes"]) == (48, 48, 48)
    assert (shares["refreshed"], shares["measured"]) == (48, 48)
    assert (shares["background_listed"], shares["background_n"]) == (168, 571)
    assert span(shares, "excess") == "1.00 [0.88, 1.05]"


def test_half_ignore_it_and_calls_in_flight_are_counted_apart(
    told: Callable[[str], Running],
) -> None:
    """19 of 31 refreshed, 12 stayed active with the old list; 124 of 124 calls were on their way."""
    service = told("p5_half_ignore_inflight")
    found = totals(service)
    shares = found["shares"]

    assert (found["clients"], found["episodes"], found["in_flight"]) == (31, 31, 124)
    assert {word: n for word, n in shares["labels"].items() if n} == {
        "refreshed": 19,
        "ignored": 12,
    }
    assert span(shares, "excess") == "0.61 [0.44, 0.76]"
    # lists at later connects are no reactions: all twelve had them
    assert found["listed_elsewhere"] == 12

    rows = service.rows("reactions", as_of=AS_OF)
    assert sum(row["in_flight"] for row in rows) == 124
    # of a single episode no percentage is shown, nor of a single client
    assert all(row["shares"]["share"] is None for row in rows)
    assert totals(service, client=rows[0]["client"])["shares"]["share"] is None

    curve = service.get("/api/v1/reactions/latency", as_of=AS_OF).json()
    assert (curve["watched"], curve["listed"]) == (31, 19)
    assert curve["items"][-1]["listed"] == round(19 / 31, 4)
    assert 0 < curve["median_s"] < 1


def test_a_report_for_a_vendor_says_what_was_measured_and_how(
    told: Callable[[str], Running],
) -> None:
    """The same numbers as Markdown, with range, coverage and method, and as CSV."""
    service = told("p5_half_ignore_inflight")
    asked = {"as_of": AS_OF, "by": "version"}
    report = service.get("/api/v1/reactions", **asked, format="md")
    table = service.get("/api/v1/reactions", **asked, format="csv", limit=1000)

    assert report.headers["content-type"].startswith("text/markdown")
    for said in (
        "19 of 31 at once: 61 % [44 %, 76 %].",
        "Because of it: 61 % [44 %, 76 %].",
        "124 stale calls in flight.",
        "Measured from 2026-07-06 05:05 to 2026-09-28 00:00 (UTC)",
        "## How this was measured",
        "## What would fool it",
        "(one episode: no percentage)",
        "`/api/v1/events?server=maps&client=",
    ):
        assert said in report.text
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert sum(int(row["refreshed"]) for row in rows) == 19
    assert sum(int(row["measured"]) for row in rows) == len(rows) == 31
