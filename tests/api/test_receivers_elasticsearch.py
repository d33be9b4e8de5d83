"""`/_bulk` and its neighbours: what shippers that write to Elasticsearch send and want to hear."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import ApiError, Elasticsearch, helpers
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.app import create_app
from service.settings import Settings
from tests.acceptance.service import running

NOW = 1_791_244_800_000_000  # 2026-10-06T00:00:00Z
NATIVE = "application/vnd.elasticsearch+json; compatible-with=8"

Json = dict[str, Any]


def call(second: int = 2, **data: Any) -> Json:
    """A line of a stale call."""
    said = {"tool": "gone", "client": "zed", **data}
    time = f"2026-10-05T10:15:{second:02}.114Z"
    return {"level": "info", "time": time, "data": said, "msg": "Retired tool called"}


def ndjson(*values: object) -> bytes:
    """One value a line; bytes and text as they are."""
    lines = [
        each
        if isinstance(each, bytes)
        else each.encode()
        if isinstance(each, str)
        else dumped(each)
        for each in values
    ]
    return b"".join(line + b"\n" for line in lines)


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.fixture
def client(database_url: str) -> Iterator[TestClient]:
    app = create_app(Settings(database_url=database_url), clock=lambda: NOW)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield client


def events(client: TestClient) -> int:
    return len(client.get("/api/v1/events", params={"limit": 1000}).json()["items"])


def fates(client: TestClient) -> Json:
    """The account of the source, without what is zero."""
    [row] = client.get("/api/v1/health").json()["items"]
    names = ("accepted", "duplicates", "ignored", "rejected")
    return {name: row[name] for name in names if row[name]}


def statuses(answer: Any) -> list[tuple[str, int]]:
    """Operation and status of every item, of an answer in the form that clients take."""
    assert answer.status_code == 200
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    items = [next(iter(item.items())) for item in answer.json()["items"]]
    assert answer.json()["errors"] is any("error" in said for _, said in items)
    assert isinstance(answer.json()["took"], int)
    return [(operation, said["status"]) for operation, said in items]


def assert_refused(answer: Any, status: int) -> None:
    """The answer is an error in Elasticsearch's form."""
    assert answer.status_code == status
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    said = answer.json()
    assert said["status"] == status
    assert said["error"]["reason"] == said["error"]["root_cause"][0]["reason"]
    assert said["error"]["type"].endswith("_exception")


def test_there_is_one_item_an_action_in_their_order(client: TestClient) -> None:
    """Stored, ignored and rejected ones, updates and deletions; the good ones do not suffer from the
    bad ones, and a repeat is a success, not a conflict that would be sent for ever."""
    body = ndjson(
        {"create": {"_index": "a", "pipeline": None}, "attempts": 0},
        call(),
        {"index": {"_index": "a"}},
        call(3, tool=None),
        {"index": {"_index": "a"}},
        "plain text line that is not JSON",
        {"delete": {"_index": "a", "_id": "1"}},
        {"update": {"_index": "a", "_id": "2"}},
        {"doc": call(4), "doc_as_upsert": True},
        {"update": {"_index": "a", "_id": "3"}},
        {"script": "ctx._source.n += 1"},
        {"index": {"_index": "a"}},
        '{"msg": "Retired tool called"',
        {"index": {"_index": "a"}},
        "",
        {"index": None},
        {"@timestamp": "2026-10-05T10:15:09Z", "message": json.dumps(call(5))},
    )
    expected = [
        ("create", 201),
        ("index", 400),
        ("index", 201),
        ("delete", 404),
        ("update", 200),
        ("update", 200),
        ("index", 400),
        ("index", 400),
        ("index", 201),
    ]
    answer = client.post("/_bulk", content=body)
    assert statuses(answer) == expected
    reasons = [
        said.get("error", {}).get("reason", "")
        for item in answer.json()["items"]
        for said in item.values()
    ]
    assert [reason.split(":")[0] for reason in reasons if reason] == [
        "missing_tool",
        "invalid_json",
        "not_an_object",
    ]
    assert fates(client) == {"accepted": 3, "ignored": 2, "rejected": 3}
    assert statuses(client.put("/_bulk", content=body)) == expected
    assert fates(client) == {"accepted": 3, "duplicates": 3, "ignored": 4, "rejected": 6}


