"""
JSON from strangers: parsed fast where it is proper, and once more leniently where it is not.

Both parsers give the same values: a number that 64 bits cannot hold becomes a float, a float that
cannot be held (`1e400`, `NaN`) becomes None.
"""

import json
import math
import re
from itertools import accumulate
from typing import Final

import orjson

_STRINGS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_NOT_STRUCTURE: Final = bytes(b for b in range(256) if b not in b'{}[]"\\')
_OPENERS: Final = b"[{"


class TooDeep(ValueError):
    """JSON that is nested deeper than any parser here follows."""


def loads(raw: bytes) -> object:
    """
    Parse JSON; what the fast parser refuses is tried once more.

    The second try accepts NaN and infinities (None), lone surrogates, raw control characters in
    strings and bytes that are not UTF-8 (U+FFFD). The last of duplicate keys wins.

    Raises:
        TooDeep: The nesting is too deep for either parser.
        ValueError: Not JSON.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(
            raw.decode("utf-8", errors="replace"),
            strict=False,
            parse_int=_parse_int,
            parse_float=_parse_float,
            parse_constant=_nothing,
        )
    except RecursionError:
        raise TooDeep from None


def depth(raw: bytes) -> int:
    """Return how deep brackets outside strings nest; 0 for a bare scalar."""
    bare = _STRINGS.sub(b"", raw.translate(None, delete=_NOT_STRUCTURE))
    return max(accumulate(1 if byte in _OPENERS else -1 for byte in bare), default=0)


def deeper_than(value: object, limit: int) -> bool:
    """Say whether lists and objects in a parsed value nest more than *limit* deep."""
    level: list[object] = [value]
    for _ in range(limit):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = [item for item in inner if isinstance(item, dict | list)]
        if not level:
            return False
    return True


def _parse_int(digits: str) -> float | None:
    if len(digits) < 19:
        return int(digits)
    if len(digits) <= 21 and -(2**63) <= int(digits) < 2**64:
        return int(digits)
    return _parse_float(digits)


def _parse_float(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _nothing(_: str) -> None:
    return None
