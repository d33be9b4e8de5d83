"""What is wrong with a catalogue, by itself and beside what a server lists and what lines say."""

import re
from collections.abc import Collection, Iterator, Mapping
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
]
Weight = Literal["wrong", "look_at"]


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


def lint(known: Known) -> list[Fault]:
    """Every fault, by name and rule."""
    found: list[Fault] = []
    for name, facts in known.entries.items():
        found += _replacements(name, known)
        found += _message(name, facts, known)
        found += _entry(name, known)
    found += _uncatalogued(known)
    found += _unaccounted(known)
    return sorted(found, key=lambda fault: (fault.name, fault.rule, fault.others))


def chain(name: str, replaced_by: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], bool]:
    """
    What replaces a name in the end, sorted, and whether a way to it comes back to itself.

    >>> chain("a", {"a": ("b",), "b": ("c", "a"), "d": ()})
    (('c',), True)
    """
    ends: set[str] = set()
    cycle = False
    seen = {name}
    waiting = list(replaced_by.get(name, ()))
    while waiting:
        other = waiting.pop()
        if other not in replaced_by:
            ends.add(other)
        elif other == name:
            cycle = True
        elif other not in seen:
            seen.add(other)
            waiting += replaced_by[other]
    return tuple(sorted(ends)), cycle


def _replacements(name: str, known: Known) -> Iterator[Fault]:
    if chain(name, known.replaced_by)[1]:
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
                ends = chain(other, known.replaced_by)[0]
                to = f"name {', '.join(ends)} instead" if ends else "nothing replaces that one"
                yield Fault(
                    rule="replacement_retired",
                    weight="wrong",
                    name=name,
                    others=(other, *ends),
                    says=f"its replacement {other} is itself retired; {to}",
                )
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
