"""A list that stands twice in an object: all of it counts, or the sender is told; nothing is lost unsaid."""

import base64
import gzip
import json
from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running


def line(tool: str) -> str:
    data = {"tool": tool, "client": "zed"}
    return json.dumps(
        {"time": "2026-10-05T10:15:02.114Z", "data": data, "msg": "Retired tool called"}
    )


A, B = line("a"), line("b")


def text(value: str) -> str:
    return json.dumps(value)


def packed(value: str) -> str:
    return base64.b64encode(gzip.compress(value.encode())).decode()


def entry(value: str) -> str:
    return f'["1791195302114000000",{text(value)}]'


def record(value: str) -> str:
    return f'{{"body":{{"stringValue":{text(value)}}}}}'


def scopes(value: str) -> str:
    return f'{{"scopeLogs":[{{"logRecords":[{value}]}}]}}'


def cloudwatch(value: str) -> str:
    return f'[{{"timestamp":1791195302114,"message":{text(value)}}}]'


def subscribed(first: str, second: str) -> str:
    return f'{{"messageType":"DATA_MESSAGE","logEvents":{first},"logEvents":{second}}}'


REPEATED = {
    "a wrapper": ("/ingest", f'{{"logs":[{A}],"logs":[{B}]}}'),
    "a wrapper of texts": ("/ingest", f'{{"logs":[{text(A)}],"n":1,"logs":[{text(B)}]}}'),
    "Loki's streams": (
        "/loki/api/v1/push",
        f'{{"streams":[{{"values":[{entry(A)}]}}],"streams":[{{"values":[{entry(B)}]}}]}}',
    ),
    "Loki's values": (
        "/loki/api/v1/push",
        f'{{"streams":[{{"values":[{entry(A)}],"values":[{entry(B)}]}}]}}',
    ),
    "Firehose's records": (
        "/firehose",
        f'{{"records":[{{"data":"{packed(A)}"}}],"records":[{{"data":"{packed(B)}"}}]}}',
    ),
    "CloudWatch's events": (
        "/firehose",
        f'{{"records":[{{"data":"{packed(subscribed(cloudwatch(A), cloudwatch(B)))}"}}]}}',
    ),
    "OTLP's records": (
        "/v1/logs",
        f'{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{record(A)}],"logRecords":[{record(B)}]}}]}}]}}',
    ),
    "OTLP's resources, by both names": (
        "/v1/logs",
        f'{{"resourceLogs":[{scopes(record(A))}],"resource_logs":[{scopes(record(B))}]}}',
    ),
}


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url), now="2026-11-30T00:00:00Z") as served:
        yield served


def post(service: Running, path: str, body: str) -> int:
    headers = {"Content-Type": "application/json"}
    return service.client.post(path, content=body, headers=headers).status_code


def test_all_elements_of_a_repeated_list_count(service: Running, subtests: pytest.Subtests) -> None:
    """At every receiver that takes objects around lists."""
    for number, (name, (path, body)) in enumerate(REPEATED.items()):
        with subtests.test(name):
            assert post(service, f"{path}?server=s{number}", body) in {200, 204}
            events = service.rows("events", server=f"s{number}")
            assert sorted(event["name"] for event in events) == ["a", "b"]


def test_what_can_be_there_once_only_is_rejected_where_it_is_repeated(service: Running) -> None:
    """A message of Pub/Sub, and the data of a record of Firehose."""
    one = f'{{"data":"{packed(A)}"}}'
    two = f'{{"data":"{packed(A)}","data":"{packed(B)}"}}'
    assert post(service, "/pubsub", f'{{"message":{one},"message":{one}}}') == 204
    assert post(service, "/firehose", f'{{"records":[{two},{one}]}}') == 200

    account = {row["source"]: (row["accepted"], row["rejected"]) for row in service.rows("health")}
    assert account == {"pubsub": (0, 1), "firehose": (1, 1)}


def test_a_key_may_not_be_repeated_without_end(service: Running) -> None:
    """Thousands of times is no mistake of a sender."""
    body = "{" + '"records":[],' * 2_000 + '"records":[]}'
    assert post(service, "/firehose", body) == 400
