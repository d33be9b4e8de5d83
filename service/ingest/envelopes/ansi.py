"""Colour codes around a line, or within one that is printed in colours (`jq -C`)."""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled

_CODE: Final = re.compile(rb"\x1b\[[0-9;:?]*[A-Za-z]")


def peel(raw: bytes) -> Peeled | None:
    """Take the colours off. In JSON an escape character stands escaped, so none of these is a value's."""
    if not raw.startswith(b"\x1b["):
        return None
    plain = _CODE.sub(b"", raw)
    return None if plain.startswith(b"\x1b[") else Peeled("ANSI colours", plain)