def test_ids_tell_equal_documents_apart(client: TestClient) -> None:
    """Two ids are two events, wherever they are sent; the same id, in the same index, is the same."""

    def send(*ids: object, index: str = "a") -> list[str]:
        pairs = [
            each for id_ in ids for each in ({"create": {"_index": index, "_id": id_}}, call())
        ]
        answer = client.post("/_bulk", content=ndjson(*pairs))
        assert statuses(answer) == [("create", 201)] * len(ids)
        return [item["create"]["_id"] for item in answer.json()["items"]]

    assert send("x", "y") == ["x", "y"]
    assert events(client) == 2
    assert send("y") == ["y"]
    assert send("x") == ["x"]
    assert events(client) == 2
    assert send(7, "z") == ["7", "z"]
    assert events(client) == 4
    send("x", index="b")
    assert events(client) == 5


def test_documents_without_ids_are_given_some_that_change_nothing(client: TestClient) -> None:
    """Two equal ones in one request are two, the request again is the same two, under the same ids."""
    body = ndjson({"index": {"_index": "a"}}, call(), {"index": {"_index": "a"}}, call())
    first, again = (client.post("/_bulk", content=body).json()["items"] for _ in range(2))
    assert first == again
    assert len({item["index"]["_id"] for item in first}) == 2
    assert events(client) == 2


@pytest.mark.parametrize("prefix", ["", "/es"])
@pytest.mark.parametrize("path", ["/_bulk", "/logs-mcp-default/_bulk"])
def test_bulk_stands_at_the_root_and_under_a_prefix(
    prefix: str, path: str, client: TestClient
) -> None:
    """With and without the index in the path, which is that of actions that name none."""
    body = ndjson({"create": {}}, call())
    answer = client.put(f"{prefix}{path}?timeout=1m&refresh=false", content=body)
    assert statuses(answer) == [("create", 201)]
    [item] = answer.json()["items"]
    assert item["create"]["_index"] == ("logs-mcp-default" if "logs" in path else "")
    assert events(client) == 1


SINGLE = [
    ("POST", "/mcp/_doc", 201),
    ("POST", "/mcp/_doc/1", 201),
    ("PUT", "/mcp/_doc/1", 201),
    ("PUT", "/mcp/_create/1", 201),
    ("POST", "/mcp/_create/1", 201),
    ("POST", "/mcp/_update/1", 200),
    ("POST", "/mcp/events", 201),
]


@pytest.mark.parametrize("prefix", ["", "/es"])
@pytest.mark.parametrize(("method", "path", "status"), SINGLE)
def test_a_document_may_come_alone(
    prefix: str, method: str, path: str, status: int, client: TestClient
) -> None:
    """Stored once, however often; what is not ours is a success, and what is broken an error."""
    update = "_update" in path
    good: Json = {"doc": call()} if update else call()
    bad: Json = {"doc": call(tool=None)} if update else call(tool=None)
    for _ in range(2):
        answer = client.request(method, prefix + path, content=dumped(good))
        assert answer.status_code == status
        assert answer.headers["x-elastic-product"] == "Elasticsearch"
        assert answer.json()["_index"] == "mcp"
        assert answer.json()["result"] == ("updated" if update else "created")
        if path.endswith("/1"):
            assert answer.json()["_id"] == "1"
    assert events(client) == 1
    assert client.request(method, prefix + path, content=b"plain text").status_code == status
    assert_refused(client.request(method, prefix + path, content=dumped(bad)), 400)
    assert_refused(client.request(method, prefix + path, content=b" \n"), 400)
    assert fates(client) == {"accepted": 1, "duplicates": 1, "ignored": 1, "rejected": 1}


HANDSHAKE = [
    "/_license",
    "/_xpack",
    "/_cat/health",
    "/_cat/health?format=json",
    "/_cluster/health?timeout=30s&wait_for_status=yellow",
    "/_cluster/health/mcp",
    "/_refresh",
    "/mcp/_refresh",
    "/_ilm/policy/filebeat",
    "/_index_template/template_mcp",
    "/_component_template/c",
    "/_template/filebeat-8.11.0",
    "/_ingest/pipeline/p",
    "/_data_stream/logs-mcp-default",
]


@pytest.mark.parametrize("prefix", ["", "/es"])
@pytest.mark.parametrize("path", HANDSHAKE)
def test_what_senders_ask_first_is_answered(prefix: str, path: str, client: TestClient) -> None:
    """With the header of the product, by GET and, but for what is done by asking, by HEAD."""
    answer = client.get(prefix + path)
    assert answer.status_code == 200
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    assert answer.content
    if "_refresh" not in path:
        assert client.head(prefix + path).status_code == 200


