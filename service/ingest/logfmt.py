r"""
Pairs of `key=value` in a line of text, as Go's slog writes them, read strictly.

A key or value that holds white space, `=`, `"` or what cannot be printed stands in quotes, written as Go's
`strconv.Quote` does; any other may stand bare. Anything else (a lone word, a quote within a bare value, text
right behind a closing quote) is where reading ends: it may be what a user wrote, and is never guessed at.

>>> read('level=WARN msg="Retired tool called" client="a \\"b\\""').fields
{'level': 'WARN', 'msg': 'Retired tool called', 'client': 'a "b"'}
>>> read("tool=a tool=b").twice
frozenset({'tool'})
"""

import re
from typing import Final, NamedTuple

_QUOTED: Final = r'"((?:[^"\\]|\\.)*+)"'
_BARE: Final = r'[^\s"=]'
_PAIR: Final = re.compile(
    rf"(?:{_QUOTED}|({_BARE}++))=(?:{_QUOTED}|({_BARE}*+))(?: ++|\Z)", re.DOTALL
)
_ESCAPE: Final = re.compile(
    r"\\(?:([abfnrtv\\\"'])|x([0-9A-Fa-f]{2})"
    r"|u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})"
    r"|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"
)
_LETTERS: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip
_LAST: Final = 0x10FFFF
_ABSENT: Final = ("<nil>", "null")
"""What slog and go-logfmt write, bare, where nothing is."""


class Pairs(NamedTuple):
    """What was read of a line's pairs."""

    fields: dict[str, str]
    """Key → value, in the order of the line. A key that stands there twice has its first value."""
    twice: frozenset[str]
    """Keys that stand there again with another value: what they hold is not known."""
    rest: str
    """What cannot be read as pairs; empty where all of it was."""


def read(text: str) -> Pairs:
    """Read pairs from the beginning of a text, as far as they go. A bare `<nil>` or `null` is no value."""
    fields: dict[str, str] = {}
    absent: set[str] = set()
    twice: set[str] = set()
    at = 0
    while found := _PAIR.match(text, at):
        at = found.end()
        quoted_key, bare_key, quoted, bare = found.groups()
        key = bare_key if quoted_key is None else unquoted(quoted_key)
        if quoted is None and bare in _ABSENT:
            absent.add(key)
            continue
        value = bare if quoted is None else unquoted(quoted)
        if fields.setdefault(key, value) != value:
            twice.add(key)
    return Pairs(fields, frozenset(twice | absent.intersection(fields)), text[at:])


def unquoted(inner: str) -> str:
    r"""
    Return what a text between two quotes stands for, in the escapes of Go, nginx, Apache and JSON.

    `\xhh` are bytes: together they are read as UTF-8. What is no escape stands for itself.

    >>> unquoted(r'caf\xC3\xA9 \u00e9\n\q')
    'café é\n\\q'
    """
    if "\\" not in inner:
        return inner
    said = _ESCAPE.sub(_meant, inner)
    return said.encode(errors="surrogateescape").decode(errors="replace")


def _meant(found: re.Match[str]) -> str:
    letter, byte, high, low, short, long = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    if byte is not None:
        return bytes([int(byte, 16)]).decode("ascii", errors="surrogateescape")
    if high is not None:  # of JSON, which writes UTF-16
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    number = int(short or long, 16)
    return "\ufffd" if number > _LAST or 0xD800 <= number < 0xE000 else chr(number)
