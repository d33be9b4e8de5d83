"""
Filebeat, Logstash and whatever else writes their events: the line in `message`, the time in
`@timestamp`.

Loggers of the Elastic Common Schema write the same two keys, and a level.
"""

from typing import Any

from service.ingest.envelopes.shape import Peeled, as_line, is_loggers


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the line."""
    if "@timestamp" not in record or is_loggers(record, "message"):
        return None
    line = as_line(record["message"])
    if line is None:
        return None
    return Peeled("Logstash", line, record["@timestamp"])
