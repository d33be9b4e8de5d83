"""What is wrong with a catalogue, by itself and beside what a server lists and what lines say."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from service.entries import Facts

Rule = Literal[
    "replacement_retired",
    "replacement_cycle",
    "replacement_unknown",
    "message_incomplete",
    "still_listed",
    "not_catalogued",
    "unaccounted",
    "never_called",
    "not_dated",
]
Weight = Literal["wrong", "look_at"]
ENDS_SHOWN = 5
"""How many of the names that replace a replacement in the end are told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a name. `others` are the names it is about, `says` a sentence with what would mend it."""

    rule: Rule
    weight: Weight
    name: str
    others: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of one server; hidden names are nowhere in it."""

    entries: Mapping[str, Facts]
    """What the catalogue says of each of its names."""
    replaced_by: Mapping[str, tuple[str, ...]]
    """Of every retired name, catalogued or not, what replaces it."""
    called: Collection[str]
    """The retired names that were ever called."""
    listed: Collection[str] | None
    """The names in the latest snapshot; None where there is none."""
    ever: Collection[str] | None
    """The list of all names that the server ever had; None where there is none."""
    working: Collection[str] = field(default=())
    """Names that ordinary calls spell."""
    undated: Mapping[str, int] = field(default_factory=dict)
    """Ordinary calls before its entry to each name of which nothing else says since when it is retired."""


def lint(known: Known) -> list[Fault]:
    """Every fault, by name and rule."""
    found: list[Fault] = []
    ending, cyclic = ends(known.replaced_by), cycles(known.replaced_by)
    for name, facts in known.entries.items():
        found += _replacements(name, known, ending, cyclic)
        found += _message(name, facts, known)
        found += _entry(name, known)
    found += _uncatalogued(known)
    found += _unaccounted(known)
    return sorted(found, key=lambda fault: (fault.name, fault.rule, fault.others))


def ends(
    replaced_by: Mapping[str, tuple[str, ...]], most: int = ENDS_SHOWN + 1
) -> dict[str, list[str]]:
    """
    What replaces each name in the end, over however many retired ones: the first *most* in the alphabet.

    >>> ends({"a": ("b",), "b": ("c", "a"), "d": ()})
    {'a': ['c'], 'b': ['c'], 'd': []}
    """
    found: dict[str, list[str]] = {name: [] for name in replaced_by}
    before = _before(replaced_by)
    # From each end back to whatever leads there. A name that has enough is not passed: whatever leads to
    # it has as many, so that no name is passed more than *most* times.
    for end in sorted(before.keys() - replaced_by.keys()):
        waiting = list(before[end])
        while waiting:
            name = waiting.pop()
            mine = found[name]
            if len(mine) < most and mine[-1:] != [end]:
                mine.append(end)
                waiting += before.get(name, ())
    return found


