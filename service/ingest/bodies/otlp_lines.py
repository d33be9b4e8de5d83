"""
Files of OpenTelemetry's JSON, of which a line holds a whole batch, as lines that hold one record each.

What a wrapper takes off (`envelopes.otlp`) is one record, so that a line stays one event.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import orjson

from service.ingest.jsontext import loads
from service.ingest.lines import BLANK

_BEGINS: Final = (b'{"resourceLogs":', b'{"resourceSpans":')
_LISTS: Final = {
    "resourceLogs": ("scopeLogs", "logRecords"),
    "resourceSpans": ("scopeSpans", "spans"),
}
_WANTED: Final = ("host.name", "process.pid")
"""What is read of a resource: the rest is not written into every line."""
_LONGEST: Final = 300


def is_export(head: bytes) -> bool:
    """Say whether a file that begins with *head* is one of exports as JSON lines."""
    return head.lstrip(BLANK).startswith(_BEGINS)


def single(chunks: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """
    Yield the text with a line for each record, in order; what is no export stays as it is.

    A line longer than *longest* bytes stays too: it would have to be held whole.
    """
    held: list[bytes] = []
    size = 0
    passed = False
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            held.append(part)
            line = b"".join(held)
            yield from (line,) if passed else _lines(line)
            yield b"\n"
            held, size, passed = [], 0, False
        held.append(rest)
        size += len(rest)
        if size > longest:
            yield b"".join(held)
            held, size, passed = [], 0, True
    line = b"".join(held)
    yield from (line,) if passed else _lines(line)


def _lines(line: bytes) -> Iterator[bytes]:
    """A line, or the lines that stand for it, with a newline between two of them."""
    records = _records(line) if line.lstrip(BLANK).startswith(_BEGINS) else None
    if records is None:
        yield line
        return
    for number, record in enumerate(records):
        yield b"\n" if number else b""
        yield _text_of(record)


def _records(line: bytes) -> list[dict[str, Any]] | None:
    """The records of an export, each as an export of its own; None where it has none."""
    try:
        export = loads(line)
    except ValueError:
        return None
    if not isinstance(export, dict) or len(export) != 1:
        return None
    ((resources, outer),) = export.items()
    scopes, records = _LISTS[resources]
    found = []
    for each in _objects(outer):
        resource = {"attributes": _wanted(each.get("resource"))}
        for scope in _objects(each.get(scopes)):
            for record in _objects(scope.get(records)):
                inner = {"resource": resource, scopes: [{records: [record]}]}
                found.append({resources: [inner]})
    return found or None


def _text_of(record: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(record)
    except TypeError:  # half a surrogate pair, which is no UTF-8
        return json.dumps(record).encode()


def _objects(items: object) -> Iterator[dict[str, Any]]:
    return (
        (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
    )


def _wanted(resource: object) -> list[dict[str, Any]]:
    pairs = resource.get("attributes") if isinstance(resource, dict) else None
    return [
        pair
        for pair in _objects(pairs)
        if pair.get("key") in _WANTED and len(str(pair.get("value"))) <= _LONGEST
    ]
