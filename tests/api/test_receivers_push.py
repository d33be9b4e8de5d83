"""Loki, Splunk, Firehose, Pub/Sub, logplex and the journal: what is stored, and what the sender is told."""

import base64
import gzip
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cramjam
import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running
from tests.captures.runs import requests

DATA = Path(__file__).parent / "data"
NOW = "2026-11-30T00:00:00Z"
NOW_MS = 1_795_996_800_000
LINE = {
    "level": "info",
    "time": "2026-10-05T10:15:02.114Z",
    "data": {"tool": "gone", "client": "zed", "lastRelease": "1.0"},
    "msg": "Retired tool called",
}
TEXT = json.dumps(LINE)
UNTIMED = json.dumps({key: value for key, value in LINE.items() if key != "time"})
AT_S = 1_791_195_302
AT = "2026-10-05T10:15:02"
"""The same second, by `date -u -d @1791195302`."""


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url, max_body_bytes=100_000), now=NOW) as served:
        yield served


def account(service: Running) -> dict[str, tuple[int, int, int, int]]:
    """(accepted, duplicates, ignored, rejected) by source."""
    columns = ("accepted", "duplicates", "ignored", "rejected")
    return {row["source"]: tuple(row[c] for c in columns) for row in service.rows("health")}


def times(service: Running) -> list[str]:
    """When the stored events were."""
    return sorted(row["time"] for row in service.rows("events"))


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


RUNS = {
    "curl/data-strips-newlines": (200, "http", (3, 0, 2, 0)),
    "curl/multipart-form": (200, "http", (3, 0, 2, 0)),
    "curl/ndjson-gzip": (200, "http", (3, 0, 2, 0)),
    "curl/upload-T-put": (200, "mcp.log", (3, 0, 2, 0)),
    "js-logtail-pino/503_then_200": (200, "http", (2, 2, 0, 0)),
    "pino-loki/product_format": (204, "loki", (2, 0, 1, 0)),
    "pino-loki/epoch_default": (204, "loki", (2, 0, 0, 0)),
    "js-winston-loki/proto-ok": (204, "loki", (2, 0, 1, 0)),
    "js-winston-loki/json-503_then_200": (204, "loki", (2, 0, 1, 0)),
    "py-python-logging-loki/ok": (204, "loki", (2, 1, 2, 0)),
    "py-splunk-handler/503_then_200": (200, "splunk", (3, 3, 4, 0)),
    "py-splunk-hec-handler/ok": (200, "splunk", (2, 4, 3, 0)),
    "js-splunk-logging/response_lost": (200, "splunk", (3, 3, 2, 0)),
    "js-winston-splunk/503_then_200": (200, "splunk", (2, 0, 1, 0)),
    "journal-upload/ok": (200, "journal", (2, 0, 0, 0)),
    "journal-upload/503": (200, "journal", (2, 2, 0, 0)),
}


@pytest.mark.parametrize("run", RUNS)
def test_what_real_clients_sent_is_stored_once(service: Running, run: str) -> None:
    """Their bytes, in the order in which they came, however often."""
    status, source, fates = RUNS[run]
    for sent in requests(run):
        answer = service.client.request(
            sent.method, sent.target, headers=sent.headers, content=sent.body
        )
        assert answer.status_code == status, answer.text
    assert account(service) == {source: fates}


# ----------------------------------------------------------------------------- Loki


def push(service: Running, values: list[Any], **kwargs: Any) -> Any:
    body = {"streams": [{"stream": {"level": "error"}, "values": values}]}
    return service.client.post("/loki/api/v1/push", json=body, **kwargs)


def test_entries_with_metadata_are_entries(service: Running) -> None:
    """Case 23: two or three elements, whatever the third holds."""
    body = (DATA / "23-loki-three-element-values.json").read_bytes()
    answer = service.client.post("/loki/api/v1/push?x=1", content=body)

    assert (answer.status_code, answer.content) == (204, b"")
    assert account(service) == {"loki": (3, 0, 0, 0)}


