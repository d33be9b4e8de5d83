"""
Requests as shippers that cannot be run here send them, by their documentation: what is stored of each.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.settings import Settings
from tests.acceptance.service import Running, running

NOW = "2026-10-06T00:00:00Z"
AT = "2026-10-05T10:15:02.114Z"
LINES = [
    json.dumps(
        {
            "level": "info",
            "time": AT,
            "data": {"tool": tool, "client": "zed"},
            "msg": "Retired tool called",
        }
    )
    for tool in ("first", "second")
]


@dataclass(frozen=True)
class Form:
    """How a shipper sends lines: to which path below the server's name, and in which body."""

    path: str
    body: Callable[[list[str]], bytes]
    content_type: str
    zipped: bool = True


def ndjson(*values: object) -> bytes:
    """One value a line."""
    return "".join(json.dumps(each) + "\n" for each in values).encode()


def _text(lines: list[str]) -> bytes:
    return "\n".join(lines).encode() + b"\n"


def _fluent_bit(lines: list[str]) -> bytes:
    """`json_lines`: the time under `date`, the line of `tail` under `log`."""
    return ndjson(*({"date": 1791195302.114, "log": line} for line in lines))


def _kubernetes(lines: list[str]) -> bytes:
    """The same, of a container's log."""
    return _fluent_bit([f"{AT[:-1]}000000Z stderr F {line}" for line in lines])


def _filebeat(lines: list[str]) -> bytes:
    """`_bulk`: the line under `message`, with what Filebeat knows of it."""
    agent = {"ephemeral_id": "e", "id": "i", "name": "h", "type": "filebeat", "version": "8.15.0"}
    parts: list[object] = []
    for number, line in enumerate(lines):
        parts.append({"create": {"_index": "filebeat-8.15.0"}})
        log = {"offset": 200 * number, "file": {"path": "/var/log/mcp/server.log"}}
        seen = {"@timestamp": "2026-10-05T10:15:04.000Z", "message": line, "log": log}
        parts.append(
            {**seen, "input": {"type": "filestream"}, "agent": agent, "ecs": {"version": "8.0.0"}}
        )
    return ndjson(*parts)


FORMATS = {
    "vector": Form("ingest", _text, "text/plain"),
    "fluent-bit": Form("ingest", _fluent_bit, "application/x-ndjson"),
    "fluentd": Form("ingest", _text, "application/x-ndjson", zipped=False),
    "kubernetes": Form("ingest", _kubernetes, "application/x-ndjson"),
    "filebeat": Form("_bulk", _filebeat, "application/json; charset=UTF-8"),
}
"""By the key of an example."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(Settings(database_url=f"sqlite:///{tmp_path / 'events.db'}"), now=NOW) as served:
        yield served


@pytest.mark.parametrize("key", FORMATS)
def test_what_a_shipper_sends_by_its_documentation_is_stored_once(
    key: str, service: Running
) -> None:
    """Each line is a call at its own time, and the same request again is a duplicate."""
    form = FORMATS[key]
    body = form.body(LINES)
    headers = {"Content-Type": form.content_type}
    headers |= {"Content-Encoding": "gzip"} if form.zipped else {}
    for _ in range(2):
        sent = gzip.compress(body) if form.zipped else body
        answer = service.client.post(f"/to/maps/{form.path}", content=sent, headers=headers)
        assert answer.is_success, answer.text

    found = service.rows("events")
    assert sorted((row["server"], row["name"], row["time"]) for row in found) == [
        ("maps", "first", AT),
        ("maps", "second", AT),
    ]
    (account,) = service.rows("health")
    assert (account["accepted"], account["duplicates"], account["received"]) == (2, 2, 4)
