"""
The recordings of real log clients, and what must be stored of each.

One folder a client, one folder a run (see README.md): the requests in their order, and what each of them
was answered when it was recorded.
"""

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent

CALLS: Final = {
    "curl/data-strips-newlines": 3,
    "curl/multipart-form": 3,
    "curl/ndjson-binary": 3,
    "curl/ndjson-gzip": 3,
    "curl/stdin-chunked": 3,
    "curl/upload-T-put": 3,
    "journal-upload/400": 2,
    "journal-upload/503": 2,
    "journal-upload/ok": 2,
    "js-axiom-pino/503_then_200": 2,
    "js-axiom-pino/response_lost": 2,
    "js-elasticsearch/bulk-400": 3,
    "js-elasticsearch/bulk-503_then_200": 3,
    "js-elasticsearch/bulk-gzip-503_then_200": 3,
    "js-elasticsearch/bulk-ok": 3,
    "js-elasticsearch/no-product-header": 3,
    "js-logtail-pino/503_then_200": 2,
    "js-splunk-logging/503_then_200": 3,
    "js-splunk-logging/response_lost": 3,
    "js-winston-elasticsearch/ok": 2,
    "js-winston-loki/json-503_then_200": 2,
    "js-winston-loki/proto-400": 2,
    "js-winston-loki/proto-ok": 2,
    "js-winston-splunk/503_then_200": 2,
    "pino-elasticsearch/400": 3,
    "pino-elasticsearch/503_then_200": 3,
    "pino-elasticsearch/ok": 3,
    "pino-elasticsearch/response_lost": 3,
    "pino-http-send/json-400": 3,
    "pino-http-send/json-503_then_200": 3,
    "pino-http-send/json-ok": 3,
    "pino-http-send/ndjson-400": 3,
    "pino-http-send/ndjson-422": 3,
    "pino-http-send/ndjson-503_then_200": 3,
    "pino-http-send/ndjson-ok": 3,
    "pino-loki/400": 2,
    "pino-loki/503_then_200": 2,
    "pino-loki/convertArrays_meta": 1,
    "pino-loki/epoch_default": 2,
    "pino-loki/ok": 2,
    "pino-loki/product_format": 2,
    "pino-loki/response_lost": 2,
    "pino-otel/400": 2,
    "pino-otel/http-json-ok": 2,
    "pino-otel/http-protobuf-ok": 2,
    "pino-otel/response_lost": 2,
    "py-elasticsearch/400": 3,
    "py-elasticsearch/bulk-ok": 3,
    "py-elasticsearch/gzip-id-503_then_200": 3,
    "py-elasticsearch/no-product-header": 3,
    "py-elasticsearch/response_lost": 3,
    "py-logstash-async-http/503_then_200": 3,
    "py-loki-logger-handler/gzip-ok": 3,
    "py-otlp/400": 4,
    "py-otlp/proto-ok": 4,
    "py-otlp/response_lost": 4,
    "py-python-logging-loki/503_then_200": 2,
    "py-python-logging-loki/ok": 2,
    "py-splunk-handler/400": 3,
    "py-splunk-handler/503_then_200": 3,
    "py-splunk-hec-handler/ok": 2,
    "rsyslog/omelasticsearch-bulk-400": 3,
    "rsyslog/omelasticsearch-bulk-503_then_200": 3,
    "rsyslog/omelasticsearch-bulk-ok": 3,
    "rsyslog/omelasticsearch-response_lost": 3,
    "rsyslog/omelasticsearch-single": 2,
    "rsyslog/omhttp-jsonarray-ok": 3,
    "rsyslog/omhttp-lokirest-ok": 3,
    "rsyslog/omhttp-newline-400": 6,
    "rsyslog/omhttp-newline-503_then_200": 3,
    "rsyslog/omhttp-newline-gzip-503_then_200": 3,
    "rsyslog/omhttp-newline-ok": 3,
    "rsyslog/omhttp-single-ok": 2,
    "syslog-ng/elasticsearch-http": 3,
    "syslog-ng/http-400": 3,
    "syslog-ng/http-401": 3,
    "syslog-ng/http-413": 3,
    "syslog-ng/http-422": 3,
    "syslog-ng/http-429": 3,
    "syslog-ng/http-503_rebatch_with_new_lines": 3,
    "syslog-ng/http-503_then_200": 3,
    "syslog-ng/http-default-text": 2,
    "syslog-ng/http-ndjson-ok": 3,
    "syslog-ng/http-response_lost": 3,
}
"""By run: the stale calls that are stored when every request of it was stored, however often it came.
Counted by hand: 3 are in the sample, 2 what clients that were given no file were told to log. What is
above or below is in `ONE_LINE` or `GROWING`."""

STREAMS: Final = {
    "fluent-logger-py/forward-tcp": 0,
    "pino-socket/tcp": 3,
    "syslog/logger-rfc3164-udp": 1,
    "syslog/logger-rfc5424-tcp-octet": 1,
    "syslog/logger-rfc5424-udp": 1,
    "syslog/rsyslog-tcp-lf": 3,
    "syslog/rsyslog-tcp-octet": 3,
    "syslog/rsyslog-udp-3164": 3,
}
"""By file: the stale calls that `lastcall ingest -` stores of the bytes of a connection."""

