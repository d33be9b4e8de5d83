"""
Which wave of a roll-out a client belongs to: by a keyed hash of its name, so that whoever sends
notifications can tell it of any client, also of one that nobody has seen before.
"""

import hmac
import secrets
from collections.abc import Callable, Collection
from typing import Literal

from service.names import TEXT_LIMIT

Wave = Literal[1, 2]
KEY_BYTES = 32
BASELINE_DAYS = 28
"""Days before the first wave that say what is usual for each client."""


def wave_of(key: bytes, client: str) -> Wave:
    """
    The wave of a client: the parity of the first byte of HMAC-SHA256 over its key in UTF-8.

    Of a client key longer than `TEXT_LIMIT` only what stands before its hash counts, so that whoever
    computes this elsewhere need not know how names are cut.

    >>> [wave_of(bytes(32), name) for name in ("cursor", "claude-code", "vscode")]
    [1, 2, 2]
    """
    digest = hmac.digest(key, client[:TEXT_LIMIT].encode(), "sha256")
    return 1 if digest[0] % 2 == 0 else 2


def draw_key(
    clients: Collection[str], new_key: Callable[[int], bytes] = secrets.token_bytes
) -> bytes:
    """
    A key that splits these clients as evenly as can be: the waves differ by one client at most.

    Keys are drawn until one does. Each key makes every split equally likely, as a keyed hash is as
    good as a coin for each client; so among the keys that are kept, every split of the same sizes is
    still equally likely. That is all that comparing with other splits of these sizes rests on.

    About √(π·n/2) keys are drawn for n clients.
    """
    while True:
        key = new_key(KEY_BYTES)
        first = sum(wave_of(key, client) == 1 for client in clients)
        if abs(len(clients) - 2 * first) <= 1:
            return key
