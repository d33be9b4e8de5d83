"""Vector's sources: `{"message": "…", "source_type": "file", "file": "…", "host": "…", "timestamp": "…"}`."""

from typing import Any

from service.ingest.envelopes.shape import Peeled, as_line, is_loggers


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the line. The severity beside one that came as syslog is not its logger's."""
    source = record.get("source_type")
    if not isinstance(source, str) or "timestamp" not in record:
        return None
    if is_loggers({**record, "severity": None} if source == "syslog" else record, "message"):
        return None
    line = as_line(record["message"])
    return None if line is None else Peeled("Vector", line, record["timestamp"])
