"""The journal of systemd as JSON (`journalctl -o json`): the line in `MESSAGE`."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line, first

NEEDLES: Final = (b'"MESSAGE":[', b'"MESSAGE" : [', b'"MESSAGE": [')
"""Stand before a message that holds unprintable characters, which is written as numbers."""

_MARKS: Final = (
    "__CURSOR", "__REALTIME_TIMESTAMP", "_BOOT_ID", "_TRANSPORT", "_SYSTEMD_UNIT", "_MACHINE_ID",
)  # fmt: skip
_TIMES: Final = ("__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "@timestamp", "date")


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the message, also where it is an array of byte values."""
    if not any(mark in record for mark in _MARKS):
        return None
    message, cursor = record["MESSAGE"], record.get("__CURSOR")
    line = _bytes(message) if isinstance(message, list) else as_line(message)
    if line is None:
        return None
    native_id = f"journald:{cursor}" if isinstance(cursor, str) else None
    return Peeled("journald", line, first(record, _TIMES), native_id)


def _bytes(values: list[Any]) -> bytes | None:
    if not all(type(value) is int and 0 <= value < 256 for value in values):
        return None
    return bytes(values)
