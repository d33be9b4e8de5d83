"""Syslog's fields as objects: what syslog-ng (`MESSAGE`) and rsyslog (`message`) make of them by default."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line, first

_TIMES: Final = ("@timestamp", "ISODATE", "timereported", "timegenerated", "DATE")


def peel_upper(record: dict[str, Any]) -> Peeled | None:
    """Take out what syslog-ng calls `MESSAGE`."""
    return _peel(record, "MESSAGE", ("PROGRAM", "HOST", "HOST_FROM"))


def peel_lower(record: dict[str, Any]) -> Peeled | None:
    """Take out what rsyslog calls `message`."""
    return _peel(record, "message", ("timereported", "timegenerated", "syslogtag"))


def _peel(record: dict[str, Any], key: str, marks: tuple[str, ...]) -> Peeled | None:
    if not any(mark in record for mark in marks):
        return None
    line = as_line(record[key])
    return None if line is None else Peeled("syslog fields", line, first(record, _TIMES))
