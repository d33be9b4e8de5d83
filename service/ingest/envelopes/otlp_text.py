"""
The text in the body of an OTLP log record: a line that a shipper read, or the message of a logging call whose
fields are the attributes.
"""

from functools import cache
from typing import Any, Final

from service.ingest import textlines
from service.ingest.envelopes.of_lines import LINES
from service.ingest.envelopes.shape import as_line
from service.ingest.lines import BLANK
from service.ingest.profiles import load_profiles

_WHERE: Final = {"time", "sent", "hostname", "pid", "server", "stdio"}
"""Fields that a shipper may know of a line that it read; all others are said by whoever logs."""
_MESSAGE_BYTES: Final = 512
"""A text that says what happened, and nothing else, is no longer than this."""
_OF_CODE: Final = "code."
"""Begins what SDKs add to a logging call: where it stands in the program."""


def line_in(said: str, attributes: dict[str, Any]) -> bytes | None:
    """
    Return the line that the text of a body is; None where it is the message beside *attributes*.

    What begins like an object is a line. A text without attributes is one where it has a form, begins like a
    list, or is too long for a message: a short one says what happened, and nothing else. Beside attributes, text is one
    where it has a wrapper or fields of its own, and none of them is a field that a built-in profile reads: a
    shipper adds only where it found the line (`log.file.name`), or what it parsed out of it.
    """
    raw = (as_line(said) or b"").replace(b"\0", b"").strip(BLANK)
    if not raw or raw.startswith(b"{"):
        return raw or None
    if not attributes:
        is_line = raw.startswith(b"[") or len(raw) > _MESSAGE_BYTES or _has_form(raw)
        return raw if is_line else None
    if any(_is_field(key, value, said) for key, value in attributes.items()):
        return None
    return raw if _has_form(raw) else None


def _has_form(raw: bytes) -> bool:
    """Whether a text has a wrapper, or fields of its own."""
    return any(peel(raw) is not None for peel in LINES) or bool(textlines.decode(raw))


def _is_field(key: str, value: object, said: str) -> bool:
    if isinstance(value, str) and value in said and "." not in key:
        return False  # parsed out of the line; what the conventions name has a dot
    alone, with_inner = _fields()
    inner = isinstance(value, dict) or (isinstance(value, str) and value.startswith("{"))
    return key in alone or (inner and key in with_inner) or key.startswith(_OF_CODE)


@cache
def _fields() -> tuple[frozenset[str], frozenset[str]]:
    """The keys at which built-in profiles look for a field, and those within which they do."""
    paths = [
        path
        for profile in load_profiles()
        for field, places in profile.paths.items()
        if field not in _WHERE
        for path in places
    ]
    return (
        frozenset(path[0] for path in paths if len(path) == 1),
        frozenset(path[0] for path in paths if len(path) > 1),
    )
