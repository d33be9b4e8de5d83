"""The name in front of a line: of `docker compose logs` (`mcp-1  | …`), `kubectl logs --prefix`."""

import re
from typing import Final

from service.ingest.envelopes.shape import Peeled

_NAME: Final = re.compile(
    rb"(?:([A-Za-z0-9][A-Za-z0-9_.-]{0,127}) +\||\[pod/[^\]\s]{1,512}\])(?: |$)"
)


def peel(raw: bytes) -> Peeled | None:
    """Take the name off."""
    found = _NAME.match(raw)
    if found is None:
        return None
    wrapper = "docker compose" if found[1] else "kubectl"
    return Peeled(wrapper, raw[found.end() :])
