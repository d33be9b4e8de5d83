"""
CloudWatch Logs: a member of `logEvents` (`id`), or of what `filter-log-events` prints (`eventId`).
"""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line

_KEYS: Final = frozenset(
    {"id", "eventId", "timestamp", "message", "extractedFields", "ingestionTime", "logStreamName"}
)
_ID_DIGITS: Final = 40
"""An id has 56."""


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the line."""
    id_ = record.get("id", record.get("eventId"))
    if not isinstance(id_, str) or not id_.isdigit() or len(id_) < _ID_DIGITS:
        return None
    if not _KEYS.issuperset(record) or not isinstance(record.get("timestamp"), int):
        return None
    line = as_line(record["message"])
    if line is None:
        return None
    return Peeled("CloudWatch", line, record["timestamp"], f"cloudwatch:{id_}")
