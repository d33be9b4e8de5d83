"""winston-elasticsearch: `{"@timestamp": "…", "message": "…", "severity": "info", "fields": {…}}`."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled

_KEYS: Final = {"@timestamp", "message", "severity", "fields"}


def peel(record: dict[str, Any]) -> Peeled | None:
    """Give winston's record back; nothing is taken out of a text."""
    fields = record.get("fields")
    if record.keys() != _KEYS or not isinstance(fields, dict):
        return None
    inner = {**fields, "level": record["severity"], "message": record["message"]}
    return Peeled("winston-elasticsearch", inner, record["@timestamp"])
