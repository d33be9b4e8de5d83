"""
Files of OpenTelemetry's JSON, of which a line holds a whole batch, as lines that hold one record each.

What a wrapper takes off (`envelopes.otlp`) is one record, so that a line stays one event.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import orjson

from service.errors import BodyTooLarge
from service.ingest.bodies import jsoncut
from service.ingest.bodies.bounds import MOST
from service.ingest.jsontext import deeper_than, loads
from service.ingest.lines import BLANK

_BEGINS: Final = (b'{"resourceLogs":', b'{"resourceSpans":')
_NEXT: Final = re.compile(rb'\n(?=\{"(?:resourceLogs|resourceSpans)":)')
_LISTS: Final = {
    "resourceLogs": ("scopeLogs", "logRecords"),
    "resourceSpans": ("scopeSpans", "spans"),
}
_WANTED: Final = ("host.name", "process.pid")
"""What is read of a resource: the rest is not written into every line."""
_LONGEST: Final = 400
_MARKS: Final = (b"{", b"[", b",")
_FEW_VALUES: Final = 300_000
"""What has no more objects than this takes little memory when it is parsed."""


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


def of_body(body: bytes) -> Iterator[bytes]:
    """
    Yield a body that begins with an export as `single` does; an export of very many values, or in which
    anything is odd, stays as it is, since a body may be anybody's.

    Raises:
        BodyTooLarge: Its exports hold more than `MOST` records.
    """
    at, left = 0, MOST
    while at < len(body):
        end = body.find(b"\n", at)
        line = body[at:] if end < 0 else body[at:end]
        few = sum(map(line.count, _MARKS)) <= _FEW_VALUES
        found = _parsed(line, left + 1) if few else []
        left -= len(found)
        if left < 0:
            raise BodyTooLarge(f"more than {MOST} records; send fewer at a time")
        yield b"\n".join(found) or line
        following = _NEXT.search(body, at + len(line))
        stop = following.start() + 1 if following else len(body)
        yield body[at + len(line) : stop]
        at = stop


def _lines(line: bytes) -> Iterator[bytes]:
    """A line, or the lines that stand for it, with a newline between two of them."""
    number = -1
    if is_export(line):
        for number, record in enumerate(_parsed(line) or _cut(line)):
            yield b"\n" if number else b""
            yield record
    if number < 0:
        yield line


def _parsed(line: bytes, most: int | None = None) -> list[bytes]:
    """
    The records of an export, at most so many, each as an export of its own; none where it is large, or anything in it is
    broken, too deep or no text.
    """
    if line.count(b"{") > _FEW_VALUES:
        return []
    try:
        export = orjson.loads(line)
        ((name, resources),) = export.items()
        scopes, records = _LISTS[name]
        single = (
            orjson.dumps({name: [{"resource": said, scopes: [{records: [record]}]}]})
            for each in _objects(resources)
            for said in [{"attributes": _wanted_of(each.get("resource"))}]
            for scope in _objects(each.get(scopes))
            for record in _list(scope.get(records))
        )
        return [*islice(single, most)]
    except (ValueError, TypeError):
        return []


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(items: object) -> Iterator[dict[str, Any]]:
    return (item for item in _list(items) if isinstance(item, dict))


def _wanted_of(resource: object) -> list[object]:
    pairs = resource.get("attributes") if isinstance(resource, dict) else None
    return [*{pair["key"]: pair for pair in _list(pairs) if _is_wanted(pair)}.values()]


def _is_wanted(pair: object) -> bool:
    return (
        isinstance(pair, dict)
        and pair.get("key") in _WANTED
        and len(str(pair.get("value"))) <= _LONGEST
        and not deeper_than(pair, 2)
    )


# ----------------------------------------------------------------------------- cutting


def _cut(line: bytes) -> Iterator[bytes]:
    """
    As `_parsed`, each record as it stands there, which takes longer and no memory: what is wrong with one
    costs it alone. None where the export is cut, or has something else beside.
    """
    at = jsoncut.after_blank(line, 0)
    end = jsoncut.end_of(line, at)
    if end is None or jsoncut.after_blank(line, end) < len(line):
        return
    if [name for name, _, _ in islice(jsoncut.members(line, at + 1), 2)][1:]:
        return
    for name, (scopes, records) in _LISTS.items():
        for resource in _elements(line, at, name):
            said = _wanted(line, resource)
            begin = f'{{"{name}":[{{"resource":{{"attributes":['.encode() + said
            begin += f']}},"{scopes}":[{{"{records}":['.encode()
            for scope in _elements(line, resource.start, scopes):
                for record in _elements(line, scope.start, records):
                    yield begin + line[record] + b"]}]}]}"


def _elements(line: bytes, at: int, name: str) -> Iterator[slice]:
    """The elements of the list of this name in the object at *at*; nothing where there is none."""
    for key, start, _ in jsoncut.members(line, at + 1) if line[at] == 0x7B else ():
        if key == name and line[start] == 0x5B:
            yield from (slice(*span) for span in jsoncut.elements(line, start + 1))


def _wanted(line: bytes, each: slice) -> bytes:
    """The attributes of a resource that are read, as they stand there."""
    if line[each.start] != 0x7B:
        return b""
    places = [at for key, at, _ in jsoncut.members(line, each.start + 1) if key == "resource"]
    pairs = (line[pair] for at in places for pair in _elements(line, at, "attributes"))
    short = (pair for pair in pairs if len(pair) <= 2 * _LONGEST)
    return b",".join({name: pair for pair in short if (name := _named(pair))}.values())


def _named(pair: bytes) -> str | None:
    """The key of an attribute that is read; None for any other."""
    try:
        read = loads(pair)
    except ValueError:
        return None
    return str(read["key"]) if isinstance(read, dict) and _is_wanted(read) else None
