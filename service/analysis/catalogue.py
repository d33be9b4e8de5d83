"""
Which retired name a logged spelling stands for.

>>> resolve(["mcp__maps__route", "route", "mcp__maps__map"], learned={"route"})
{'mcp__maps__route': 'route', 'route': 'route'}
"""

from collections.abc import Collection, Iterable, Iterator

_SEPARATORS = ".:/"


def resolve(spellings: Iterable[str], learned: Collection[str]) -> dict[str, str]:
    """
    Map each spelling that stands for a retired name to that name; others are absent.

    Args:
        spellings: Names as logged, of one server.
        learned: The spellings that a stale call of that server names.

    A spelling with a gateway prefix stands for the rest where the rest is learned, the longest such
    rest first; otherwise a learned spelling stands for itself. Case-sensitive.
    """
    known = frozenset(learned)
    named: dict[str, str] = {}
    for spelling in spellings:
        name = _name_of(spelling, known)
        if name is not None:
            named[spelling] = name
    return named


def _name_of(spelling: str, learned: frozenset[str]) -> str | None:
    name = spelling if spelling in learned else None
    rest: str | None = spelling
    while rest is not None:
        rest = max((r for r in _rests(rest) if r in learned), key=len, default=None)
        name = rest if rest is not None else name
    return name


def _rests(spelling: str) -> Iterator[str]:
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
