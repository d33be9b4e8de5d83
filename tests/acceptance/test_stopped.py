"""
Has everyone stopped? A log of 120 days with known truth, through the service, on both databases.

Made by a simulator: who had stopped, and who was alive, is known, and what a reference implementation of the
rule, apart from this one, says of it.
"""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings

DATA = Path(__file__).parent / "data" / "p6_stopped_or_not.ndjson.gz"
LINES = gzip.decompress(DATA.read_bytes()).decode().splitlines()
START = datetime(2026, 7, 6, tzinfo=UTC)
AS_OF = "2026-11-03T00:00:00Z"
NOW_US = round(datetime(2026, 11, 10, tzinfo=UTC).timestamp() * 1e6)
STOP_WORDS = {"stopped", "probably stopped"}

# tool, client: calls, active days, silent days, P and its interval to two decimals, words that are right
TRUTH: dict[tuple[str, str], tuple[int, int, int, float, tuple[float, float], set[str]]] = {
    ("tomtom-ev-routing", "cursor"): (29, 24, 63, 1.00, (0.92, 1.00), STOP_WORDS),
    ("tomtom-static-map", "claude-code"): (42, 26, 76, 1.00, (0.96, 1.00), STOP_WORDS),
    ("tomtom-static-map", "n8n"): (17, 17, 6, 0.13, (0.12, 0.38), {"still calling"}),
    ("tomtom-waypoint-routing", "script-01"): (
        4, 4, 24, 0.34, (0.31, 0.47), {"still calling", "cannot tell"},
    ),
    ("tomtom-reachable-range", "vscode-copilot"): (
        69, 41, 12, 0.14, (0.07, 0.36), {"still calling", "cannot tell"},
    ),
}  # fmt: skip


def ask(url: str, lines: list[str], **params: Any) -> list[dict[str, Any]]:
    """Rows of a service over these lines."""
    app = create_app(Settings(database_url=url), clock=lambda: NOW_US)
    with TestClient(app, base_url="http://localhost") as client:
        assert client.post("/ingest", content="\n".join(lines)).status_code == 200
        answer = client.get("/api/v1/stopped", params={"as_of": AS_OF, **params})
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = json.loads(answer.text, parse_constant=pytest.fail)["items"]
    return rows


def words(rows: list[dict[str, Any]]) -> dict[tuple[str, str | None], str]:
    return {(row["name"], row.get("client")): row["verdict"] for row in rows}


def test_each_client_gets_the_word_that_the_truth_allows(database_url: str) -> None:
    """Numbers to two decimals, days and calls exactly, and for a single call no number at all."""
    rows = {(row["name"], row["client"]): row for row in ask(database_url, LINES, by="client")}
    once = rows.pop(("tomtom-get-viz-data", "zed"))
    assert (once["verdict"], once["active_days"], once["silent_days"]) == (
        "too few calls to judge",
        1,
        111,
    )
    assert (once["probability"], once["interval"], once["wait_days"]) == (None, None, None)
    assert rows.keys() == TRUTH.keys()
    for pair, (calls, active, silent, probability, interval, right) in TRUTH.items():
        row = rows[pair]
        assert (row["stale_calls"], row["active_days"], row["silent_days"]) == (
            calls,
            active,
            silent,
        )
        assert row["probability"] == pytest.approx(probability, abs=0.006)
        assert row["interval"] == pytest.approx(interval, abs=0.006)
        assert row["verdict"] in right
        assert (row["covered"], row["gap_days"]) == (True, 0)
    monthly = rows["tomtom-waypoint-routing", "script-01"]
    assert monthly["wait_days"] == pytest.approx(270, abs=1)


def test_each_name_gets_the_word_that_the_truth_allows(database_url: str) -> None:
    """One client that is alive keeps a name from having stopped; one call leaves it open."""
    rows = {row["name"]: row for row in ask(database_url, LINES)}
    assert rows["tomtom-ev-routing"]["verdict"] in STOP_WORDS
    assert rows["tomtom-get-viz-data"]["verdict"] == "too few calls to judge"
    still = rows["tomtom-static-map"]
    assert still["verdict"] == "still calling"
    assert (still["weakest"]["client"], still["weakest"]["verdict"]) == ("n8n", "still calling")
    assert still["clients"] == {"still calling": 1, "stopped": 1}
    # the rule of three: 3 / 63
    assert rows["tomtom-ev-routing"]["upper_bound_per_day"] == pytest.approx(0.0477, abs=5e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("day", [1, 30, 44, 58, 75, 95, 106])
def test_a_source_that_was_silent_for_two_weeks_makes_nobody_stop(
    new_database: Callable[[], str], day: int
) -> None:
    """Wherever the two weeks lie, also at the end: no row gets a word that it stopped which it had not."""
    gone = (START + timedelta(days=day), START + timedelta(days=day + 14))
    left = [line for line in LINES if not gone[0] <= time_of(line) < gone[1]]
    for params in ({}, {"by": "client"}):
        before = words(ask(new_database(), LINES, **params))
        rows = ask(new_database(), left, **params)
        turned = {key for key, word in words(rows).items() if word in STOP_WORDS}
        assert turned <= {key for key, word in before.items() if word in STOP_WORDS}
        assert max(row["gap_days"] for row in rows) >= 14


def time_of(line: str) -> datetime:
    return datetime.fromisoformat(json.loads(line)["time"])
