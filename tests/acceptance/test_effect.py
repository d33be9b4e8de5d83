"""Logs with a built-in truth, from their lines to what REST says of the effect of notifications."""

import gzip
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.app import create_app
from service.settings import Settings

DATA = Path(__file__).parent / "effect"
AS_OF = "2026-09-28T00:00:00Z"
LINES = 5_000
"""Of one request: a whole file is more than a body may be."""
Open = Callable[[], TestClient]


@pytest.fixture
def new_client(new_database: Callable[[], str]) -> Iterator[Open]:
    """Makes clients of services, each with an empty database of its own."""
    opened: list[TestClient] = []

    def make() -> TestClient:
        app = create_app(Settings(database_url=new_database()))
        client = TestClient(app, base_url="http://127.0.0.1:8420")
        opened.append(client.__enter__())
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


def lines_of(name: str) -> list[bytes]:
    """The lines of the file whose name begins so."""
    (file,) = DATA.glob(f"{name}_*.ndjson.gz")
    return gzip.decompress(file.read_bytes()).splitlines()


def send(client: TestClient, lines: list[bytes], source: str = "files") -> None:
    """Deliver lines as one source of server `maps`."""
    for at in range(0, len(lines), LINES):
        answer = client.post(
            f"/ingest?server=maps&source={source}", content=b"\n".join(lines[at : at + LINES])
        )
        assert answer.json()["accepted"] == len(lines[at : at + LINES])


def effect(client: TestClient, **asked: str) -> dict[str, Any]:
    """What is said, as strict JSON."""
    answer = client.get("/api/v1/effect", params={"as_of": AS_OF, **asked})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.text, parse_constant=_no_number)
    return found


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


TRUTHS = [
    # file, acceptable ratio, reference interval, verdict, strength (from effect/README.md)
    ("p1", (0.20, 0.50), (0.25, 0.59), "reduced", "robust"),
    ("p2", (0.75, 1.35), (0.75, 1.39), "no detectable change", None),
    ("p3", (0.65, 1.60), (0.70, 1.80), "no detectable change", None),
    ("p5", (0.33, 0.78), (0.31, 0.83), "reduced", "if trends were alike"),
]


@pytest.mark.parametrize(("name", "acceptable", "reference", "verdict", "strength"), TRUTHS)
def test_a_log_with_a_known_effect_gets_its_verdict_strength_and_interval(
    new_client: Open,
    name: str,
    acceptable: tuple[float, float],
    reference: tuple[float, float],
    verdict: str,
    strength: str | None,
) -> None:
    """Verdict and strength are required, the ratio is acceptable, and the interval is the published one."""
    client = new_client()
    send(client, lines_of(name))
    found = effect(client)
    assert (found["verdict"], found["strength"]) == (verdict, strength)
    assert acceptable[0] <= found["rate_ratio"] <= acceptable[1]
    assert found["interval"] == pytest.approx(reference, abs=0.0051)
    assert found["exposure"] == "sessions"


def test_where_nothing_happened_no_client_is_called_changed(new_client: Open) -> None:
    """p3: the least of 44 p-values is 0.0025, and one question in 44 asks for less than 0.1/44."""
    client = new_client()
    send(client, lines_of("p3"))
    asked = {"as_of": AS_OF, "limit": "100"}
    rows = client.get("/api/v1/effect/clients", params=asked).json()["items"]
    assert len(rows) == 44
    assert min(row["p_value"] for row in rows) == pytest.approx(0.0025, abs=5e-5)
    assert {row["verdict"] for row in rows} <= {"no detectable change", "not enough data", None}


def test_nobody_left_to_compare_with_is_no_effect_however_far_calls_fell(new_client: Open) -> None:
    """p4: all twelve clients are notified at once while use declines; before and after says 0.32."""
    client = new_client()
    send(client, lines_of("p4"))
    found = effect(client)
    assert found["verdict"] == "cannot separate from the trend"
    assert (found["rate_ratio"], found["interval"], found["strength"]) == (None, None, None)
    assert found["naive_ratio"] == pytest.approx(0.32, abs=0.005)
    assert found["clients_notified"] == 12


def test_without_any_notification_there_is_nothing_to_compare(new_client: Open) -> None:
    """p6 has none."""
    client = new_client()
    send(client, lines_of("p6"))
    found = effect(client, as_of="2026-11-03T00:00:00Z")
    assert found["verdict"] == "not enough data"
    assert found["clients_notified"] == 0
    assert "No notification" in found["words"]["sentence"]


