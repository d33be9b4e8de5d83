"""
Fluent Bit, Fluentd and Docker's fluentd driver: the line in `log` or `message`, and where it came from.

What their JSON parsers have merged into the record stands there as the logger wrote it, and is left so.
"""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line, first, is_loggers

_TIMES: Final = ("time", "date", "@timestamp", "timestamp")
_PLACES: Final = ("tag", "container_id", "container_name", "kubernetes", "docker")


def peel_log(record: dict[str, Any]) -> Peeled | None:
    """Take the line out of `log`, in which no logger writes a message."""
    known = len(record) == 1 or any(key in record for key in (*_TIMES, *_PLACES))
    return _peel(record, "log") if known else None


def peel_message(record: dict[str, Any]) -> Peeled | None:
    """Take the line out of `message`, where a number as `date` or a place stands beside it."""
    date = record.get("date")
    dated = isinstance(date, int | float) and not isinstance(date, bool)
    known = dated or any(key in record for key in _PLACES)
    return _peel(record, "message") if known else None


def _peel(record: dict[str, Any], key: str) -> Peeled | None:
    line = as_line(record[key])
    if line is None or is_loggers(record, key):
        return None
    return Peeled("Fluent", line, first(record, _TIMES))