@pytest.mark.parametrize("prefix", ["", "/es"])
@pytest.mark.parametrize("path", HANDSHAKE[8:])
def test_what_senders_set_up_is_acknowledged(prefix: str, path: str, client: TestClient) -> None:
    """And changes nothing."""
    answer = client.put(prefix + path, content=b'{"index_patterns": ["*"]}')
    assert (answer.status_code, answer.json()) == (200, {"acknowledged": True})


@pytest.mark.parametrize(
    "path", ["/_nodes/http", "/_search/scroll", "/_ilm/status", "/_snapshot/x/y"]
)
def test_what_no_sender_needs_is_not_there(path: str, client: TestClient) -> None:
    """404 in the form that clients take."""
    assert_refused(client.get(path), 404)
    assert_refused(client.put(path, content=b"{}"), 404)


SENDERS = [
    {"accept": NATIVE},
    {"accept": "application/json", "user-agent": "Elastic-filebeat/8.11.0 (linux; amd64)"},
    {"accept": "*/*", "user-agent": "Filebeat/7.17.9"},
    {"accept": "*/*", "user-agent": "Vector/0.40.0 (x86_64-unknown-linux-gnu)"},
    {"accept": "*/*", "user-agent": "Logstash/8.11.0"},
    {"accept": "*/*", "user-agent": "Fluent-Bit"},
    {"accept": "*/*", "x-elastic-client-meta": "es=9.4.3,js=20.20.2"},
]
PEOPLE = [
    {"accept": "text/html,application/xhtml+xml,*/*;q=0.8", "user-agent": "Mozilla/5.0"},
    {"accept": "*/*", "user-agent": "curl/7.88.1"},
    {"accept": "text/html", "user-agent": "Elasticvue (a browser's extension)"},
    {},
]


@pytest.mark.parametrize("headers", SENDERS, ids=str)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_root_is_the_banner_for_senders(
    headers: dict[str, str], method: str, client: TestClient
) -> None:
    """Told by what they accept, their own header or their name."""
    answer = client.request(method, "/", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    if method == "GET":
        said = answer.json()
        assert (said["version"]["number"], said["version"]["build_flavor"]) == ("8.11.0", "default")
        assert said["tagline"] == "You Know, for Search"


@pytest.mark.parametrize("headers", PEOPLE, ids=str)
def test_the_root_is_a_page_for_people(headers: dict[str, str], client: TestClient) -> None:
    """And for whoever says nothing of Elasticsearch; under the prefix the banner is for all."""
    page = client.get("/", headers=headers)
    assert page.headers["content-type"].startswith("text/html")
    assert "x-elastic-product" not in page.headers
    for path in ("/es", "/es/"):
        assert client.get(path, headers=headers).json()["cluster_name"] == "lastcall"
        assert client.head(path, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (NATIVE, NATIVE),
        (
            "application/vnd.elasticsearch+json;compatible-with=9,text/plain",
            "application/vnd.elasticsearch+json;compatible-with=9",
        ),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_the_answer_has_a_type_that_the_sender_accepts(
    accept: str, expected: str, client: TestClient
) -> None:
    """Elasticsearch's own where it is asked for."""
    body = ndjson({"create": {"_index": "a"}}, call())
    answer = client.post("/_bulk", content=body, headers={"accept": accept})
    assert answer.headers["content-type"] == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("errors", {"errors": True}),
        ("items.*.status", {"items": [{"index": {"status": 201}}, {"index": {"status": 400}}]}),
        ("items.index._index", {"items": [{"index": {"_index": "a"}}] * 2}),
        ("nothing", {}),
        ("**.status", {"items": [{"index": {"status": 201}}, {"index": {"status": 400}}]}),
        ("items.**._index,err*", {"errors": True, "items": [{"index": {"_index": "a"}}] * 2}),
        ("i*.in*.st*s", {"items": [{"index": {"status": 201}}, {"index": {"status": 400}}]}),
        ("**.nothing", {"items": [{}, {}]}),
        ("items.*.status,-items.index", {"items": [{}, {}]}),
        ("-took,-items", {"errors": True}),
    ],
)
def test_an_answer_may_be_filtered(path: str, expected: Json, client: TestClient) -> None:
    """By `filter_path`, as Beats and Logstash do to keep answers small; every item keeps its place."""
    body = ndjson({"index": {"_index": "a"}}, call(), {"index": {"_index": "a"}}, call(tool=None))
    assert client.post(f"/_bulk?filter_path={path}", content=body).json() == expected


