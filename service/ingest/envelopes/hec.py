"""Splunk's HTTP Event Collector: `{"time": …, "host": …, "source": …, "sourcetype": …, "event": …}`."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, inside

NAME: Final = "Splunk HEC"

_KEYS: Final = frozenset({"time", "host", "source", "sourcetype", "index", "event", "fields"})
_MARKS: Final = (
    frozenset({"sourcetype"}),
    frozenset({"index"}),
    frozenset({"time", "host", "source"}),
)


def peel(record: dict[str, Any]) -> Peeled | None:
    """
    Take out the event, a line or an object.

    An `event` with less beside it may be what an application logs of a request.
    """
    if not _KEYS.issuperset(record) or not any(mark <= record.keys() for mark in _MARKS):
        return None
    inner = inside(record["event"])
    return None if inner is None else Peeled(NAME, inner, record.get("time"))
