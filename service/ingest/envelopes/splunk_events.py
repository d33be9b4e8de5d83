"""
What senders put into a Splunk event: Docker's driver `line`, loggers a level and `message`, winston's
transport `msg` and `meta` therein. Outside of one the same keys may hold anything.
"""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, inside

_DOCKER: Final = frozenset({"line", "source", "tag", "attrs"})
_LEVELS: Final = ("severity", "log_level")


def peel_line(record: dict[str, Any]) -> Peeled | None:
    """Take the line out of an event of Docker's splunk driver."""
    if record.get("source") not in ("stdout", "stderr") or not _DOCKER.issuperset(record):
        return None
    inner = inside(record["line"])
    return None if inner is None else Peeled("Docker (splunk)", inner)


def peel_message(record: dict[str, Any]) -> Peeled | None:
    """Take the record out of a message that is one; a text stays what it is."""
    message = record["message"]
    alone = len(record) == 2 and any(key in record for key in _LEVELS)
    return Peeled("Splunk logger", message) if alone and isinstance(message, dict) else None


def peel_meta(record: dict[str, Any]) -> Peeled | None:
    """Take the record of winston out of what its transport makes of it."""
    meta = record.get("meta")
    if record.keys() != {"meta", "msg"} or not isinstance(meta, dict):
        return None
    if meta.get("message") != record["msg"]:
        return None
    return Peeled("Splunk transport of winston", meta)