def test_the_time_of_an_entry_counts_where_its_line_has_none(service: Running) -> None:
    """Otherwise the line's does, and one that is no time costs nothing: then it is the arrival."""
    values = [[f"{AT_S}000000007", UNTIMED], ["1", TEXT], ["NaN", UNTIMED]]

    assert push(service, values, params={"server": "maps", "source": "s"}).status_code == 204
    assert [time[:19] for time in times(service)] == [AT, AT, NOW[:19]]
    assert {row["server"] for row in service.rows("events")} == {"maps"}


def test_a_bad_entry_or_stream_costs_only_itself(service: Running) -> None:
    """Each is one rejected record."""
    streams = [{"values": [["1", TEXT], [], 5, ["1", 7], ["1"]]}, {"stream": {}}, 7]
    answer = service.client.post("/loki/api/v1/push", json={"streams": streams})

    assert answer.status_code == 204
    assert account(service) == {"loki": (1, 0, 0, 6)}


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"streams":[', b"\x01\x02plainly not", b"x"])
def test_what_is_no_push_is_400_in_text(service: Running, body: bytes) -> None:
    """An empty body is a protobuf message without streams; the others are none."""
    answer = service.client.post("/loki/api/v1/push", content=body)

    assert answer.status_code == (400 if body else 204)
    assert account(service) == {} or not body
    if body:
        assert answer.headers["content-type"].startswith("text/plain")


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 128 * 128
    low, high = len(value) & 127, len(value) >> 7
    return bytes([number << 3 | 2, low | 128 if high else low, *([high] if high else [])]) + value


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/x-protobuf"},
                                     {"Content-Encoding": "snappy"}])  # fmt: skip
def test_protobuf_is_read_with_snappy_and_without(
    service: Running, headers: dict[str, str]
) -> None:
    """Fields that are not needed are passed over, of any kind."""
    stamp = b"\x08" + bytes([AT_S & 127 | 128, AT_S >> 7 & 127 | 128, AT_S >> 14 & 127 | 128,
                             AT_S >> 21 & 127 | 128, AT_S >> 28]) + b"\x10\x05"  # fmt: skip
    entry = field(1, stamp) + field(2, UNTIMED.encode()) + field(3, b"\x0a\x00") + b"\x2d1234"
    message = (
        field(1, field(1, b'{level="x"}') + field(2, entry) + b"\x18\x2a") + b"\x191234567\x00"
    )
    packed = bytes(cramjam.snappy.compress_raw(message))
    for body in (packed, packed if "Content-Encoding" in headers else message):
        answer = service.client.post("/loki/api/v1/push", content=body, headers=headers)
        assert answer.status_code == 204, answer.text

    assert account(service) == {"loki": (1, 1, 0, 0)}
    assert times(service)[0].startswith(AT)


def test_loki_is_ready(service: Running) -> None:
    """Shippers ask before they begin."""
    answer = service.get("/ready")
    assert (answer.status_code, answer.text.strip()) == (200, "ready")


# ----------------------------------------------------------------------------- Splunk

EVENT_PATHS = ["", "/event", "/event/1.0"]


@pytest.mark.parametrize("path", EVENT_PATHS)
def test_events_follow_each_other_without_separators(service: Running, path: str) -> None:
    """Case 25: times as text or number, events as text, object or with Docker's line in them."""
    body = (DATA / "25-hec-concatenated.json").read_bytes()
    answer = service.client.post(f"/services/collector{path}?channel=c", content=body)

    assert (answer.status_code, answer.json()) == (200, {"text": "Success", "code": 0})
    assert account(service) == {"splunk": (3, 0, 0, 0)}


def test_the_time_of_an_event_counts_where_its_record_has_none(service: Running) -> None:
    """Seconds, as a number or as text; a bad event is one rejected record."""
    untimed = json.loads(UNTIMED)
    sent: list[Any] = [
        {"time": f"{AT_S}.5", "event": untimed},
        {"time": AT_S, "event": UNTIMED},
        {"event": None},
        {"fields": {}},
        {"time": "now", "event": LINE},
    ]
    body = "".join(map(json.dumps, sent)) + '{"event": oops}'
    assert service.client.post("/services/collector", content=body).status_code == 200

    assert account(service) == {"splunk": (3, 0, 0, 3)}
    reasons = [(row["reason"], row["excerpt"]) for row in service.rows("rejects")]
    assert sorted(reasons) == [
        ("invalid_json", '{"event": oops}'),
        ("not_an_object", '{"event": null}'),
        ("not_an_object", '{"fields": {}}'),
    ]
    assert [time[:21] for time in times(service)] == [f"{AT}.0", f"{AT}.1", f"{AT}.5"]


