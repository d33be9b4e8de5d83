"""
A profile made ready to read records: where each value is found, in one walk over a record.

The walk goes over the keys that a record has, not over the places where a field could be, so its
cost does not grow with the number of spellings.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from service.events import TOOL_KINDS, Kind, Outcome
from service.ingest.jsontext import loads
from service.ingest.profiles import Path, Profile
from service.names import clean

_LIMIT: Final = 2**63
_OUTCOMES: Final = {
    "tombstone": Outcome.TOMBSTONE,
    "unknown tool": Outcome.UNKNOWN_TOOL,
    "unknown": Outcome.UNKNOWN_TOOL,
    "redirected": Outcome.REDIRECTED,
    "redirect": Outcome.REDIRECTED,
    "succeeded": Outcome.SUCCEEDED,
    "success": Outcome.SUCCEEDED,
}
_STDIO: Final = frozenset({"stdio", "pipe", "true"})
_QUOTES: Final = "'\"`‘’“”"


def text_of(value: object) -> str | None:
    """
    Return a scalar as canonical text without NUL and lone surrogates; None for blank text, null,
    lists and objects.

    A float that is a whole number reads as that number, so that a shipper may turn 7 into 7.0; a
    whole number beyond 64 bits reads as the float nearest to it.
    """
    if type(value) is str:
        text = value if value.isascii() and "\0" not in value else clean(value)
        return None if not text or text.isspace() else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -_LIMIT <= value < 2 * _LIMIT else _float_text(value)
    return _float_text(value) if isinstance(value, float) else None


def _float_text(value: float) -> str | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    if abs(number) < 2**53 and number == int(number):
        return str(int(number))
    return repr(number) if abs(number) < float("inf") else None


def number_of(value: object) -> int | None:
    """Return a whole number of 0 to 2^63-1, also where it is written as text or float."""
    text = text_of(value)
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 19:
        return None
    number = int(text)
    return number if number < _LIMIT and not isinstance(value, bool) else None


def names_of(value: object) -> tuple[str, ...] | None:
    """Return a list's texts, or the one text; None where neither is there."""
    if isinstance(value, list):
        return tuple(text for item in value if isinstance(item, str) and (text := text_of(item)))
    return (text,) if isinstance(value, str) and (text := text_of(value)) else None


def _line_of(value: object) -> str | None:
    return text_of(value) if isinstance(value, str) else None


def _outcome_of(value: object) -> Outcome | None:
    text = text_of(value)
    return _OUTCOMES.get(text.lower().replace("_", " ")) if text else None


def _stdio_of(value: object) -> bool | None:
    text = text_of(value)
    return text.lower() in _STDIO if text else None


def _as_is(value: object) -> object:
    return value


_READ: Final[dict[str, Callable[[object], object]]] = {
    "time": _as_is,
    "sent": _as_is,
    "message": _line_of,
    "method": _line_of,
    "error": _line_of,
    "replaced_by": names_of,
    "ttl_ms": number_of,
    "listed_count": number_of,
    "outcome": _outcome_of,
    "stdio": _stdio_of,
}

Values = dict[str, Any]
"""Field → value, as Event holds it; a field without one is missing."""


class _Node:
    """A place in a record: the fields whose value may stand here, and the places below."""

    __slots__ = ("below", "here", "json")

    def __init__(self) -> None:
        self.here: list[tuple[str, int, Callable[[object], object]]] = []
        self.below: dict[str, _Node] = {}
        self.json = False
        """Whether the places below may also stand in a JSON text that is here."""


