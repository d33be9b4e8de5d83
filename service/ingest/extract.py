"""
A profile made ready to read records: where each value is found, in one walk over a record.

The walk goes over the keys that a record has, not over the places where a field could be, so its
cost does not grow with the number of spellings. Records of text are flat: a place is one key with dots.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any, Final

from service.events import TOOL_KINDS, Kind, Outcome
from service.ingest.jsontext import loads
from service.ingest.profiles import Path, Profile
from service.ingest.textlines import Format, Text
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
_ENCODED: Final = re.compile(r"=\?base64\?([A-Za-z0-9+/]*={0,2})\?=")
_PEER: Final = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?|\[([^\[\]]+)\](?::\d{1,5})?")
_LISTED: Final = re.compile(r"[^\s,'\"\[\]]+")
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


def listed_in(value: object) -> tuple[str, ...] | None:
    """
    Return the texts of a list that was printed, as Go or Python do it, or the one text; None where there
    is none.

    >>> listed_in("[a b]"), listed_in("['a', 'b']"), listed_in("a"), listed_in("[]")
    (('a', 'b'), ('a', 'b'), ('a',), ())
    """
    text = text_of(value)
    if text is None:
        return None
    if text.startswith("[") and text.endswith("]"):
        return tuple(_LISTED.findall(text))
    return (text,)


def header_of(value: object) -> str | None:
    """
    Return the value of an HTTP header, which may be a list of one; None where there is none, or several.

    `-` is what proxies write for none. `=?base64?…?=` is how MCP sends what is no plain ASCII.

    >>> header_of(["=?base64?Y2Fmw6k=?="]), header_of("-")
    ('café', None)
    """
    text = text_of(value[0] if isinstance(value, list) and len(value) == 1 else value)
    if text is None or text == "-":
        return None
    if found := _ENCODED.fullmatch(text):
        try:
            return text_of(b64decode(found[1], validate=True).decode())
        except ValueError:
            return text
    return text


def peer_of(value: object) -> str | None:
    """
    Return the address that a proxy logged, without its port, which is another for each connection.

    >>> peer_of("203.0.113.7:51234"), peer_of("[2001:db8::7]:443"), peer_of("2001:db8::7")
    ('203.0.113.7', '2001:db8::7', '2001:db8::7')
    """
    text = header_of(value)
    found = _PEER.fullmatch(text) if text else None
    return (found[1] or found[2]) if found else text


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

_TEXT_READ: Final = {**_READ, "replaced_by": listed_in}
_PROXY: Final[dict[str, Callable[[object], object]]] = {
    **_READ,
    **dict.fromkeys(("message", "method", "error"), header_of),
    "address": peer_of,
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
    """Reads records of one profile that have one form."""

    def __init__(self, profile: Profile, format_: Format = "json") -> None:
        self.profile = profile
        self._text = text = format_ != "json"
        self._led = text and format_ != "access log"
        self._root = _Node()
        read = _PROXY if profile.headers else _TEXT_READ if text else _READ
        other = header_of if profile.headers else text_of
        for field, paths in sorted(profile.paths.items()):
            for rank, path in enumerate(paths):
                self._add(field, rank, self._place(path), read.get(field, other))
        for path in profile.json:
            self._node(path).json = True
        self._both = profile.both
        self._requires = tuple(map(self._place, profile.requires))
        self._keys = frozenset(self._root.below).union(path[0] for path in self._requires)
        self._saying = frozenset(
            self._place(path)[0]
            for field in ("message", "method")
            for path in profile.paths.get(field, ())
        )
        self._messages = profile.messages
        self._methods = profile.methods
        self._unknown = re.compile(
            "|".join(_pattern(text) for text in profile.unknown_tool) or "$."
        )

    def unread(self, text: Text) -> str | None:
        """Say what could not be read of a line of text for sure, if it could matter; None where nothing."""
        if text.rest:
            return f"no key=value at {text.rest[:40]!r}"
        twice = sorted(text.twice & self._keys)
        return f"{twice[0]} stands there twice, and differs" if twice else None

    def _place(self, path: Path) -> Path:
        return (".".join(path),) if self._text else path

    def _add(self, field: str, rank: int, path: Path, read: Callable[[object], object]) -> None:
        self._node(path).here.append((field, rank, read))

    def _node(self, path: Path) -> _Node:
        node = self._root
        for key in path:
            node = node.below.setdefault(key, _Node())
        return node

    def lacks(self, record: dict[str, Any]) -> Path | None:
        """Return the first required place where *record* holds nothing, or None."""
        for path, place in zip(self._requires, self.profile.requires, strict=True):
            value: Any = record
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is None:
                return place
        return None

    def values(self, record: dict[str, Any]) -> tuple[Values, dict[str, int]]:
        """Return what *record* holds and, for each field, the rank of the path it came from."""
        values: Values = {}
        ranks: dict[str, int] = {}
        if self._led:
            record = self._leading(record)
        self._walk(self._root.below, record, values, ranks)
        return values, ranks

    def late(self, record: dict[str, Any]) -> tuple[str, str] | None:
        """
        Return the first message or method that does not count, and the key in front of it for which it does
        not: what stands behind a key that may hold a user's words could be those words. None where there
        is none.
        """
        before = None
        if self._led:
            for key in record:
                if before is not None and key in self._saying:
                    return key, before
                if before is None and key not in self.profile.head:
                    before = key
        return None

    def _leading(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record without the messages and methods that do not count."""
        kept = {}
        led = True
        for key, value in record.items():
            if led or key not in self._saying:
                kept[key] = value
                led = led and key in self.profile.head
        return kept

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
        message, method = values.get("message"), values.get("method", "")
        ignored = self.profile.ignored
        kind = self._together(values)
        if kind is None and message is not None:
            kind = self._messages.get(message)
            if kind is None and self._names_unknown(message, values):
                return Kind.UNKNOWN_CALL
        if kind is None and (message in ignored or method in ignored):
            return None
        if kind is None:
            kind = self._methods.get(method, self.profile.kind)
        if kind is Kind.CALL:
            error = values.get("error")
            if error is not None and self._names_unknown(error, values):
                return Kind.UNKNOWN_CALL
            if values.get("tool") in self.profile.greeting_tools:
                return Kind.HELLO
        return kind

    def by_message(self, values: Values) -> bool:
        """Say whether the message says the kind, alone or together with the method, and not the method."""
        alone = {key: value for key, value in values.items() if key != "method"}
        return self._together(values) is not None or self.kind(alone) is not None

    def _together(self, values: Values) -> Kind | None:
        """What the message and the method mean together; None where nothing."""
        if not self._both:
            return None
        return self._both.get(f"{values.get('message')} {values.get('method')}")

    def _names_unknown(self, text: str, values: Values) -> bool:
        found = self._unknown.fullmatch(text)
        if found is None:
            return False
        captured = next(group for group in found.groups() if group is not None)
        if name := captured.strip(_QUOTES):
            values.setdefault("tool", name)
        return True

    def closes(self, kind: Kind | None, values: Values) -> bool:
        """
        Say whether no other profile is asked about a record of which this one makes no event: one of a message
        or method that counts as nothing; a proxy's record of a request, whose method was a stranger's to choose.
        """
        ignored = self.profile.ignored
        if values.get("message") in ignored:
            return True
        method = values.get("method")
        return kind is None and method is not None and (self.profile.headers or method in ignored)

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
