"""
Versions in order, where they have one.

>>> before("2.0.9", "2.1.0"), before("1.9", "1.10"), before("0.148.0-alpha.9", "0.148.0")
(True, True, True)
>>> comparable("2.1.0"), comparable("v2.1"), comparable("nightly"), comparable("2026-07-28")
(True, True, False, False)
"""

import re

_VERSION = re.compile(
    r"v?(\d{1,9}(?:\.\d{1,9}){0,5})(?:-?(alpha|beta|rc|dev|pre)[.\d-]*)?(?:\+\S*)?",
    re.IGNORECASE | re.ASCII,
)
_PIECE = re.compile(r"\d+|\D+", re.ASCII)
_LONGEST = 64


def comparable(text: str | None) -> bool:
    """Whether a text is a version that stands before or after others: numbers between dots."""
    return text is not None and len(text) <= _LONGEST and bool(_VERSION.fullmatch(text.strip()))


def before(one: str, other: str) -> bool:
    """Whether the one comparable version stands before the other; missing parts are zeros."""
    return _order(one) < _order(other)


def _order(text: str) -> tuple[tuple[int, ...], bool]:
    """The numbers without zeros at their end, and whether it is the release itself."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not a version: {text!r}")
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), found[2] is None


def sort_text(text: str) -> str:
    """
    A text that sorts as releases follow each other, for any text; the categories of case "1.10".

    >>> sorted(["1.10", "1.9", "1.6.10", "2025.12.18", "1.10-rc.1"], key=sort_text)
    ['1.6.10', '1.9', '1.10-rc.1', '1.10', '2025.12.18']
    """
    pieces = []
    for piece in _PIECE.findall(text.strip().lower().removeprefix("v")):
        if piece[0] in "0123456789":
            digits = piece.lstrip("0")
            pieces.append(f"1{len(digits):03d}{digits}")
        else:
            pieces.append(f"0{piece}" if piece[0] in "-~" else f"2{piece}")
    return "".join(pieces) + "1"
