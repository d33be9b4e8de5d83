"""
OpenTelemetry as JSON lines: what the Collector's file exporter writes, where a line holds one record, and
records and spans that stand alone.

Attributes are pairs there, and values say their type; inside they are as the OTLP receiver has them.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from service.ingest.envelopes.otlp_text import line_in
from service.ingest.envelopes.shape import Peeled

_NAME: Final = "OTLP"
_LISTS: Final = (
    ("resourceLogs", "scopeLogs", "logRecords"),
    ("resourceSpans", "scopeSpans", "spans"),
)
_LOG: Final = {
    "timeUnixNano", "observedTimeUnixNano", "severityNumber", "severityText", "body", "attributes",
    "droppedAttributesCount", "flags", "traceId", "spanId", "eventName",
}  # fmt: skip
_SPAN: Final = {
    "traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano",
    "endTimeUnixNano", "attributes", "droppedAttributesCount", "events", "droppedEventsCount",
    "links", "droppedLinksCount", "status",
}  # fmt: skip
_CLIENT: Final = "SPAN_KIND_CLIENT"
_CLIENTS: Final = (3, _CLIENT)
_FROM_RESOURCE: Final = {"hostname": "host.name", "pid": "process.pid"}
_DEEPEST: Final = 32
_WHOLE: Final = re.compile(r"-?\d{1,20}", re.ASCII)


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the one record of a batch, or what a record or a span holds."""
    resource: dict[str, Any] = {}
    if (found := _records(record)) is not None:
        first = [*islice(found, 2)]
        if len(first) != 1:
            return None
        ((outer, record),) = first
        resource = _map(_object(outer.get("resource")).get("attributes"))
    if "startTimeUnixNano" in record and _SPAN.issuperset(record):
        attributes = _with(_map(record.get("attributes")), resource)
        span = {
            "name": record.get("name"),
            "kind": _CLIENT if record.get("kind") in _CLIENTS else None,
            "status": record.get("status"),
            "attributes": attributes,
        }
        return Peeled(_NAME, span, record["startTimeUnixNano"])
    times = [record.get(key) for key in ("timeUnixNano", "observedTimeUnixNano")]
    time = next((time for time in times if time not in (None, 0, "0")), None)
    return _log(record, resource, time) if time is not None and _LOG.issuperset(record) else None


def how_many(record: dict[str, Any]) -> int:
    """Return how many records or spans a batch holds; 0 for what is no batch."""
    return sum(1 for _ in _records(record) or ()) if len(record) == 1 else 0


def _records(batch: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]] | None:
    """The (part, record) of a batch, the part with the resource; None where it is none."""
    for resources, scopes, records in _LISTS:
        if batch.keys() == {resources}:
            return (
                (outer, _object(record))
                for outer in map(_object, _list(batch[resources]))
                for inner in map(_object, _list(outer.get(scopes)))
                for record in _list(inner.get(records))
            )
    return None


def _log(record: dict[str, Any], resource: dict[str, Any], time: object) -> Peeled | None:
    body = _value(record.get("body"))
    if isinstance(body, dict):
        return Peeled(_NAME, body, time)
    said = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    attributes = _map(record.get("attributes"))
    if (line := line_in(said, attributes)) is not None:
        return Peeled(_NAME, line, time)
    if said.strip() or isinstance(record.get("eventName"), str):
        attributes["msg"] = said.strip() or record["eventName"]
    return Peeled(_NAME, _with(attributes, resource), time)


def _with(attributes: dict[str, Any], resource: dict[str, Any]) -> dict[str, Any]:
    for name, place in _FROM_RESOURCE.items():
        if place in resource:
            attributes.setdefault(name, resource[place])
    return attributes


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _map(pairs: object, level: int = 0) -> dict[str, Any]:
    found = {}
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            found[pair["key"]] = _value(pair.get("value"), level)
    return found


def _value(value: object, level: int = 0) -> object:
    """What an AnyValue holds; None where it is none, or lies too deep."""
    if not isinstance(value, dict) or len(value) != 1 or level > _DEEPEST:
        return None
    ((kind, inner),) = value.items()
    if kind == "kvlistValue":
        return _map(_object(inner).get("values"), level + 1)
    if kind == "arrayValue":
        values = _object(inner).get("values")
        return [_value(each, level + 1) for each in values] if isinstance(values, list) else []
    if kind == "intValue" and isinstance(inner, str):
        return int(inner) if _WHOLE.fullmatch(inner) else None
    return inner if kind.endswith("Value") and not isinstance(inner, dict | list) else None
