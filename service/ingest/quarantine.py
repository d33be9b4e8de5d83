"""
What is kept of a rejected record: its first 2 KiB, without identities where it can be read.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

import orjson

from service.ingest.extract import text_of
from service.ingest.keys import HASH_PREFIX, IDENTITIES, Hasher
from service.ingest.profiles import Path, Profile
from service.names import clean

EXCERPT_BYTES: Final = 2048
"""How much of a rejected record is kept."""

_DEPTH: Final = 24
"""Deeper parts of a record are left out, and it no longer counts as whole."""

_Places = dict[str, tuple[str, "_Places"]]
"""Key → (the kind of identity that stands there, or ""; the places below)."""


def excerpt_of(raw: bytes) -> str:
    """Return the first 2 KiB as text, cut between characters, without NUL."""
    if len(raw) <= EXCERPT_BYTES:
        return clean(raw.decode("utf-8", errors="replace"))
    head = raw[:EXCERPT_BYTES]
    while head and raw[len(head)] & 0xC0 == 0x80 and len(head) > EXCERPT_BYTES - 4:
        head = head[:-1]
    return clean(head.decode("utf-8", errors="replace"))


class Redactor:
    """
    Writes parsed records with a hash in the place of each identity, so that they can be read again
    and still give the same key. Every place where one of the profiles looks for an identity counts.
    """

    def __init__(self, profiles: Iterable[Profile], hasher: Hasher, *, text: bool = False) -> None:
        """*text*: the records are those of text lines, which JSON is not: none is shown whole."""
        self._hasher = hasher
        self._text = text
        self._places: _Places = {}
        for profile in profiles:
            for kind in sorted(IDENTITIES):
                for path in profile.paths.get(kind, ()):
                    _plant(self._places, (".".join(path),) if text else path, kind)

    def show(self, value: object) -> tuple[str, bool]:
        """Return a record as JSON text of at most 2 KiB, and whether that is all of it."""
        redacted, whole = self._copy(value, self._places, "", 0)
        try:
            text = orjson.dumps(redacted).decode()
        except TypeError:  # a number beyond 64 bits
            text = json.dumps(redacted, ensure_ascii=False, separators=(",", ":"))
        shown = excerpt_of(text.encode(errors="replace"))
        return shown, whole and len(shown) == len(text) and not self._text

    def _copy(self, value: object, places: _Places, kind: str, level: int) -> tuple[Any, bool]:
        """A copy without identities, and whether nothing was left out. *kind* is that of the
        identity which stands here, if one does."""
        if level > _DEPTH:
            return "…", False
        if isinstance(value, dict):
            pairs, whole = {}, True
            for key, item in value.items():
                here, below = places.get(key, ("", {}))
                pairs[clean(key)], complete = self._copy(item, below, here, level + 1)
                whole = whole and complete
            return pairs, whole
        if isinstance(value, list):
            copies = [self._copy(item, places, kind, level + 1) for item in value]
            return [copy for copy, _ in copies], all(complete for _, complete in copies)
        if kind and (text := text_of(value)):
            return HASH_PREFIX + self._hasher.identity(kind, text), True
        return clean(value) if isinstance(value, str) else value, True


def _plant(tree: _Places, path: Path, kind: str) -> None:
    key, *rest = path
    here, below = tree.get(key, ("", {}))
    tree[key] = (here if rest else here or kind, below)
    if rest:
        _plant(below, tuple(rest), kind)