@pytest.mark.parametrize("path", ["*", "**", "**.**", "took,**"])
def test_a_filter_of_stars_leaves_all(path: str, client: TestClient) -> None:
    """The answer is that without a filter."""
    body = ndjson({"index": {"_index": "a"}}, call())
    whole = client.post("/_bulk", content=body).json()
    answer = client.post(f"/_bulk?filter_path={path}", content=body).json()
    assert {**answer, "took": 0} == {**whole, "took": 0}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("**." * 300 + "status", {"items": [{"index": {"status": 201}}]}),
        ("**.i*." * 150 + "status", {"items": [{}]}),
        ("**.**.errors", {"errors": False, "items": [{}]}),
    ],
)
def test_a_filter_of_very_many_stars_is_answered(
    path: str, expected: Json, client: TestClient
) -> None:
    """Several `**` in a row are one, and equal rests of a path are looked at once."""
    body = ndjson({"index": {"_index": "a"}}, call())
    assert client.post(f"/_bulk?filter_path={path}", content=body).json() == expected


def test_a_filter_that_no_client_would_send_is_left_out(client: TestClient) -> None:
    """The answer is whole."""
    answer = client.get("/es?filter_path=" + "**.a." * 400 + "x").json()
    assert answer["cluster_name"] == "lastcall"


def test_the_filter_of_beats_leaves_what_they_read(client: TestClient) -> None:
    """Errors and statuses, in their places."""
    body = ndjson({"index": {"_index": "a"}}, call(tool=None), {"create": {"_index": "a"}}, call())
    answer = client.post(
        "/_bulk?filter_path=errors,items.*.error,items.*.status", content=body
    ).json()
    assert answer["errors"] is True
    first, second = answer["items"]
    assert first["index"]["status"] == 400
    assert first["index"]["error"]["type"] == "document_parsing_exception"
    assert second == {"create": {"status": 201}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n\n",
        b"no bulk request\n",
        ndjson(call()),
        ndjson({"index": {}, "create": {}}, call()),
        ndjson({"index": 5}, call()),
        ndjson({"index": {"_index": "a"}}, call(), call(3)),
        ndjson({"index": {"_index": "a"}}),
        ndjson({"index": {"_index": "a"}})[:-1],
        gzip.compress(ndjson({"index": {}}, call()), mtime=0)[:-9],
    ],
    ids=repr,
)
def test_what_is_no_bulk_request_is_refused_whole(body: bytes, client: TestClient) -> None:
    """Where an action cannot be told from a document nothing is stored."""
    assert_refused(client.post("/_bulk", content=body), 400)
    assert client.get("/api/v1/health").json()["items"] == []


def test_a_request_without_a_newline_at_its_end_is_whole(client: TestClient) -> None:
    """The length of a body says whether it is."""
    body = ndjson({"index": {"_index": "a"}}, call())[:-1]
    assert statuses(client.post("/_bulk", content=gzip.compress(body))) == [("index", 201)]


def test_too_large(database_url: str) -> None:
    """413: before it is read, once it is inflated, and by its number of actions."""
    app = create_app(
        Settings(database_url=database_url, max_body_bytes=2_000_000), clock=lambda: NOW
    )
    with TestClient(app, base_url="http://localhost") as client:
        body = ndjson({"index": {"_index": "a"}}, call())
        assert_refused(client.post("/_bulk", content=body * 20_000), 413)
        assert_refused(client.post("/_bulk", content=gzip.compress(body * 20_000)), 413)
        assert_refused(client.post("/_bulk", content=b'{"delete":{}}\n' * 100_001), 413)
        assert events(client) == 0


def test_a_document_that_is_too_large_or_too_deep_fails_alone(client: TestClient) -> None:
    """Its neighbours are stored."""
    action = {"index": {"_index": "a"}}
    huge = dumped({**call(), "padding": "x" * 1_100_000})
    deep = dumped(call()).replace(b'"info"', b"[" * 5_000 + b"]" * 5_000)
    body = ndjson(action, huge, action, deep, action, call(3))
    answer = client.post("/_bulk", content=body)
    assert statuses(answer) == [("index", 400), ("index", 400), ("index", 201)]
    assert events(client) == 1


