"""The time in front of a line of `docker logs --timestamps` and `kubectl logs --timestamps`."""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled, text_of

_TIME: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) +(?=[{\x1b]|[^\s\"=]{1,64}=)"
)


def peel(raw: bytes) -> Peeled | None:
    """Take the time off; a text that begins with its own time is left alone."""
    found = _TIME.match(raw)
    return None if found is None else Peeled("timestamp", raw[found.end() :], text_of(found[1]))
