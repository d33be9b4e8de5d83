"""Names of strangers as Plotly shows them: it takes `<b>` and the like in a text for markup."""

import re

TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that set the direction of text (Unicode, UAX 9): they are named, and not obeyed."""
LONGEST = 40
"""Characters of a name in a legend; a longer one is cut in the middle."""


def cut(text: str, longest: int) -> str:
    """
    A text of at most *longest* characters, cut in the middle.

    >>> cut("a-very-long-name", 9)
    'a-ve…name'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) // 2
    return f"{text[: longest - 1 - head]}…{text[len(text) - head :]}"


def plain(text: str, longest: int = LONGEST) -> str:
    r"""
    A text that Plotly shows as it stands, not longer than *longest* characters.

    >>> plain("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    >>> plain("a-very-long-name", 9)
    'a-ve…name'
    >>> plain("\u202eevil")
    '⟨U+202E⟩evil'
    """
    text = cut(text, longest)
    text = "".join(" " if char in "\n\r\t\x0b\x0c\x85\u2028\u2029" else char for char in text)
    text = TURNS.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    # `%{…}` is a placeholder of a hover template, `&amp;` keeps an entity from being read as one.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