def test_clients_that_listed_again_and_those_that_did_not_are_told_apart(new_client: Open) -> None:
    """p5: 19 of 31 refetch and call 0.20 as often, 12 ignore it and go on; published 0.19 and 0.93."""
    client = new_client()
    send(client, lines_of("p5"))
    found = effect(client)
    refreshed, ignored = found["refreshed"], found["ignored"]
    assert (refreshed["clients"], ignored["clients"]) == (19, 12)
    assert 0.13 <= refreshed["rate_ratio"] <= 0.30
    assert 0.65 <= ignored["rate_ratio"] <= 1.50
    assert refreshed["interval"] == pytest.approx((0.15, 0.25), abs=0.0051)
    assert ignored["interval"] == pytest.approx((0.62, 1.40), abs=0.03)


def test_the_sentence_says_what_was_observed_expected_and_how_sure_that_is(
    new_client: Open,
) -> None:
    """p1, as published: 788 calls where 2,038 were expected, 61 % fewer, 41 to 75 %."""
    client = new_client()
    send(client, lines_of("p1"))
    assert effect(client)["words"]["sentence"] == (
        "After being notified, 19 clients called the old names 788 times where 2,038 were expected: "
        "61 % fewer, 95 % interval 41–75 %."
    )


def test_a_late_line_changes_the_answer_at_once(new_client: Open) -> None:
    """Answers are kept until the data change, and no longer."""
    client = new_client()
    lines = lines_of("p1")
    late = [line for line in lines if b"Retired tool called" in line and b'"2026-09-2' in line]
    assert len(late) > 20
    send(client, [line for line in lines if line not in set(late)])
    before = effect(client)
    assert effect(client)["observed"] == before["observed"]
    send(client, late)
    after = effect(client)
    assert before["observed"] < after["observed"] == 788


def test_the_order_of_lines_their_repetition_and_a_second_source_change_nothing(
    new_client: Open,
) -> None:
    """The same log backwards, sent twice, and cut into two sources by turns: the same answer to the digit."""
    lines = lines_of("p1")
    plain = new_client()
    send(plain, lines)
    wanted = effect(plain)
    backwards = new_client()
    send(backwards, lines[::-1])
    again = backwards.post("/ingest?server=maps&source=files", content=b"\n".join(lines[:LINES]))
    assert again.json()["duplicates"] == LINES
    split = new_client()
    send(split, lines[::2], "one")
    send(split, lines[1::2], "two")
    for other in (backwards, split):
        assert without_moment(effect(other)) == without_moment(wanted)


def without_moment(found: dict[str, Any]) -> dict[str, Any]:
    """An answer without the instant that it was made at, floats to ten digits."""
    return {key: _rounded(value) for key, value in found.items() if key != "generated_at"}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else value
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return value


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("p1", "2026-08-17", "2026-08-31"),
        ("p2", "2026-07-27", "2026-08-10"),
        ("p3", "2026-09-07", "2026-09-21"),
        ("p4", "2026-08-24", "2026-09-07"),
        ("p5", "2026-08-03", "2026-08-17"),
    ],
)
def test_a_source_that_falls_silent_for_two_weeks_never_makes_an_effect(
    new_client: Open, name: str, start: str, end: str
) -> None:
    """
    Half of the clients are logged by a second source, which breaks: whatever was said may be withheld,
    but "reduced" is never said where it was not said before.
    """
    client = new_client()
    lines = lines_of(name)
    mine, other = parted(lines)
    send(client, mine, "one")
    send(client, [line for line in other if not start <= day_of(line) < end], "two")
    found = effect(client)
    allowed = {row[0]: row[3] for row in TRUTHS}.get(name)
    assert found["verdict"] not in {"reduced", "increased"} - {allowed}
    assert found["uncovered"] > 0


def day_of(line: bytes) -> str:
    """The UTC day of a line."""
    return str(json.loads(line)["time"])[:10]


def parted(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The lines of every other client, and those of the rest."""
    clients = sorted({json.loads(line)["data"]["client"] for line in lines})
    first = set(clients[::2])
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    for line in lines:
        sides[json.loads(line)["data"]["client"] not in first].append(line)
    return sides
