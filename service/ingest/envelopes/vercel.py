"""Vercel's log drains: an entry of a deployment."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line

_KEYS: Final = frozenset({"id", "timestamp", "source", "projectId", "deploymentId"})
_SOURCES: Final = frozenset(
    {"lambda", "edge", "build", "static", "external", "redirect", "firewall"}
)


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the line. The level beside it is that of the stream that it was written to."""
    if not record.keys() >= _KEYS or not isinstance(record["timestamp"], int | float):
        return None
    id_, source = record["id"], record["source"]
    if not isinstance(id_, str) or not isinstance(source, str) or source not in _SOURCES:
        return None
    line = as_line(record["message"])
    return None if line is None else Peeled("Vercel", line, record["timestamp"], f"vercel:{id_}")
