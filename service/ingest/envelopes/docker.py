r"""Docker's json-file driver: `{"log": "…\n", "stream": "stderr", "time": "…"}`."""

from typing import Any, Final

from service.ingest.envelopes.shape import Peeled, as_line, is_loggers

_STREAMS: Final = ("stdout", "stderr")


def peel(record: dict[str, Any]) -> Peeled | None:
    """Take out the line."""
    if record.get("stream") not in _STREAMS or is_loggers(record, "log"):
        return None
    line = as_line(record["log"])
    return None if line is None else Peeled("Docker", line, record.get("time"))
