"""
Syslog of RFC 3164, as it is sent and as it is written to files: `<14>Oct  5 10:15:02 host app[7]: message`.

Its time has neither year nor zone, so it is not used; one in ISO 8601, which rsyslog writes to files
(and `heroku logs` prints), is.
"""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled, text_of

_ISO: Final = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)"
_TIME: Final = rb"(?:(" + _ISO + rb")|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
_HOST: Final = rb"(?:[^\s{\[:]\S{0,254} )?"
_TAG: Final = rb"[^\s:\[\]{}\"<]{1,64}(?:\[[^\]\s]{0,64}\])?:(?: |$)"
_SENT: Final = re.compile(rb"<\d{1,3}>(?:" + _TIME + rb" " + _HOST + rb")?(?:" + _TAG + rb")?")
_FILED: Final = re.compile(_TIME + rb" " + _HOST + _TAG)


def peel(raw: bytes) -> Peeled | None:
    """Take the header off."""
    found = (_SENT if raw.startswith(b"<") else _FILED).match(raw)
    if found is None:
        return None
    return Peeled("syslog (RFC 3164)", raw[found.end() :], text_of(found[1]))
