"""What receivers may answer to a request whose body is broken, by their protocols."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

FATES: Final = ("accepted", "duplicates", "ignored", "rejected")


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def strange(path: str, answer: Answer) -> str | None:
    """What is wrong with an answer of a receiver at *path*; None where nothing is."""
    for beginning, (statuses, look) in _RULES.items():
        if path.startswith(beginning):
            if answer.status not in statuses:
                return f"{answer.status} at {path}"
            try:
                look(answer)
            except Exception as error:  # noqa: BLE001 - whatever does not fit is what is looked for
                return f"{path}: {error!r} in {answer.status} {answer.body[:300]!r}"
            return None
    return f"no receiver at {path}"


def _receipt(answer: Answer) -> None:
    said = json.loads(answer.body)
    if answer.status != 200:
        _problem(answer, said)
        return
    assert said["received"] == sum(said[fate] for fate in FATES)
    assert said["rejected"] == sum(said["reasons"].values())
    assert len(said["positions"]) == min(said["rejected"], 100)


def _problem(answer: Answer, said: dict[str, Any]) -> None:
    assert answer.headers["content-type"] == "application/problem+json"
    assert said["status"] == answer.status
    assert said["detail"]


def _axiom(answer: Answer) -> None:
    said = json.loads(answer.body)
    if answer.status == 200:
        assert said["ingested"] >= 0
        assert said["failed"] >= 0
    else:
        _problem(answer, said)


def _empty_or_text(answer: Answer) -> None:
    if answer.status == 204:
        assert answer.body == b""
    else:
        assert answer.body.decode().strip()


def _otlp(answer: Answer) -> None:
    kind, body = answer.headers["content-type"], answer.body
    if kind == "application/json":
        said = json.loads(body)
        if answer.status != 200:
            assert said["code"] > 0
            assert said["message"]
        elif said:
            assert said["partialSuccess"]["errorMessage"]
        return
    assert kind == "application/x-protobuf"
    if answer.status != 200:
        assert Status.FromString(body).message
    elif body:
        assert ExportLogsServiceResponse.FromString(body).partial_success.error_message


def _bulk(answer: Answer) -> None:
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    said = json.loads(answer.body)
    if answer.status != 200:
        _refused(answer, said)
        return
    outcomes = [outcome for item in said["items"] for outcome in item.values()]
    assert outcomes
    assert len(outcomes) == len(said["items"])
    assert {outcome["status"] for outcome in outcomes} <= {200, 201, 400, 404}
    assert said["errors"] == any("error" in outcome for outcome in outcomes)


def _document(answer: Answer) -> None:
    assert answer.headers["x-elastic-product"] == "Elasticsearch"
    said = json.loads(answer.body)
    if answer.status >= 400:
        _refused(answer, said)
    else:
        assert said["_id"]


def _refused(answer: Answer, said: dict[str, Any]) -> None:
    assert said["status"] == answer.status
    assert said["error"]["reason"]


def _splunk(answer: Answer) -> None:
    said = json.loads(answer.body)
    assert (said["code"] == 0) == (answer.status == 200)
    assert said["text"]


def _firehose(answer: Answer) -> None:
    said = json.loads(answer.body)
    assert isinstance(said["requestId"], str)
    assert isinstance(said["timestamp"], int)
    assert ("errorMessage" in said) == (answer.status != 200)


_RULES: Final[dict[str, tuple[set[int], Callable[[Answer], None]]]] = {
    "/ingest": ({200, 413, 422}, _receipt),
    "/v1/datasets/": ({200, 413, 422}, _axiom),
    "/v1/logs": ({200, 400, 413}, _otlp),
    "/loki/": ({204, 400, 413}, _empty_or_text),
    "/logplex": ({204, 400, 413}, _empty_or_text),
    "/pubsub": ({204, 400, 413}, _empty_or_text),
    "/upload": ({200, 400, 413}, _empty_or_text),
    "/_bulk": ({200, 400, 413}, _bulk),
    "/mcp/events": ({201, 400, 413}, _document),
    "/services/collector": ({200, 400, 413}, _splunk),
    "/firehose": ({200, 400, 413}, _firehose),
}
