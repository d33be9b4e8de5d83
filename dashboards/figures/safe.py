"""Names of strangers as Plotly shows them: it takes `<b>` and the like in a text for markup."""

LONGEST = 40
"""Characters of a name in a legend; a longer one is cut in the middle."""


def plain(text: str, longest: int = LONGEST) -> str:
    """
    A text that Plotly shows as it stands, not longer than *longest* characters.

    >>> plain("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    >>> plain("a-very-long-name", 9)
    'a-ve…name'
    """
    if len(text) > longest:
        head = (longest - 1) // 2
        text = f"{text[: longest - 1 - head]}…{text[len(text) - head :]}"
    text = "".join(" " if char in "\n\r\t\x0b\x0c\x85\u2028\u2029" else char for char in text)
    # `%{…}` is a placeholder of a hover template, `&amp;` keeps an entity from being read as one.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
