"""Strangers' text inside Markdown that stays text."""

import re
import unicodedata

_UNSEEN = {"Cc", "Cf", "Zl", "Zp", "Cs"}


def code(text: str) -> str:
    r"""
    A text as a code span, in which nothing is markup, whatever it holds.

    What cannot be seen or would end the line is shown as U+FFFD, so that it cannot change what is read.

    >>> code("old-name"), code("a`b"), code("`")
    ('`old-name`', '``a`b``', '`` ` ``')
    >>> code("a\nb\u202ec") == "`a\ufffdb\ufffdc`"
    True
    """
    seen = "".join("\ufffd" if unicodedata.category(char) in _UNSEEN else char for char in text)
    if not seen.strip():
        seen = f'"{seen}"'
    longest = max(map(len, re.findall("`+", seen)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if seen[0] in "` " or seen[-1] in "` " else ""
    return f"{fence}{pad}{seen}{pad}{fence}"
