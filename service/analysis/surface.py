"""
Two lists of tools of one server compared: what breaks a client that holds a copy of the earlier one.

A tool surface may gain, never lose, and never change meaning. What is certain to break a call is
`breaks`; what somebody has to judge, since it is text, is `look_at`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from service.analysis.schemas import SIZE_LIMIT, Argument, arguments, arguments_of_both, narrowed

Rule = Literal[
    "name_lost",
    "argument_required",
    "argument_changed",
    "dated_description",
    "annotation_changed",
]
Weight = Literal["breaks", "look_at"]
Tool = Mapping[str, Any]

HINTS = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""The annotations that say what a call may do, with what the protocol takes them for where they are
missing."""
_SAFE = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}

_MONTH = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b"
    rf"|\b(?:\d{{1,2}} )?(?:{_MONTH})\.? (?:\d{{1,2}},? )?(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:e\.g|example|such as|like|format|between|from|since|until)[^.]{0,30}$", re.IGNORECASE
)
"""What stands before a date that is an example."""
_BEFORE = 50
"""No more characters than that are before it."""
_DATED = re.compile(
    r"\bas of (?:today|now|v?\d[\w.]*)"
    r"|\b(?:currently|presently|at present|at the moment|right now|for now|for the time being|"
    r"until further notice|temporarily|not yet|coming soon|no longer)\b"
    r"|(?<!\bas )\bsoon\b(?! as)"
    r"|\brecently (?:added|changed|introduced|moved|removed|renamed)\b"
    r"|\b(?:is|are|can|must|has|have|may) now\b"
    r"|\bnow (?:accepts?|also|available|deprecated|includes?|possible|requires?|returns?|supports?|"
    r"takes?|uses?|works?)\b"
    r"|\bwill be (?:added|available|changed|removed|renamed|supported)\b"
    r"|\b(?:supports?|offers?|covers?|there are|has|have|all) (?:all |over |about )?\d[\d,.]*\+? "
    r"(?:[\w-]+ )?[a-z][\w-]*s\b",
    re.IGNORECASE,
)
"""What reads as a fact of the day on which it was written: dates, words for now and soon, counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One thing that a cached copy does not know. `argument` is a path such as `stops[].at`; None where it
    is about the tool. `before` and `after` are text, None for what is not there.
    """

    rule: Rule
    weight: Weight
    tool: str
    argument: str | None
    before: str | None
    after: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Names that were lost and gained, each sorted; findings by rule, tool and argument."""

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    findings: tuple[Finding, ...]


_SIZE_LIMIT = 500_000
"""How much is read of all schemas of a list together."""
_ORDER: tuple[Rule, ...] = (
    "name_lost",
    "argument_required",
    "argument_changed",
    "annotation_changed",
    "dated_description",
)


def compare(before: Sequence[Tool], after: Sequence[Tool]) -> Compared:
    """Compare the tools of two listings, each as `tools/list` has them."""
    old, new = ({str(tool["name"]): tool for tool in tools} for tools in (before, after))
    lost, gained = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    found = [_lost(name) for name in lost]
    size = min(SIZE_LIMIT, _SIZE_LIMIT // max(len(old), len(new), 1))
    for name in sorted(old.keys() & new.keys()):
        found += _arguments(name, old[name], new[name], size)
        found += _annotations(name, old[name], new[name])
    read: dict[str, list[str]] = {}
    for name in sorted(new):
        found += _dated(name, new[name], size, read)
    found.sort(key=lambda f: (_ORDER.index(f.rule), f.tool, f.argument or ""))
    return Compared(tuple(lost), tuple(gained), tuple(found))


def _lost(name: str) -> Finding:
    return Finding(
        rule="name_lost",
        weight="breaks",
        tool=name,
        argument=None,
        before="listed",
        after=None,
        why="whoever holds the old list goes on calling this name, and is told that there is no such "
        "tool",
    )


def _arguments(name: str, old: Tool, new: Tool, size: int) -> Iterator[Finding]:
    """Rules two and three: arguments that must be given now, and those that mean something else."""
    before, after = arguments_of_both(old.get("inputSchema"), new.get("inputSchema"), size)
    yield from _text(name, None, _said(old.get("description")), _said(new.get("description")))
    for path in sorted(before.keys() | after.keys()):
        was, now = before.get(path), after.get(path)
        is_new = now is not None and now.required and not (was and was.required)
        if is_new and (was or _stood(path, before)):
            yield _required(name, path, was)
        if was is not None and (now or _stood(path, after)):
            yield from _meaning(name, path, was, now)


def _stood(path: str, among: Mapping[str, Argument]) -> bool:
    """Whether the object that an argument lies in is there, and says what its items are."""
    parent, dot, _ = path.rpartition(".")
    return (not dot or parent in among) and not path.endswith("[]")


def _required(name: str, path: str, was: Argument | None) -> Finding:
    return Finding(
        rule="argument_required",
        weight="breaks",
        tool=name,
        argument=path,
        before="optional" if was else None,
        after="required",
        why="a call by the old schema leaves it out, and is refused with an error about its own "
        "message",
    )


def _meaning(name: str, path: str, was: Argument, now: Argument | None) -> Iterator[Finding]:
    def changed(before: str | None, after: str | None, why: str) -> Finding:
        return Finding(
            rule="argument_changed",
            weight="breaks",
            tool=name,
            argument=path,
            before=before,
            after=after,
            why=why,
        )

    if now is None:
        yield changed(
            was.type_text,
            None,
            "a call by the old schema still sends it; nothing heeds it, or it is refused",
        )
        return
    for before, after in narrowed(was.schema, now.schema):
        why = "a value that the old schema allows is refused, or taken for something else"
        yield changed(before, after, why)
    if not now.required and was.default != now.default:
        why = "a call that leaves it out means something else than it did"
        yield changed(f"default {was.default}", f"default {now.default}", why)
    yield from _text(name, path, was.description, now.description)


def _text(name: str, path: str | None, before: str | None, after: str | None) -> Iterator[Finding]:
    """A text that says what a tool or an argument means; other words only, not other spaces."""
    if before is not None and after is not None and _plain(before) != _plain(after):
        yield Finding(
            rule="argument_changed",
            weight="look_at",
            tool=name,
            argument=path,
            before=before,
            after=after,
            why="if this means something else, callers with the old text send the old meaning and "
            "both sides report success",
        )


def _plain(text: str) -> str:
    """Words alone: case, spaces and punctuation change no meaning."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _said(text: Any) -> str | None:
    return text if isinstance(text, str) and text.strip() else None


