r"""
Cut JSON text into its parts without parsing it.

A body of some megabytes may hold millions of values, each of which takes many times its bytes once it is
parsed. Here only quotes and brackets are looked at, so that parts can be handed on one by one, and a part
that is broken stays one part: what is wrong within it does not cost its neighbours.

>>> text = b'{"logs": [{"a": [1, 2]}, oops, "]"]}'
>>> [(key, text[start:end]) for key, start, end in members(text, 1)]
[('logs', b'[{"a": [1, 2]}, oops, "]"]')]
>>> [text[start:end] for start, end in elements(text, 10)]
[b'{"a": [1, 2]}', b'oops', b'"]"']
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from service.errors import BodyNotDecodable
from service.ingest.jsontext import loads

Span = tuple[int, int]

_FOLLOWED: Final = 16
"""Values nested deeper than this are followed bracket by bracket, which is slower."""

# Possessive throughout: nothing is tried twice, whatever a stranger writes.
_TEXT: Final = rb'"(?:[^"\\]++|\\.)*+"'
_INNER: Final = rb'[^"{}\[\]]++|' + _TEXT


def _nested(depth: int) -> bytes:
    pattern = rb"[{\[](?:%s)*+[}\]]" % _INNER
    for _ in range(depth - 1):
        pattern = rb"[{\[](?:%s|%s)*+[}\]]" % (_INNER, pattern)
    return pattern


_VALUE: Final = re.compile(_nested(_FOLLOWED), re.DOTALL)
_RUN: Final = rb'(?:[^"{}\[\],]++|%s|%s)*+' % (_TEXT, _nested(_FOLLOWED))
_REST: Final = re.compile(_RUN, re.DOTALL)
_ELEMENT: Final = re.compile(rb"[ \t\n\r\v\f\0]*+(%s)" % _RUN, re.DOTALL)
_OBJECTS: Final = re.compile(
    rb"\[(?:[\s\0]*+(?=\{)%s[\s\0]*+(?:,|(?=\])))*+[\s\0]*+\]" % _nested(_FOLLOWED), re.DOTALL
)
_KEY: Final = re.compile(rb"(%s)\s*+:\s*+" % _TEXT, re.DOTALL)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
_BLANK: Final = re.compile(rb"[ \t\n\r\v\f\0]*+")
_OPEN: Final = b"[{"
_BLANKS: Final = b" \t\n\r\v\f\0"


class Cut(BodyNotDecodable, ValueError):
    """The text ends, or something closes, where that cannot be."""


def after_blank(text: bytes, at: int) -> int:
    """Return the first place from *at* on that is neither white space nor NUL."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def end_of(text: bytes, at: int) -> int | None:
    """Return the place behind the object or array that begins at *at*; None where it is not closed."""
    if found := _VALUE.match(text, at):
        return found.end()
    level = 0
    for token in _TOKEN.finditer(text, at):
        mark = token[0]
        if mark in (b"[", b"{"):
            level += 1
        elif mark in (b"]", b"}"):
            level -= 1
            if level == 0:
                return token.end()
    return None


def end_of_objects(text: bytes, at: int) -> int | None:
    """Return what `end_of` does for an array of objects only, none of them very deep; else None."""
    found = _OBJECTS.match(text, at)
    return found.end() if found else None


def elements(text: bytes, at: int) -> Iterator[Span]:
    """
    Yield where each element of an array or member of an object begins and ends; *at* is behind its
    opening bracket. Elements of which nothing is written are left out.

    Raises:
        Cut: It is not closed.
    """
    while found := _ELEMENT.match(text, at):
        start, at = found.span(1)
        while text[at : at + 1] in (b"[", b"{"):  # deeper than the pattern follows
            inner = end_of(text, at)
            if inner is None:
                raise Cut("a bracket is not closed")
            at = _behind_run(text, inner)
        end = at
        while end > start and text[end - 1] in _BLANKS:
            end -= 1
        if end > start:
            yield start, end
        if text[at : at + 1] != b",":
            break
        at += 1
    if text[at : at + 1] not in (b"]", b"}"):
        raise Cut("it ends too early")


def members(text: bytes, at: int) -> Iterator[tuple[str, int, int]]:
    """
    Yield (key, begin of the value, its end) of each member of an object, as `elements` does; what is
    no member is left out.

    Raises:
        Cut: It is not closed.
    """
    for start, end in elements(text, at):
        if found := _KEY.match(text, start, end):
            with suppress(ValueError):  # an escape that is none
                yield str(loads(found[1])), found.end(), end


def values(text: bytes, at: int = 0) -> Iterator[Span]:
    """
    Yield where each of the objects and arrays begins and ends that follow each other with nothing or
    white space in between. What comes then, and an object that is not closed, is the last span.
    """
    while (at := after_blank(text, at)) < len(text):
        end = end_of(text, at) if text[at] in _OPEN else None
        if end is None:
            yield at, len(text)
            return
        yield at, end
        at = end


def _behind_run(text: bytes, at: int) -> int:
    found = _REST.match(text, at)
    return found.end() if found else at