ONE_LINE: Final = {
    "pino-loki/convertArrays_meta": 1,
    "py-python-logging-loki/503_then_200": 1,
    "py-python-logging-loki/ok": 1,
    "py-splunk-hec-handler/ok": 4,
    "rsyslog/omelasticsearch-single": 1,
    "rsyslog/omhttp-single-ok": 1,
    "syslog-ng/http-default-text": 1,
}
"""Runs that sent equal lines in requests of one line each, by how many are suppressed: such lines count
once. (One of them was given everything twice, in two shapes.)"""

GROWING: Final = frozenset({"rsyslog/omhttp-newline-400"})
"""Runs in which the client itself repeated lines within one body: they count as often as they stand in
the last. It does so only when it is refused, which here no line can cause."""

UNREAD: Final = frozenset({"py-loki-logger-handler"})
"""Clients that put a whole line into the message of a record with a time and a level of a logger: what
stands in such a message is a user's text, and no call."""

_BASE: Final = {"js-logtail-pino": "/ingest", "py-logstash-async-http": "/ingest"}
"""Clients that were given an address without a path, by the one to give them."""


@dataclass(frozen=True)
class Request:
    """One recorded request."""

    method: str
    target: str
    """Path and query."""
    headers: dict[str, str]
    """By lower-case name, without those of the connection."""
    body: bytes
    status: str
    """What it was answered: a number, or `lost` where the connection was closed in its place."""

    @property
    def plain(self) -> bytes:
        """The body before compression."""
        return gzip.decompress(self.body) if self.body.startswith(b"\x1f\x8b") else self.body


def requests(run: str) -> list[Request]:
    """Return the requests of a run in their order."""
    folder = FOLDER / run
    base = _BASE.get(folder.parent.name)
    statuses = re.findall(r"-> (\d+|connection dropped)", (folder / "log.txt").read_text())
    paths = sorted(folder.glob("*.req"))
    return [_request(p.read_bytes(), base, s) for p, s in zip(paths, statuses, strict=True)]


def _request(recorded: bytes, base: str | None, status: str) -> Request:
    head, _, body = recorded.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    for name in ("connection", "transfer-encoding", "content-length", "expect"):
        headers.pop(name, None)
    status = "lost" if status == "connection dropped" else status
    return Request(method, base or target, headers, body, status)


def reaction(run: str) -> tuple[str, str] | None:
    """
    Return what the client met, and what it did then, from the recording alone: a status or `lost`, and
    a few words. None where all went well.
    """
    sent = [each for each in requests(run) if each.body]
    at = next((n for n, each in enumerate(sent) if not each.status.startswith("2")), None)
    if at is None:
        return None
    first, later = sent[at], sent[at + 1 :]
    return first.status, _done(first, later)


def _done(first: Request, later: list[Request]) -> str:
    """What became of the first request that was not answered well, given those after it."""
    again = [each for each in later if each.plain == first.plain]
    if again:
        anew = any(each.body != first.body for each in again)
        often = " and again" if len(again) > 1 else ""
        return f"sent again{often}" + (", compressed anew" if anew else "")
    lines = set(first.plain.splitlines())
    if not any(lines & set(each.plain.splitlines()) for each in later):
        return "not sent again"
    longer = all(len(each.plain) > len(first.plain) for each in later)
    return "sent again with newer lines" if longer else "sent again in smaller parts"


def table() -> list[list[str]]:
    """A row for each client and endpoint: both, what the client did after a 503, another refusal and a
    lost answer, and what is stored."""
    rows: dict[tuple[str, str], list[str]] = {}
    for run in sorted(CALLS):
        first = next(each for each in requests(run) if each.body)
        path = first.target.partition("?")[0]
        rows.setdefault((run.partition("/")[0], f"{first.method} {path}"), []).append(run)
    return [_row(client, endpoint, runs) for (client, endpoint), runs in rows.items()]


def _row(client: str, endpoint: str, runs: list[str]) -> list[str]:
    seen: dict[str, dict[str, list[str]]] = {"503": {}, "4xx": {}, "lost": {}}
    for found in filter(None, map(reaction, runs)):
        status, done = found
        cause = "4xx" if status.startswith("4") else status
        seen[cause].setdefault(done, []).append(status)
    reactions = [
        "; ".join(
            (f"{', '.join(sorted(set(statuses)))}: " if cause == "4xx" else "") + done
            for done, statuses in sorted(dones.items())
        )
        for cause, dones in seen.items()
    ]
    stored = dict.fromkeys(_stored(run) for run in runs)
    return [client, f"`{endpoint}`", *(each or "–" for each in reactions), "; ".join(stored)]


def _stored(run: str) -> str:
    if run in ONE_LINE:
        return "one line a request: equal calls once, the others shown as suppressed"
    client = run.partition("/")[0]
    if client in UNREAD:
        return "nothing: JSON in the message of a logger's own record is a text"
    if run in GROWING:
        return "lines repeated within a body after a 400: as often as the last body has them"
    return "every call once"
