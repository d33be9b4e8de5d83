"""What a token may deliver: as fast, as large, as deep as it says, and no other sender notices."""

import gzip
import json
from collections.abc import Callable

import pytest

from tests.access.conftest import NOW_US, House


def lines(number: int, first: int = 0) -> str:
    """Stale calls, no two of them equal."""
    return "\n".join(
        json.dumps(
            {
                "time": f"2026-10-05T10:{n // 60 % 60:02}:{n % 60:02}.{n // 3600:03}Z",
                "msg": "Retired tool called",
                "data": {"tool": "gone"},
            }
        )
        for n in range(first, first + number)
    )


def test_who_is_too_fast_waits_and_loses_nothing(house: House) -> None:
    secret, admin = house.token("a", "ingest:maps", records_per_s=10), house.token("anna", "admin")
    sent, refused = 0, 0
    while sent < 500:
        answer = house.ask("POST", "/ingest", secret, content=lines(50, sent))
        if answer.status_code == 200:
            assert answer.json()["accepted"] == 50
            sent += 50
        else:
            assert answer.status_code == 503
            assert "10 records a second" in answer.json()["detail"]
            refused += 1
            house.clock.pass_s(int(answer.headers["retry-after"]))
    assert refused > 0
    assert house.clock.now_us - NOW_US >= (500 - 100 - 50) / 10 * 1e6
    assert sum(row["stale_calls"] for row in _names(house, admin)) == 500


def _names(house: House, secret: str) -> list[dict[str, int]]:
    found: list[dict[str, int]] = house.ask("GET", "/api/v1/names", secret).json()["items"]
    return found


def test_a_delivery_larger_than_the_burst_is_taken_and_paid_for(house: House) -> None:
    secret = house.token("a", "ingest:maps", records_per_s=10, burst=20)
    assert house.ask("POST", "/ingest", secret, content=lines(200)).json()["accepted"] == 200
    answer = house.ask("POST", "/ingest", secret, content=lines(1, 200))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "19")
    house.clock.pass_s(18)
    assert house.ask("POST", "/ingest", secret, content=lines(1, 200)).status_code == 503
    house.clock.pass_s(1)
    assert house.ask("POST", "/ingest", secret, content=lines(1, 200)).status_code == 200


def test_other_senders_do_not_notice(house: House) -> None:
    slow, quick = house.token("a", "ingest:maps", records_per_s=1), house.token("b", "ingest:maps")
    house.ask("POST", "/ingest", slow, content=lines(100))
    for n in range(5):
        assert house.ask("POST", "/ingest", slow, content=lines(1)).status_code == 503
        answer = house.ask("POST", "/ingest", quick, content=lines(100, 100 * n))
        assert answer.status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [("/ingest", 503), ("/loki/api/v1/push", 503), ("/v1/logs", 503), ("/services/collector/raw", 503),
     ("/firehose", 503), ("/logplex", 503), ("/pubsub", 503), ("/upload", 503)],
)  # fmt: skip
def test_each_protocol_is_told_to_come_again(house: House, path: str, status: int) -> None:
    secret = house.token("a", "ingest:maps", records_per_s=1)
    house.ask("POST", "/ingest", secret, content=lines(100))
    answer = house.ask("POST", path, secret, content=lines(1))
    assert answer.status_code == status
    assert int(answer.headers["retry-after"]) > 60


def test_elasticsearch_is_told_of_every_document(house: House) -> None:
    """Of a whole refusal some senders know nothing but to drop the batch."""
    secret = house.token("a", "ingest:maps", records_per_s=1)
    house.ask("POST", "/ingest", secret, content=lines(100))
    body = "".join(f'{{"create":{{}}}}\n{line}\n' for line in lines(3).splitlines())
    answer = house.ask("POST", "/_bulk", secret, content=body)
    assert answer.status_code == 200
    assert answer.json()["errors"] is True
    assert [item["create"]["status"] for item in answer.json()["items"]] == [429] * 3


def test_a_body_is_at_most_as_large_as_its_token_allows(house: House) -> None:
    sent, decoded = (
        house.token("a", "ingest:maps", sent_bytes=1_000),
        house.token("b", "ingest:maps", body_bytes=1_000),
    )
    body = lines(50).encode()
    packed = gzip.compress(body)
    assert len(packed) < 1_000 < len(body)
    assert house.ask("POST", "/ingest", sent, content=packed).status_code == 200
    assert house.ask("POST", "/ingest", sent, content=body).status_code == 413
    assert house.ask("POST", "/ingest", decoded, content=packed).status_code == 413
    assert house.ask("POST", "/ingest", decoded, content=body).status_code == 413
    assert house.ask("POST", "/ingest", decoded, content=lines(2)).status_code == 200


def test_a_line_is_at_most_as_long_and_as_deep_as_its_token_allows(house: House) -> None:
    narrow, other = (
        house.token("a", "ingest:maps", line_bytes=200, depth=3),
        house.token("b", "ingest:maps"),
    )
    [line] = lines(1).splitlines()
    long = line.replace('"gone"', '"gone", "note": "' + "x" * 200 + '"')
    deep = line.replace('"gone"', '"gone", "a": {"b": {"c": 1}}')
    for text, reason in ((long, "line_too_long"), (deep, "too_deep")):
        answer = house.ask("POST", "/ingest", narrow, content=text)
        assert answer.json()["reasons"] == {reason: 1}
        assert house.ask("POST", "/ingest", other, content=text).json()["rejected"] == 0
    assert house.ask("POST", "/ingest", narrow, content=line).json()["rejected"] == 0


def test_a_limit_above_its_setting_is_the_setting(open_house: Callable[..., House]) -> None:
    """As where the setting was lowered after the token was made."""
    secret = open_house().token("a", "ingest:maps", body_bytes=100_000, line_bytes=50_000, depth=50)
    lower = open_house(max_body_bytes=2_000, max_line_bytes=1_024, max_depth=2)
    assert lower.ask("POST", "/ingest", secret, content=lines(50)).status_code == 413
    [line] = lines(1).splitlines()
    long = line.replace('"gone"', '"gone", "note": "' + "x" * 1_024 + '"')
    answer = lower.ask("POST", "/ingest", secret, content=long)
    assert answer.json()["reasons"] == {"line_too_long": 1}
    deep = line.replace('"gone"', '"gone", "a": {"b": 1}')
    answer = lower.ask("POST", "/ingest", secret, content=deep)
    assert answer.json()["reasons"] == {"too_deep": 1}
