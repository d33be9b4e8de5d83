"""What is broken within a delivery costs that part and nothing else; what cannot be read is refused whole."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

TEXT = json.dumps(
    {
        "time": "2026-10-05T10:15:02.114Z",
        "data": {"tool": "gone", "client": "zed"},
        "msg": "Retired tool called",
    }
)
GOOD = base64.b64encode(TEXT.encode()).decode()
BOM = b"\xef\xbb\xbf"
LOKI, BULK = "/loki/api/v1/push", "/_bulk"


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url), now="2026-11-30T00:00:00Z") as served:
        yield served


def fates(service: Running) -> tuple[int, int, int, int]:
    """All records that were (accepted, duplicates, ignored, rejected)."""
    columns = ("accepted", "duplicates", "ignored", "rejected")
    rows = service.rows("health")
    accepted, duplicates, ignored, rejected = (sum(row[c] for row in rows) for c in columns)
    return accepted, duplicates, ignored, rejected


def post(service: Running, path: str, body: bytes | str) -> Any:
    return service.client.post(path, content=body, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize(
    "said", ['{"_id":"\\ud800"}', '{"_index":"\\udfff","_id":"1"}', '{"_id":"a\\u0000"}']
)
def test_an_id_that_is_no_text_is_answered_all_the_same(service: Running, said: str) -> None:
    """Once it is stored, the sender is told so."""
    body = f'{{"index":{said}}}\n{TEXT}\n'
    answers = [post(service, BULK, body) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert fates(service) == (1, 1, 0, 0)


def test_an_id_of_firehose_that_is_no_text_is_answered_all_the_same(service: Running) -> None:
    """What cannot be written is replaced; the records are stored."""
    body = '{"requestId":"r\\ud800","records":[{"data":"%s"}]}'.replace("%s", GOOD)
    answer = post(service, "/firehose", body)

    assert (answer.status_code, answer.json()["requestId"]) == (200, "r\ufffd")
    assert fates(service) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (LOKI, '{"\\q":1,"streams":[{"values":[["1791195302114000000",%s]]}]}' .replace("%s", json.dumps(TEXT)), 204),
        (LOKI, '{"streams":[{"\\q":1,"values":[["1791195302114000000",%s]]}]}' .replace("%s", json.dumps(TEXT)), 204),
        ("/pubsub", '{"message":{"data":"%s"},"\\q":1}' .replace("%s", GOOD), 204),
        ("/firehose", '{"requestId":"r","records":[{"data":"%s"}],"\\q":1}' .replace("%s", GOOD), 200),
    ],
)  # fmt: skip
def test_a_key_that_is_no_text_is_passed_over(
    service: Running, path: str, body: str, status: int
) -> None:
    """The rest of the body is as good as without it."""
    assert post(service, path, body).status_code == status
    assert fates(service) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    "data",
    [
        "null", "true", "17", '""', '"***"', '"W3siYSI6MX0s"',
        json.dumps(base64.b64encode(b"\x83\xa1a").decode()),
        json.dumps(base64.b64encode(b"[" + b"1," * 40_000 + b"1]").decode()),
    ],
)  # fmt: skip
def test_a_bad_record_of_firehose_costs_no_other(service: Running, data: str) -> None:
    """Neither those before it nor those behind it, whatever it is."""
    other = base64.b64encode(TEXT.replace("zed", "other").encode()).decode()
    records = f'[{{"data":"{GOOD}"}},{{"data":{data}}},{{"data":"{other}"}}]'

    answer = post(service, "/firehose", f'{{"requestId":"r","records":{records}}}')

    assert answer.status_code == 200
    assert fates(service)[0] == 2


def test_base64_may_be_escaped_as_json_allows(service: Running) -> None:
    """Some writers escape `=` and `/`."""
    escaped = GOOD.replace("=", "\\u003d").replace("/", "\\/")
    padded = base64.b64encode((TEXT + " ").encode()).decode().replace("=", "\\u003d")
    records = f'[{{"data":"{escaped}"}},{{"data":"{padded}"}}]'

    post(service, "/firehose", f'{{"requestId":"r","records":{records}}}')

    assert fates(service) == (2, 0, 0, 0)


def form(content: bytes, boundary: str) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; name=f\r\n\r\n".encode()
    return head + content + f"\r\n--{boundary}--\r\n".encode()


def test_forms_within_forms_end_somewhere(service: Running) -> None:
    """Three are read; a thousand are refused, and exhaust nothing."""
    body = TEXT.encode()
    for level in range(3):
        body = form(body, f"b{level}_")
    assert post(service, "/ingest", body).status_code == 200
    for level in range(3, 1_200):
        body = form(body, f"b{level}_")

    assert post(service, "/ingest", body).status_code == 422
    assert fates(service) == (1, 0, 0, 0)


def test_nothing_may_follow_a_form(service: Running) -> None:
    """It would be in no account."""
    one = form(TEXT.encode(), "b")

    assert post(service, "/ingest", one + one).status_code == 422
    assert post(service, "/ingest", one + b"\r\n \r\n").status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (LOKI, '{"streams":[{"values":[["1791195302114000000",%s]]}]}' .replace("%s", json.dumps(TEXT))),
        ("/services/collector/event", '{"event":%s}' .replace("%s", json.dumps(TEXT))),
        ("/firehose", '{"requestId":"r","records":[{"data":"%s"}]}' .replace("%s", GOOD)),
        ("/pubsub", '{"message":{"data":"%s"}}' .replace("%s", GOOD)),
        ("/v1/logs", '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":%s}}]}]}]}'
         .replace("%s", json.dumps(TEXT))),
        (BULK, '{"index":{}}\n' + TEXT + "\n"),
        ("/ingest", TEXT),
    ],
)  # fmt: skip
def test_a_byte_order_mark_in_front_changes_nothing(service: Running, path: str, body: str) -> None:
    """With it and without, it is the same record."""
    assert post(service, path, BOM + body.encode()).status_code < 300
    assert post(service, path, body).status_code < 300

    assert fates(service) == (1, 1, 0, 0)
