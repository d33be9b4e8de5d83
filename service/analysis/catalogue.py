"""
Which retired name a logged spelling stands for.

>>> resolve(["mcp__maps__route", "route", "mcp__maps__map"], known={"route"})
{'mcp__maps__route': 'route', 'route': 'route'}

A full name that the server has or had is never taken for a prefix and another:

>>> resolve(["eu.route", "us.route"], known={"route", "us.route"}, full={"eu.route", "us.route"})
{'us.route': 'us.route'}
"""

from collections.abc import Collection, Iterable, Iterator

_SEPARATORS = ".:/"


def resolve(
    spellings: Iterable[str], known: Collection[str], full: Collection[str] = ()
) -> dict[str, str]:
    """
    Map each spelling that stands for a retired name to that name; others are absent.

    Args:
        spellings: Names as logged, of one server.
        known: The retired names: those of the catalogue, and the spellings that a stale call of that
            server names.
        full: Names that are whole for certain, retired or not: told, or listed by the server.

    A spelling with a gateway prefix stands for the rest where the rest is known, the longest such
    rest first; otherwise a known spelling stands for itself. A full name stands for itself where it is
    known, and for nothing where it is not. Case-sensitive.
    """
    retired, whole = frozenset(known), frozenset(full)
    named: dict[str, str] = {}
    for spelling in spellings:
        name = _name_of(spelling, retired, whole)
        if name is not None:
            named[spelling] = name
    return named


def _name_of(spelling: str, known: frozenset[str], full: frozenset[str]) -> str | None:
    name: str | None = None
    rest: str | None = spelling
    while rest is not None:
        if rest in full:
            return rest if rest in known else None
        name = rest if rest in known else name
        rest = max((r for r in rests(rest) if r in known or r in full), key=len, default=None)
    return name


def rests(spelling: str) -> Iterator[str]:
    """What is left after each gateway prefix (`mcp__S__`, `mcp_S_`, `S.`, `S:`, `S/`) it may have."""
    for lead, separator in (("mcp__", "__"), ("mcp_", "_")):
        if spelling.startswith(lead):
            yield from _after(spelling, separator, len(lead) + 1)
    for separator in _SEPARATORS:
        yield from _after(spelling, separator, 1)


def _after(text: str, separator: str, start: int) -> Iterator[str]:
    at = text.find(separator, start)
    while at >= 0:
        if rest := text[at + len(separator) :]:
            yield rest
        at = text.find(separator, at + 1)
