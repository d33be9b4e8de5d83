"""`/to/{server}/…`: whose log it is stands in the path, for senders whose address can have no query."""

import json
from collections.abc import Iterator

import pytest
from elasticsearch import ApiError, Elasticsearch
from elasticsearch.helpers import bulk

from service.settings import Settings
from tests.acceptance.service import Running, running

LINE = {
    "level": "info",
    "time": "2026-10-05T10:15:02.114Z",
    "data": {"tool": "gone", "client": "zed", "lastRelease": "1.0"},
    "msg": "Retired tool called",
}
TEXT = json.dumps(LINE)
_RECORD = {"body": {"stringValue": TEXT}}
_OTLP = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [_RECORD]}]}]})
_LOKI = json.dumps({"streams": [{"stream": {}, "values": [["1791195302114000000", TEXT]]}]})
_BULK = f'{{"create":{{"_index":"mcp"}}}}\n{TEXT}\n'
BODIES = {
    "ingest": TEXT,
    "ingest/edge-1": TEXT,
    "v1/logs": _OTLP,
    "loki/api/v1/push": _LOKI,
    "_bulk": _BULK,
    "es/_bulk": _BULK,
    "mcp/_doc": TEXT,
    "services/collector": json.dumps({"event": LINE}),
}


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url), now="2026-10-06T00:00:00Z") as served:
        yield served


def servers(service: Running) -> list[str]:
    return [row["server"] for row in service.rows("events")]


@pytest.mark.parametrize("path", BODIES)
def test_every_receiver_takes_the_server_from_the_path(service: Running, path: str) -> None:
    """As `?server=` says it; the name is percent-decoded, a slash within it too."""
    json_type = {"content-type": "application/json"}
    for name in ("maps", "caf%C3%A9%20a%2Fb"):
        sent = service.client.post(f"/to/{name}/{path}", content=BODIES[path], headers=json_type)
        assert sent.is_success, sent.text

    assert sorted(servers(service)) == ["café a/b", "maps"]


def test_the_query_may_say_the_same_and_nothing_else(service: Running) -> None:
    """Another name is 422, and nothing is stored; other parameters are kept."""
    wrong = service.client.post("/to/maps/ingest?server=other", content=TEXT)
    assert (wrong.status_code, wrong.json()["parameter"]) == (422, "server")
    assert service.rows("health") == []

    sent = service.client.post("/to/maps/ingest?server=maps&source=edge", content=TEXT)
    assert sent.status_code == 200
    assert [(row["server"], row["source"]) for row in service.rows("health")] == [("maps", "edge")]


@pytest.mark.parametrize(
    "path", ["/to", "/to/maps/names", "/to/maps/api/v1/names", "/to/maps/docs", "/to//ingest"]
)
def test_only_what_takes_lines_is_there(service: Running, path: str) -> None:
    """Pages and answers are not."""
    assert service.get(path).status_code == 404
    assert service.client.post(path, content=TEXT).status_code in {404, 405}
    assert service.rows("health") == []


def test_the_official_client_of_elasticsearch_sends_to_a_server(service: Running) -> None:
    """elasticsearch-py, which drops the query of its URL."""
    client = Elasticsearch(f"{service.url}/to/maps")
    assert client.info()["cluster_name"] == "lastcall"
    assert bulk(client, [{"_index": "mcp", "_source": LINE}]) == (1, [])

    assert servers(service) == ["maps"]
    assert not client.indices.exists(index="mcp")
    with pytest.raises(ApiError, match="documents are only taken"):
        client.get(index="mcp", id="1")
    with pytest.raises(ApiError, match="documents are only taken"):
        client.indices.create(index="mcp")
