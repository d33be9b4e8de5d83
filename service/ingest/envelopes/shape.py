"""What wrappers have in common."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

_LEVELS: Final = ("level", "severity", "levelname", "log_level", "loglevel", "lvl", "log.level")
_MESSAGES: Final = ("msg", "message", "event")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Peeled(NamedTuple):
    """What is inside of one wrapper."""

    wrapper: str
    """Its name, as `lastcall explain` says it."""
    inner: object
    """bytes: a line that may have further wrappers; anything else: a parsed record."""
    time: object = None
    native_id: str | None = None


OfLine = Callable[[bytes], Peeled | None]
OfRecord = Callable[[dict[str, Any]], Peeled | None]


def is_loggers(record: dict[str, Any], text_key: str) -> bool:
    """
    Say whether a record is what a logger wrote, with a level or a message of its own beside the text
    at *text_key*: what stands there may be what a user wrote, or the record was merged already.
    """
    if any(record.get(key) is not None for key in _LEVELS):
        return True
    if any(key != text_key and isinstance(record.get(key), str) for key in _MESSAGES):
        return True
    log = record.get("log")
    return isinstance(log, dict) and log.get("level") is not None


def as_line(text: object) -> bytes | None:
    """Return a text of a record as the line that it is; None where it is no text."""
    if not isinstance(text, str):
        return None
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text).encode()


def inside(value: object) -> object:
    """Return what stands in a field: an object as it is, a text as a line; None for anything else."""
    return value if isinstance(value, dict) else as_line(value)


def first(record: dict[str, Any], keys: Iterable[str]) -> object:
    """Return what the record has under the first of the keys that it has."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def text_of(raw: bytes | None) -> str | None:
    """Return ASCII bytes, such as those of a time, as text."""
    return None if raw is None else raw.decode("ascii", errors="replace")