def _annotations(name: str, old: Tool, new: Tool) -> Iterator[Finding]:
    """What a call may do to the world, as clients are told; they ask their users by it."""
    before, after = _hints(old), _hints(new)
    for hint in HINTS:
        if before[hint] == after[hint]:
            continue
        safer = after[hint] == _SAFE[hint]
        why = (
            "clients with the old list ask before calls that need it no more"
            if safer
            else "clients with the old list let calls pass that they would ask about now"
        )
        yield Finding(
            rule="annotation_changed",
            weight="look_at" if safer else "breaks",
            tool=name,
            argument=None,
            before=f"{hint} {json.dumps(before[hint])}",
            after=f"{hint} {json.dumps(after[hint])}",
            why=why,
        )


def _hints(tool: Tool) -> dict[str, bool]:
    """The annotations with what is missing; a tool that only reads neither destroys nor repeats harm."""
    given = tool.get("annotations")
    said = given if isinstance(given, dict) else {}
    hints = {
        hint: said[hint] if isinstance(said.get(hint), bool) else usual
        for hint, usual in HINTS.items()
    }
    if hints["readOnlyHint"]:
        hints |= {"destructiveHint": False, "idempotentHint": True}
    return hints


def _dated(name: str, tool: Tool, size: int, read: dict[str, list[str]]) -> Iterator[Finding]:
    """
    Rule five: descriptions are cached, so that they may only say what stays true. *read* keeps the
    phrases of each text: many arguments may refer to one.
    """
    texts: list[tuple[str | None, str | None]] = [(None, _said(tool.get("description")))]
    found = arguments(tool.get("inputSchema"), size)
    texts += [(path, found[path].description) for path in sorted(found)]
    for path, text in texts:
        if text is None:
            continue
        if text not in read:
            read[text] = _phrases(text)
        phrases = read[text]
        if phrases:
            yield Finding(
                rule="dated_description",
                weight="look_at",
                tool=name,
                argument=path,
                before=None,
                after="; ".join(phrases),
                why="this may be true today only, and copies of it are read for as long as clients "
                "keep them; say it in the result",
            )


def _phrases(text: str) -> list[str]:
    """What in a text was true on a day, in its order, each once; dates that are examples are not."""
    found = [(each.start(), each[0]) for each in _DATED.finditer(text)]
    for date in _DATE.finditer(text):
        start = date.start()
        if not _EXAMPLE.search(text[max(start - _BEFORE, 0) : start]):
            found.append((start, date[0]))
    return list(dict.fromkeys(phrase for _, phrase in sorted(found)))


class Similar:
    """
    Names among which those are found that may be what a lost one is called now. A guess.

    >>> Similar(["get-tiny-image", "echo"]).to("getTinyImage")
    ('get-tiny-image',)
    """

    def __init__(self, among: Sequence[str]) -> None:
        self._words = {name: _words(name) for name in among}
        self._named: dict[str, list[str]] = {}
        for name, found in self._words.items():
            for word in found:
                self._named.setdefault(word, []).append(name)

    def to(self, name: str) -> tuple[str, ...]:
        """
        At most three names that share at least half of all their words with this one, the likest first.
        Words that more than `_COMMON` names have say nothing of one of them: names that share no other
        word are not compared.
        """
        mine = _words(name)
        named = (self._named.get(word, ()) for word in mine)
        near = {other for others in named if len(others) <= _COMMON for other in others}
        shares = ((_share(mine, self._words[other]), other) for other in near)
        return tuple(other for _, other in sorted((-s, o) for s, o in shares if s >= 0.5)[:3])


_COMMON = 100


def _share(mine: frozenset[str], theirs: frozenset[str]) -> float:
    """Jaccard's index of two sets of words."""
    return len(mine & theirs) / len(mine | theirs)


def _words(name: str) -> frozenset[str]:
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return frozenset(re.findall(r"[^\W_]+", split.casefold()))
