"""
python-logstash-async: a logging handler that stands where a pipe would, so its message is a line.

It is known by its version, which it writes into every record, since it writes a level and a time too.
"""

from typing import Any

from service.ingest.envelopes.shape import Peeled, as_line


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the message."""
    extra = record.get("extra", record)
    if not isinstance(extra, dict) or "logstash_async_version" not in extra:
        return None
    line = as_line(record["message"])
    return None if line is None else Peeled("python-logstash-async", line, record.get("@timestamp"))