def test_overload_is_told_item_by_item(client: TestClient) -> None:
    """All items 429, which more senders try again than a 503 for all; nothing is stored. A single
    document has 503, and when to come again."""
    client.app.state.pipeline.close()  # type: ignore[attr-defined]
    body = ndjson(
        {"index": {"_index": "a", "_id": "x"}}, call(), {"create": {"_index": "a"}}, call()
    )
    assert statuses(client.post("/_bulk", content=body)) == [("index", 429), ("create", 429)]
    answer = client.post("/mcp/_doc", content=dumped(call()))
    assert_refused(answer, 503)
    assert answer.headers["retry-after"] == "5"
    assert events(client) == 0


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/loki/api/v1/pusch", "/loki/api/v1/push"),
        ("/services/collect", "/services/collector"),
        ("/v1/log", "/v1/logs"),
        ("/to/maps/v1/log", "/to/maps/v1/logs"),
        ("/ingets", "/ingest"),
        ("/to/maps/ingets", "/to/maps/ingest"),
        ("/api/ingest", "/api/v1/ingest"),
        ("/static/x", "/docs"),
    ],
)
def test_a_mistyped_address_is_no_index(path: str, meant: str, client: TestClient) -> None:
    """What other paths begin with cannot be one, so that a mistake is seen; the nearest path is named."""
    answer = client.post(path, content=dumped(call()))
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert f" {meant}" in answer.json()["detail"]
    assert events(client) == 0


@pytest.mark.parametrize("prefix", ["", "/es", "/to/maps"])
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/mcp/_doc/1", 405),
        ("DELETE", "/mcp/_doc/1", 405),
        ("POST", "/mcp/_search", 404),
        ("POST", "/_a/_b", 404),
        ("PUT", "/mcp", 404),
        ("DELETE", "/mcp", 404),
    ],
)
def test_what_is_not_supported_is_refused_as_clients_expect(
    prefix: str, method: str, path: str, status: int, client: TestClient
) -> None:
    """In Elasticsearch's form, by the path or by what its clients accept; it says what is possible."""
    accepts = {"accept": "application/vnd.elasticsearch+json; compatible-with=9"}
    answer = client.request(method, prefix + path, headers=accepts)
    assert_refused(answer, status)
    assert "/_bulk" in answer.json()["error"]["reason"]


def test_a_sender_may_say_whose_log_it_is(client: TestClient) -> None:
    """In the address, as at other endpoints."""
    body = ndjson({"index": {"_index": "a"}}, call())
    client.post("/es/_bulk?server=maps&source=filebeat", content=body)
    [row] = client.get("/api/v1/health").json()["items"]
    assert (row["server"], row["source"]) == ("maps", "filebeat")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    parts=st.lists(
        st.tuples(
            st.sampled_from(["index", "create", "update", "delete"]),
            st.none() | st.text(max_size=3) | st.integers() | st.lists(st.none()),
            st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b" "))
            | st.sampled_from([dumped(call()), dumped({"doc": call()}), dumped({"doc": 5})]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_every_action_has_an_item_whatever_its_document_is(
    parts: list[tuple[str, object, bytes]], client: TestClient
) -> None:
    """Any bytes in the place of a document; the account adds up."""
    lines: list[object] = []
    for operation, id_, document in parts:
        lines.append({operation: {"_index": "a", "_id": id_}})
        lines += [document] if operation != "delete" else []
    found = statuses(client.post("/_bulk", content=ndjson(*lines)))
    assert [operation for operation, _ in found] == [operation for operation, _, _ in parts]
    assert {status for _, status in found} <= {200, 201, 400, 404}


def test_the_official_client_is_content(database_url: str) -> None:
    """elasticsearch-py: asks who we are, sends in bulk with and without gzip, hears which document was
    rejected, and indexes one alone."""
    with running(Settings(database_url=database_url), now="2026-10-06T00:00:00Z") as service:
        for url in (service.url, f"{service.url}/es"):
            for compress in (False, True):
                with Elasticsearch(url, http_compress=compress) as sender:
                    assert sender.info()["version"]["number"] == "8.11.0"
                    actions = [{"_index": "mcp", "_id": n, **call(n)} for n in range(5)]
                    assert helpers.bulk(sender, actions) == (5, [])
                    bad = [*actions, {"_index": "mcp", **call(9, tool=None)}]
                    with pytest.raises(helpers.BulkIndexError) as failed:
                        helpers.bulk(sender, bad)
                    [error] = failed.value.errors
                    assert error["index"]["status"] == 400
                    assert sender.index(index="mcp", document=call(8))["result"] == "created"
                    with pytest.raises(ApiError):
                        sender.index(index="mcp", document=call(tool=None))
                    sender.indices.refresh(index="mcp")
                    assert sender.cluster.health()["status"] == "green"
        assert len(service.rows("events")) == 6
