"""The wrappers of lines of text."""

from typing import Final

from service.ingest.envelopes import ansi, compose, cri, octets, rfc3164, rfc5424, timestamp
from service.ingest.envelopes.shape import OfLine

LINES: Final[tuple[OfLine, ...]] = (
    ansi.peel, octets.peel, rfc5424.peel, cri.peel, timestamp.peel, rfc3164.peel, compose.peel,
)  # fmt: skip
"""Asked in this order for a line that does not begin like a JSON object."""
