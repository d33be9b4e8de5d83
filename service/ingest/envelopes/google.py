"""Google Cloud Logging: a LogEntry with the line as `textPayload`, or parsed as `jsonPayload`."""

from typing import Any

from service.ingest.envelopes.shape import Peeled, inside


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the payload. An entry's insert id is unique within its log and time."""
    name, insert_id, time = (record.get(key) for key in ("logName", "insertId", "timestamp"))
    if not isinstance(name, str) or not isinstance(insert_id, str):
        return None
    inner = inside(record.get("jsonPayload", record.get("textPayload")))
    if inner is None:
        return None
    return Peeled("Google Cloud Logging", inner, time, f"google:{name}:{time}:{insert_id}")