_EVENT = json.dumps({"event": LINE})


@pytest.mark.parametrize(
    ("body", "text", "code", "number"),
    [
        (TEXT, "Event field is required", 12, 0),
        ('{"event":null}{"time":1}', "Event field is required", 12, 0),
        ('{"event": oops}', "Invalid data format", 6, 0),
        (_EVENT + _EVENT[:-9], "Invalid data format", 6, 1),
    ],
)
def test_what_is_no_event_is_refused_as_splunk_does(
    service: Running, body: str, text: str, code: int, number: int
) -> None:
    """Where nothing in the body is one, or it is cut; nothing is stored."""
    answer = service.client.post("/services/collector", content=body)

    assert answer.status_code == 400
    assert answer.json() == {"text": text, "code": code, "invalid-event-number": number}
    assert account(service) == {}


@pytest.mark.parametrize("path", ["/raw", "/raw/1.0"])
def test_raw_is_lines(service: Running, path: str) -> None:
    """As /ingest takes them, compressed or not."""
    body = gzip.compress(f"{TEXT}\nplain\n".encode())
    answer = service.client.post(f"/services/collector{path}", content=body)

    assert answer.json()["code"] == 0
    assert account(service) == {"splunk": (1, 0, 1, 0)}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [(b"", 400, 5), (b"plain", 400, 6), (b"[1]", 400, 6), (b" " * 100_001, 413, 27)],
)
def test_splunk_refuses_in_its_own_numbers(
    service: Running, body: bytes, status: int, code: int
) -> None:
    """Senders look at them."""
    answer = service.client.post("/services/collector", content=body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert account(service) == {}


def test_splunk_is_healthy_and_docker_may_probe(service: Running) -> None:
    """Docker's driver asks with OPTIONS before it starts a container."""
    for path in ("/health", "/health/1.0"):
        answer = service.get(f"/services/collector{path}")
        assert (answer.status_code, answer.json()["code"]) == (200, 17)
    for path in EVENT_PATHS:
        probed = service.client.options(f"/services/collector{path}")
        assert probed.status_code == 200


# ----------------------------------------------------------------------------- clouds


def subscription(*messages: str, kind: str = "DATA_MESSAGE") -> bytes:
    events = [
        {"id": f"{number:056}", "timestamp": AT_S * 1_000, "message": message}
        for number, message in enumerate(messages)
    ]
    return json.dumps(
        {"messageType": kind, "logGroup": "g", "subscriptionFilters": ["f"], "logEvents": events}
    ).encode()


def test_a_firehose_of_cloudwatch_is_told_apart_by_its_ids(service: Running) -> None:
    """Equal messages with ids of their own are two; the same delivery again is none. Control messages
    and broken records stop nobody."""
    data = [
        gzip.compress(subscription(UNTIMED, UNTIMED, "plain")),
        gzip.compress(subscription("x", kind="CONTROL_MESSAGE")),
        subscription() + subscription(),
        TEXT.encode(),
        b"\x1f\x8bbroken",
    ]
    records = [{"data": b64(each)} for each in data] + [{"data": "%%"}, {}, 7]
    body = {"requestId": "r-1", "timestamp": 1, "records": records}
    for _ in range(2):
        answer = service.client.post("/firehose", json=body)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.json() == {"requestId": "r-1", "timestamp": NOW_MS}

    assert account(service) == {"firehose": (3, 3, 2, 8)}
    assert {time[:19] for time in times(service)} == {AT}


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b'{"records":1}', 400), (b" " * 100_001, 413)]
)
def test_a_firehose_is_refused_in_the_same_shape(
    service: Running, body: bytes, status: int
) -> None:
    """Any other shape would say less."""
    answer = service.client.post(
        "/firehose", content=body, headers={"X-Amz-Firehose-Request-Id": "r-2"}
    )

    assert answer.status_code == status
    assert answer.json()["requestId"] == "r-2"
    assert answer.json()["errorMessage"]
    assert account(service) == {}