class Extractor:
    """Reads records of one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._root = _Node()
        for field, paths in sorted(profile.paths.items()):
            for rank, path in enumerate(paths):
                self._add(field, rank, path)
        for path in profile.json:
            self._node(path).json = True
        self._both = profile.both
        self._messages = profile.messages
        self._methods = profile.methods
        self._unknown = re.compile(
            "|".join(_pattern(text) for text in profile.unknown_tool) or "$."
        )

    def _add(self, field: str, rank: int, path: Path) -> None:
        self._node(path).here.append((field, rank, _READ.get(field, text_of)))

    def _node(self, path: Path) -> _Node:
        node = self._root
        for key in path:
            node = node.below.setdefault(key, _Node())
        return node

    def lacks(self, record: dict[str, Any]) -> Path | None:
        """Return the first required place where *record* holds nothing, or None."""
        for path in self.profile.requires:
            value: Any = record
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is None:
                return path
        return None

    def values(self, record: dict[str, Any]) -> tuple[Values, dict[str, int]]:
        """Return what *record* holds and, for each field, the rank of the path it came from."""
        values: Values = {}
        ranks: dict[str, int] = {}
        self._walk(self._root.below, record, values, ranks)
        return values, ranks

    def _walk(
        self, below: dict[str, _Node], record: dict[str, Any], values: Values, ranks: dict[str, int]
    ) -> None:
        for key, value in record.items():
            node = below.get(key)
            if node is None or value is None:
                continue
            for field, rank, read in node.here:
                if ranks.get(field, rank) < rank:
                    continue
                found = read(value)
                if found is not None:
                    values[field] = found
                    ranks[field] = rank
            if node.json and isinstance(value, str):
                value = _object_in(value)
            if node.below and isinstance(value, dict):
                self._walk(node.below, value, values, ranks)

    def kind(self, values: Values) -> Kind | None:
        """
        Return what happened, or None where the profile does not say; the tool that a text names
        and a greeting tool are taken into account, and added to *values*.

        A message and a method that mean something together count first, then an exact message, then
        an unknown-tool text, and then a method. A call whose error says that the tool is not known is
        an unknown call; one that failed otherwise is a call of a live tool.
        """
        message = values.get("message")
        kind = self._both.get(f"{message} {values.get('method')}") if self._both else None
        if kind is None and message is not None:
            kind = self._messages.get(message)
            if kind is None and self._names_unknown(message, values):
                return Kind.UNKNOWN_CALL
            if kind is None and message in self.profile.ignored:
                return None
        if kind is None:
            kind = self._methods.get(values.get("method", ""), self.profile.kind)
        if kind is Kind.CALL:
            error = values.get("error")
            if error is not None and self._names_unknown(error, values):
                return Kind.UNKNOWN_CALL
            if values.get("tool") in self.profile.greeting_tools:
                return Kind.HELLO
        return kind

    def _names_unknown(self, text: str, values: Values) -> bool:
        found = self._unknown.fullmatch(text)
        if found is None:
            return False
        captured = next(group for group in found.groups() if group is not None)
        if name := captured.strip(_QUOTES):
            values.setdefault("tool", name)
        return True

    def ignores(self, values: Values) -> bool:
        """Say whether a record that is no event to this profile is none to any other."""
        return values.get("message") in self.profile.ignored

    def complete(self, kind: Kind, values: Values) -> bool:
        """Say whether nothing is missing that an event of this kind needs."""
        return kind not in TOOL_KINDS or "tool" in values

    def key_fields(self, values: Values) -> tuple[tuple[str, str], ...]:
        """Return (name, canonical text) of the key fields that are there, sorted by name."""
        return tuple([(n, str(values[n])) for n in self.profile.key_fields if n in values])


def _pattern(text: str) -> str:
    """
    The expression for one unknown-tool text; the tool's name is its only group.

    A name has no white space, so that `Tool call for user not found` names no tool. The prefixes
    that SDKs put in front of an error are seen through.
    """
    before, after = (re.escape(part) for part in text.split("{tool}"))
    return rf"(?:\w*Error: )?(?:MCP error -?\d+: ){{0,3}}{before}(\S{{1,300}}?){after}\.?"


def _object_in(text: str) -> object:
    """What a JSON text holds; None where it is broken, cut, or no object."""
    if not text.startswith("{"):
        return None
    try:
        return loads(text.encode(errors="replace"))
    except ValueError:
        return None
