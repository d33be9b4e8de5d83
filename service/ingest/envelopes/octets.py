"""The octet count of syslog over TCP (RFC 6587), left over in front of a line: `249 <14>1 …`."""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled

_COUNT: Final = re.compile(rb"\d{1,9} (?=<\d{1,3}>)")


def peel(raw: bytes) -> Peeled | None:
    """Take the count off."""
    found = _COUNT.match(raw)
    return None if found is None else Peeled("octet count", raw[found.end() :])