def cycles(replaced_by: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """
    The names whose replacements lead back to them: the strong components, by Kosaraju's two passes.

    >>> sorted(cycles({"a": ("b",), "b": ("c", "a"), "d": ("a", "d"), "e": ("d",)}))
    ['a', 'b', 'd']
    """
    before = _before(replaced_by)
    found: set[str] = set()
    seen: set[str] = set()
    for start in reversed(_finished(replaced_by)):
        if start in seen:
            continue
        seen.add(start)
        together, waiting = {start}, [start]
        while waiting:
            for name in before.get(waiting.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    together.add(name)
                    waiting.append(name)
        if len(together) > 1 or start in replaced_by[start]:
            found |= together
    return frozenset(found)


def _finished(replaced_by: Mapping[str, tuple[str, ...]]) -> list[str]:
    """All names, each after those that it leads to, as far as these do not lead back to it."""
    order: list[str] = []
    seen: set[str] = set()
    for start in replaced_by:
        path = [start] if start not in seen else []
        seen.add(start)
        left = {start: iter(replaced_by[start])}
        while path:
            for other in left[path[-1]]:
                if other in replaced_by and other not in seen:
                    seen.add(other)
                    left[other] = iter(replaced_by[other])
                    path.append(other)
                    break
            else:
                order.append(path.pop())
    return order


def _before(replaced_by: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """Name → the names that it replaces."""
    found: dict[str, list[str]] = {}
    for name, others in replaced_by.items():
        for other in others:
            found.setdefault(other, []).append(name)
    return found


def _replacements(
    name: str, known: Known, ending: Mapping[str, list[str]], cyclic: frozenset[str]
) -> Iterator[Fault]:
    if name in cyclic:
        yield Fault(
            rule="replacement_cycle",
            weight="wrong",
            name=name,
            others=(),
            says="its replacements lead back to itself; name a tool that is listed",
        )
    for other in known.replaced_by.get(name, ()):
        if other in known.replaced_by:
            if other != name:
                yield _retired(name, other, ending[other])
        elif known.listed is not None and other not in known.listed:
            yield Fault(
                rule="replacement_unknown",
                weight="wrong",
                name=name,
                others=(other,),
                says=f"its replacement {other} is not listed by the server",
            )
        elif known.listed is None and other not in known.working:
            yield Fault(
                rule="replacement_unknown",
                weight="look_at",
                name=name,
                others=(other,),
                says=f"nobody has called its replacement {other} yet; a snapshot would tell whether it "
                "is listed",
            )


def _retired(name: str, other: str, ending: Sequence[str]) -> Fault:
    shown = ending[:ENDS_SHOWN]
    some = "one of many, such as " if len(ending) > len(shown) else ""
    to = f"name {some}{', '.join(shown)} instead" if shown else "nothing replaces that one"
    return Fault(
        rule="replacement_retired",
        weight="wrong",
        name=name,
        others=(other, *shown),
        says=f"its replacement {other} is itself retired; {to}",
    )


def _message(name: str, facts: Facts, known: Known) -> Iterator[Fault]:
    if facts.message is None:
        return
    wanted = (name, *known.replaced_by.get(name, ()))
    missing = tuple(each for each in wanted if not _names(facts.message, each))
    if missing:
        yield Fault(
            rule="message_incomplete",
            weight="wrong",
            name=name,
            others=missing,
            says=f"its message does not name {', '.join(missing)}, so it cannot stand on its own",
        )


def _names(text: str, name: str) -> bool:
    """Whether a text has a name as a word of its own."""
    if name not in text:
        return False
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def _entry(name: str, known: Known) -> Iterator[Fault]:
    if known.listed is not None and name in known.listed:
        yield Fault(
            rule="still_listed",
            weight="wrong",
            name=name,
            others=(),
            says="it is catalogued as retired, and the server lists it",
        )
    if name not in known.called:
        yield Fault(
            rule="never_called",
            weight="look_at",
            name=name,
            others=(),
            says="no line calls it; is the name spelled as it was listed?",
        )
    if known.undated.get(name):
        yield Fault(
            rule="not_dated",
            weight="look_at",
            name=name,
            others=(),
            says=f"{known.undated[name]:,} ordinary calls came before it was entered, and count as calls to a "
            "name that worked; say since when it is retired (retired_at)",
        )


def _uncatalogued(known: Known) -> Iterator[Fault]:
    for name in known.replaced_by.keys() - known.entries.keys():
        yield Fault(
            rule="not_catalogued",
            weight="look_at",
            name=name,
            others=(),
            says="lines call it retired, and the catalogue does not know it; enter it, or hide it",
        )


def _unaccounted(known: Known) -> Iterator[Fault]:
    """The list of all names holds every name, and each of its names is listed or retired."""
    if known.ever is None or known.listed is None:
        return
    for name in set(known.ever) - set(known.listed) - known.replaced_by.keys():
        yield Fault(
            rule="unaccounted",
            weight="wrong",
            name=name,
            others=(),
            says="it was a name once, and is neither listed nor catalogued as retired",
        )
    for name in (set(known.listed) | known.entries.keys()) - set(known.ever):
        yield Fault(
            rule="unaccounted",
            weight="wrong",
            name=name,
            others=(),
            says="the list of all names leaves it out; add it there",
        )
