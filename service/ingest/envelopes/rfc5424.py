"""
Syslog of RFC 5424: `<14>1 2026-10-05T10:15:02.114Z host app 7 ID47 [id key="value"] message`.

Heroku leaves the structured data out.
"""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled, text_of

_VALUE: Final = rb'"(?:[^"\\]|\\.)*+"'
_ELEMENT: Final = rb'\[[^\s=\]"]+(?: +[^\s=\]"]+=' + _VALUE + rb")*+ *\]"
_HEADER: Final = re.compile(
    rb"<\d{1,3}>[1-9]\d{0,2} (\S+)(?: \S+){4}(?: (?:-(?= |$)|(?:" + _ELEMENT + rb")++))?(?: |$)"
)


def peel(raw: bytes) -> Peeled | None:
    """Take the header off."""
    found = _HEADER.match(raw)
    if found is None:
        return None
    time = None if found[1] == b"-" else text_of(found[1])
    return Peeled("syslog (RFC 5424)", raw[found.end() :], time)
