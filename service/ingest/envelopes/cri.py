"""Kubernetes' container log: `2026-10-05T10:15:02.114000000Z stderr F message`."""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled, text_of

HEADER: Final = re.compile(
    rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::\S*)?(?: |$)"
)
"""Time, stream and tag: of a line that comes in parts, all but the last are `P`."""


def peel(raw: bytes) -> Peeled | None:
    """Take the header off."""
    found = HEADER.match(raw)
    if found is None:
        return None
    return Peeled("Kubernetes (CRI)", raw[found.end() :], text_of(found[1]))