def test_messages_of_pubsub_are_told_apart_by_their_ids(service: Running) -> None:
    """Equal messages are two calls, one that is pushed again is none; its time counts where none is."""
    for named in ("1", "1", "2"):
        message = {"data": b64(UNTIMED.encode()), "messageId": named, "publishTime": f"{AT}.5Z"}
        answer = service.client.post("/pubsub", json={"message": message, "subscription": "s"})
        assert (answer.status_code, answer.content) == (204, b"")

    assert account(service) == {"pubsub": (2, 1, 0, 0)}
    assert {time[:21] for time in times(service)} == {f"{AT}.5"}


def test_a_log_entry_is_pushed_with_and_without_a_wrapper(service: Running) -> None:
    """Both ways have the id that Cloud Logging gave it, so they are one."""
    entry = {
        "insertId": "i-1", "logName": "projects/p/logs/l", "timestamp": f"{AT}.5Z",
        "resource": {"type": "global"}, "textPayload": UNTIMED,
    }  # fmt: skip
    message = {"data": b64(json.dumps(entry).encode()), "messageId": "7"}
    service.client.post("/pubsub", json={"message": message})
    service.client.post("/pubsub", json=entry)

    assert account(service) == {"pubsub": (1, 1, 0, 0)}


@pytest.mark.parametrize(
    "body", [b"[[", b'{"message":{"data":"%%","messageId":"1"}}', b"\x91", b"\xff\xfe{"]
)
def test_what_pubsub_pushes_broken_is_kept_and_not_pushed_again(
    service: Running, body: bytes
) -> None:
    """Anything but a success would bring it back for days."""
    assert service.client.post("/pubsub", content=body).status_code == 204
    assert account(service)["pubsub"][2:] in {(0, 1), (1, 0)}


# ----------------------------------------------------------------------------- syslog and journal


def test_lines_of_logplex_are_counted_by_their_length(service: Running) -> None:
    """A line break within one is a blank of its JSON."""
    head = f"<40>1 {AT}.5+00:00 host app web.3 - "
    lines = [head + UNTIMED + "\n", head + UNTIMED.replace(", ", ",\n"), head + "State changed\n"]
    body = "".join(f"{len(line)} {line}" for line in lines)
    answer = service.client.post(
        "/logplex", content=body, headers={"Content-Type": "application/logplex-1"}
    )

    assert (answer.status_code, answer.content) == (204, b"")
    assert account(service) == {"logplex": (2, 0, 1, 0)}


def entry(cursor: str, message: bytes) -> bytes:
    """A journal's entry; the message with its length in front."""
    head = f"__CURSOR={cursor}\n__REALTIME_TIMESTAMP={AT_S}000000\nPRIORITY=6\n".encode()
    return head + b"MESSAGE\n" + struct.pack("<Q", len(message)) + message + b"\n\n"


def test_entries_of_a_journal_are_told_apart_by_their_cursors(service: Running) -> None:
    """Also where a message has line breaks or bytes that are no text."""
    body = (
        entry("c1", UNTIMED.encode()) + entry("c2", UNTIMED.encode()) + entry("c3", b"a\n\nb=\xff")
    )
    for chunks in ([body], [body[at : at + 7] for at in range(0, len(body), 7)]):
        answer = service.client.post(
            "/upload",
            content=iter(chunks),
            headers={"Content-Type": "application/vnd.fdo.journal", "Expect": "100-continue"},
        )
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain")

    assert account(service) == {"journal": (2, 2, 2, 0)}
    assert {time[:19] for time in times(service)} == {AT}


def test_what_is_no_journal_is_refused(service: Running) -> None:
    """In text."""
    answer = service.client.post("/upload", content=b"Server started\n")

    assert answer.status_code == 400
    assert account(service) == {}


# ----------------------------------------------------------------------------- all of them

ALL = ["/loki/api/v1/push", "/services/collector", "/services/collector/raw", "/firehose", "/pubsub",
       "/logplex", "/upload"]  # fmt: skip


@pytest.mark.parametrize("path", ALL)
def test_a_bomb_is_refused_and_nothing_is_stored(service: Running, path: str) -> None:
    """It is no larger than it may be, until it is inflated."""
    answer = service.client.post(path, content=gzip.compress(bytes(100_001)))

    assert answer.status_code == 413
    assert account(service) == {}
