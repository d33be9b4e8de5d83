"""What nothing that is written while tests run may hold: the secret of a token or a link, as each of ours looks."""

import re
from typing import Final

from service import shares, tokens

SECRET: Final = re.compile(f"(?:{tokens.PREFIX}|{shares.PREFIX})" + r"[A-Za-z0-9_-]{43}")


def secrets_in(text: str) -> list[str]:
    """
    The secrets in a text, cut short.

    >>> secrets_in("token=lct_" + "A" * 43)
    ['lct_AAAA…']
    """
    return [f"{found[0][:8]}…" for found in SECRET.finditer(text)]
