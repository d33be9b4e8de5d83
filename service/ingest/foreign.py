"""What cannot be read: files that are no logs, known by their first bytes, and broken ones, in plain words."""

import re
from typing import Final

_KINDS: Final = {
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"SQLite format 3\0": "a SQLite database",
}
_BZIP2: Final = (b"1AY&SY", b"\x17rE8P\x90")
"""What follows its number: a block, or the end at once. Text may begin with the letters alone."""
_BZIP2_BYTES: Final = 10

_NUMBER: Final = re.compile(r"^Error -?\d+ (?:while \w+ data: )?")


def kind_of(head: bytes) -> str | None:
    """
    Return what a file is that begins so; None where it may be a log.

    >>> kind_of(b"BZh91AY&SY..."), kind_of(b"BZh is a word")
    ('bzip2', None)
    """
    for mark, kind in _KINDS.items():
        if head.startswith(mark) and (kind != "bzip2" or head[4:].startswith(_BZIP2)):
            return kind
    return None


def undecided(head: bytes) -> bool:
    """Say whether more bytes are needed to tell."""
    if head.startswith(b"BZh"):
        return len(head) < _BZIP2_BYTES
    return any(mark.startswith(head) and head != mark for mark in _KINDS)


def said(error: Exception) -> str:
    """
    Return why something compressed is broken, without the words of the library.

    >>> said(ValueError("Not a gzipped file (b'BZ')"))
    'it does not begin as gzip does'
    >>> said(ValueError("Error -3 while decompressing data: invalid block type"))
    'invalid block type'
    """
    text = str(error)
    if text.startswith("Not a gzipped file"):
        return "it does not begin as gzip does"
    if text.startswith("CRC check failed"):
        return "its checksum is wrong"
    return _NUMBER.sub("", text).rstrip(".")
