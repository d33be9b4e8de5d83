"""Broken log lines: samples of every profile, changed in their bytes or in their structure."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

DATA = Path(__file__).parents[1] / "ingest" / "data"
LONG: Final = 1 << 20
_TEXTS: Final = [
    "",
    "\0",
    "\ud800",
    "\udfff\ud800",
    "\ufeff",
    "\u202e",
    "é" * 300,
    "a" * 5_000,
    "\x1b[31m",
    "\r\n",
    "Retired tool called",
    "tools/call",
    "Tool x not found",
    "2026-10-05T10:15:02.114Z",
    "9999-12-31T23:59:60Z",
    "0000-00-00",
    "NaN",
]
_NUMBERS: Final = [0, -0.0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**40, 10**400]
_NUMBERS_TOO: Final = [1e308, 5e-324, 1791195302.114, 1791195302114, float("nan"), float("inf")]
_OTHERS: Final[list[Any]] = [
    None,
    True,
    False,
    [],
    {},
    [[]],
    {"": {}},
    [None],
    {"a": [1, {"b": 2}]},
]
VALUES: Final[list[Any]] = [*_TEXTS, *_NUMBERS, *_NUMBERS_TOO, *_OTHERS]
_PIECES: Final = [
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\r",
    b"\r\n",
    b"\n",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\\u0000",
    b"\\",
    b'"',
    b"{",
    b"}",
    b"[" * 200,
    b'{"a":' * 200,
    b",",
    b":",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"9" * 5_000,
    b"\x1b[0m",
    b"\x80\x81",
    b" " * 100,
    b"\t",
    b"\x0b\x0c\x85",
    "\u2028".encode(),
]


def samples() -> list[bytes]:
    """Lines that the profiles recognise, and those of the cases that are hard to read."""
    paths = sorted((DATA / "profiles").glob("*.ndjson")) + sorted((DATA / "cases").iterdir())
    lines = [line for path in paths for line in path.read_bytes().splitlines() if line.strip()]
    return [line for line in lines if len(line) < 4_000]


def first_seed() -> int:
    """Where a search begins: at 1, or at what `LASTCALL_TEST_SEED` says, to see a fault once more."""
    return int(os.environ.get("LASTCALL_TEST_SEED", "1"))


class Mutants:
    """An endless supply of broken texts; the same seed gives the same ones."""

    def __init__(self, seed: int, originals: Sequence[bytes] = ()) -> None:
        """Without *originals*, they are lines: the samples."""
        self._random = random.Random(seed)
        self._samples = originals or samples()

    def __iter__(self) -> Iterator[bytes]:
        """Lines without their newline, though some have one inside."""
        while True:
            yield self.changed(self._random.choice(self._samples))

    def changed(self, text: bytes) -> bytes:
        """A text after one change or several."""
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 6))):
            change = self._random.choice(self._changes())
            text = change(text)[: 2 * LONG]
        return text

    def _changes(self) -> list[Callable[[bytes], bytes]]:
        structure = [self._replace, self._replace, self._replace, self._remove, self._rename]
        structure += [self._repeat, self._wrap]
        text = [self._truncate, self._double, self._splice, self._flip, self._insert, self._insert]
        rare = [self._stretch] if self._random.random() < 0.02 else []
        return [*structure, *text, *rare]

    # ------------------------------------------------------------------ bytes

    def _cut(self, line: bytes) -> int:
        return self._random.randint(0, len(line))

    def _truncate(self, line: bytes) -> bytes:
        at = self._cut(line)
        return line[:at] if self._random.random() < 0.7 else line[at:]

    def _double(self, line: bytes) -> bytes:
        first, last = sorted((self._cut(line), self._cut(line)))
        return line[:last] + line[first:last] + line[last:]

    def _splice(self, line: bytes) -> bytes:
        other = self._random.choice(self._samples)
        return line[: self._cut(line)] + other[self._cut(other) :]

    def _flip(self, line: bytes) -> bytes:
        changed = bytearray(line)
        for _ in range(self._random.randint(1, 4)):
            if changed:
                changed[self._random.randrange(len(changed))] ^= 1 << self._random.randrange(8)
        return bytes(changed)

    def _insert(self, line: bytes) -> bytes:
        at = self._random.choice((0, len(line), self._cut(line)))
        return line[:at] + self._random.choice(_PIECES) + line[at:]

    def _stretch(self, line: bytes) -> bytes:
        at = self._cut(line)
        return (
            line[:at] + b"x" * self._random.choice((LONG - len(line), LONG, LONG + 1)) + line[at:]
        )

    # ------------------------------------------------------------------ structure

    def _parsed(self, line: bytes) -> dict[str, Any] | None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def _written(self, value: object) -> bytes:
        escaped = self._random.random() < 0.5
        try:
            text = json.dumps(value, ensure_ascii=escaped)
        except (ValueError, RecursionError):
            return b"{}"
        return text.encode(errors="surrogatepass")

    def _places(self, value: object) -> list[tuple[Any, Any]]:
        """Every (container, key) in a value."""
        found: list[tuple[Any, Any]] = []
        boxes = [value]
        while boxes:
            box = boxes.pop()
            keys: Iterable[Any] = range(len(box)) if isinstance(box, list) else ()
            keys = list(box) if isinstance(box, dict) else keys
            for key in keys:
                found.append((box, key))
                boxes.append(box[key])  # type: ignore[index]
        return found

    def _value(self) -> Any:
        return copy.deepcopy(self._random.choice(VALUES))

    def _restructured(self, line: bytes, change: Callable[[Any, Any], None]) -> bytes:
        value = self._parsed(line)
        places = self._places(value)
        if not places:
            return self._flip(line)
        change(*self._random.choice(places))
        return self._written(value)

    def _replace(self, line: bytes) -> bytes:
        def change(box: Any, key: Any) -> None:
            box[key] = self._value()

        return self._restructured(line, change)

    def _remove(self, line: bytes) -> bytes:
        def change(box: Any, key: Any) -> None:
            del box[key]

        return self._restructured(line, change)

    def _rename(self, line: bytes) -> bytes:
        def change(box: Any, key: Any) -> None:
            value = box[key]
            if isinstance(box, dict):
                del box[key]
                box[self._random.choice([*_TEXTS, "tool", "time", "msg", "client", "data"])] = value
            else:
                box.insert(0, value)

        return self._restructured(line, change)

    def _wrap(self, line: bytes) -> bytes:
        def change(box: Any, key: Any) -> None:
            value = box[key]
            for _ in range(self._random.choice((1, 2, 99, 101, 300))):
                value = self._random.choice(([value], {"a": value}))
            box[key] = value

        return self._restructured(line, change)

    def _repeat(self, line: bytes) -> bytes:
        """A key twice, with another value."""
        value = self._parsed(line)
        if not value:
            return self._double(line)
        key = json.dumps(self._random.choice(list(value)))
        again = f"{key}:".encode() + self._written(self._value())
        if self._random.random() < 0.5:
            return line.rstrip()[:-1] + b"," + again + b"}"
        return b"{" + again + b"," + line.lstrip()[1:]
