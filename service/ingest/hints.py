"""
Which unrecognised records look like tool traffic, and what profile would read them.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from service.events import Kind
from service.ingest import envelopes
from service.ingest.extract import text_of
from service.ingest.profiles import Path
from service.ingest.textlines import Format, decode
from service.names import clean

CAPACITY: Final = 500
"""Messages that are counted at a time; beyond it the rarest make room."""

MESSAGE_LIMIT: Final = 200
"""Longer messages are no fixed texts that a profile could name."""

_DEPTH: Final = 3
_MESSAGES: Final[tuple[Path, ...]] = (
    ("msg",), ("message",), ("event",), ("record", "message"), ("body",), ("text",),
)  # fmt: skip
_TIMES: Final = (
    "time", "timestamp", "ts", "@timestamp", "asctime", "datetime", "date", "at", "when", "@t",
)  # fmt: skip
_WORDS: Final = (
    (Kind.NOTIFICATION, ("list_changed", "list changed", "notif")),
    (
        Kind.STALE_CALL,
        ("retired", "deprecat", "removed", "tombstone", "stale", "obsolete", "alias"),
    ),
    (Kind.LISTING, ("listed", "tools/list", "list tools", "listing")),
    (Kind.HELLO, ("initiali", "handshake", "connected")),
)


@dataclass(frozen=True, slots=True)
class Hint:
    """A message that no profile knows, how often it came, and a profile that would read it."""

    message: str
    count: int
    profile: str
    """TOML, to be checked by a person: the kind is a guess from the message's words."""


class Hints:
    """
    Collects hints from ignored records, in bounded memory.

    Counts are exact up to `CAPACITY` different messages; beyond it the rarest ones are forgotten.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[Path, str], int] = {}
        self._samples: dict[tuple[Path, str], tuple[dict[str, Any], Format]] = {}

    def add(self, raw: bytes) -> None:
        """Take an ignored line into account; wrappers are taken off."""
        if b"tool" not in raw.lower():
            return
        inner, _ = envelopes.innermost(raw, lambda line: bool(decode(line)))
        if isinstance(inner, dict):
            self._add(inner)
        elif inner is not None:
            for text in decode(inner):
                if text.format == "logfmt" and not text.rest:
                    self._add(text.fields, text.format)

    def add_record(self, record: dict[str, Any]) -> None:
        """Take an ignored record into account."""
        inner, _ = envelopes.peel(record)
        if inner is not None:
            self._add(inner)

    def _add(self, record: dict[str, Any], format_: Format = "json") -> None:
        """Take a record that nothing is wrapped around into account."""
        place, message = _message(record)
        if message is None or len(message) > MESSAGE_LIMIT:
            return
        if "tool" not in message.lower() and not _tool_places(record):
            return
        key = (place, message)
        if key not in self._counts and len(self._counts) >= CAPACITY:
            self._forget()
        self._counts[key] = self._counts.get(key, 0) + 1
        self._samples.setdefault(key, (record, format_))

    def _forget(self) -> None:
        """Drop the rarer half, so that making room costs little per record."""
        ranked = sorted(self._counts, key=lambda key: self._counts[key])
        for key in ranked[: CAPACITY // 2]:
            del self._counts[key], self._samples[key]

    def top(self, limit: int = 10) -> list[Hint]:
        """Return the most frequent messages first; equal counts by text."""
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0][1], item[0][0]))
        return [
            Hint(message, count, suggest(record, place, message, format_))
            for (place, message), count in ranked[:limit]
            for record, format_ in [self._samples[place, message]]
        ]


def suggest(record: dict[str, Any], place: Path, message: str, format_: Format = "json") -> str:
    """Return a profile (TOML) that reads records like this one, whose message stands at *place*."""
    under = dict.fromkeys(path[:-1] for path in _tool_places(record))
    tools = _tool_places(record)
    time = next((key for key in _TIMES if record.get(key) is not None), "time")
    lines = [
        'name = "my logger"',
        *([] if format_ == "json" else [f"format = {_text(format_)}"]),
        f"requires = [{_toml(place)}]",
        f"under = [{', '.join(_base(base) for base in ({(): None} | under))}]",
        "",
        "[paths]",
        f"time = {_text(time)}",
        f"message = [{_toml(place)}]",
    ]
    if tools:
        lines.append(f"tool = [{', '.join(_toml(path) for path in tools)}]")
    lines += ["", "[kinds.messages]", f'{_text(message)} = "{_kind(message).word}"', ""]
    return "\n".join(lines)


def _kind(message: str) -> Kind:
    words = message.lower()
    return next((kind for kind, signs in _WORDS if any(s in words for s in signs)), Kind.CALL)


def _message(record: dict[str, Any]) -> tuple[Path, str | None]:
    for place in _MESSAGES:
        value: Any = record
        for key in place:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and (text := text_of(value)):
            return place, text
    return _unusual_message(record)


def _unusual_message(record: dict[str, Any]) -> tuple[Path, str | None]:
    """The first text at the top that reads like tool traffic, where no usual key holds a message."""
    signs = ("tool", *(sign for _, signs in _WORDS for sign in signs))
    for key, value in record.items():
        if not isinstance(value, str) or "tool" in key.lower() or (text := text_of(value)) is None:
            continue
        if not text.startswith("{") and any(sign in text.lower() for sign in signs):
            return (key,), text
    return (), None


def _tool_places(record: dict[str, Any], base: Path = ()) -> list[Path]:
    """Places whose key speaks of a tool and that hold a text, nearest to the top first."""
    here, below = [], []
    for key, value in record.items():
        if not key or clean(key) != key:
            continue
        if isinstance(value, str) and "tool" in key.lower() and (*base, key) not in _MESSAGES:
            if value.strip():
                here.append((*base, key))
        elif isinstance(value, dict) and len(base) < _DEPTH:
            below += _tool_places(value, (*base, key))
    return here + below


def _toml(path: Path) -> str:
    if any("." in key or not key for key in path):
        return f"[{', '.join(_text(key) for key in path)}]"
    return _text(".".join(path))


def _base(path: Path) -> str:
    return _toml(path) if path else '""'


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
