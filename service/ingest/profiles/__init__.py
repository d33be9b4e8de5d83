"""
Profiles: how one logger's records look. They are data, one TOML file a logger.

A profile says which places (`requires`) its records have, under which places (`under`) the usual
spellings of fields are looked for, where the rest is (`paths`), which fields tell events apart
(`key_fields`), and which messages and methods are which kind (`kinds`, on top of the shared table).

It is for JSON unless `format` names a form of text; in text, only keys of `head` may stand in front of what
says the kind.

A place is dotted text, or a list of keys where a key has a dot in it; alternatives are a list of
places: `tool = ["data.tool", ["attributes", "gen_ai.tool.name"]]`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any, Final

from service.errors import LastCallError
from service.events import Kind
from service.ingest.textlines import TEXTS, Format

Path = tuple[str, ...]
"""Keys from the record's top down to a value."""

KEY_FIELDS: Final = (
    "address", "client", "hostname", "listed_count", "pid", "principal", "request_id", "session",
    "tool", "trigger", "version",
)  # fmt: skip
"""What may tell one event from another, sorted; time and kind always do."""

FIELDS: Final = frozenset(KEY_FIELDS) | {
    "time", "message", "method", "user_agent", "protocol_version", "last_release", "replaced_by",
    "tombstone", "outcome", "ttl_ms", "server", "error", "stdio",
}  # fmt: skip
"""Every field that a path can be given for."""

_SHARED: Final = "shared.toml"
_KEYS: Final = {
    "name", "order", "format", "head", "headers", "requires", "under", "key_fields", "paths", "kinds", "stdio",
}  # fmt: skip
_KIND_KEYS: Final = {"messages", "methods", "unknown_tool", "greeting_tools"}
_KINDS: Final = {kind.word: kind for kind in Kind}


class BadProfile(LastCallError):
    """A profile's TOML file cannot be used; the message names the file and the key."""

    title = "Profile cannot be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One logger's records. Alternatives stand in the order in which they are tried."""

    name: str
    requires: tuple[Path, ...]
    """Places that hold something other than null in every record of this logger."""
    paths: Mapping[str, tuple[Path, ...]]
    """Field → where it is; the first that holds something counts."""
    key_fields: tuple[str, ...]
    """The fields that tell events apart, sorted; frozen at release."""
    messages: Mapping[str, Kind]
    methods: Mapping[str, Kind]
    unknown_tool: tuple[str, ...]
    """Texts that say that a tool is not known, with `{tool}` where its name stands."""
    greeting_tools: frozenset[str] = frozenset()
    """Tools a call of which is a hello."""
    stdio: bool | None = None
    """Whether every record comes from a stdio server; None: the field `stdio` says so."""
    formats: frozenset[Format] = frozenset({"json"})
    """The forms of records that it reads."""
    head: frozenset[str] = frozenset()
    """Keys of text that may stand in front of the message or method: what the logger writes by itself.
    Behind any other key, which may hold a user's words, neither counts."""
    headers: bool = False
    """Whether its texts are values of HTTP headers."""


def load_profiles(extra: Sequence[FilePath] = ()) -> tuple[Profile, ...]:
    """
    Return the profiles in the order in which they are tried: *extra* files first, as given, then
    the built-in ones.

    Raises:
        BadProfile: A file cannot be read, is not TOML, or has a key or value of no use.
    """
    own = []
    for path in extra:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadProfile(f"{path}: cannot be read as UTF-8 text ({error})") from error
        own.append(read_profile(text, str(path)))
    return (*own, *_built_in())


def read_profile(text: str, source: str) -> Profile:
    """
    Read one profile from TOML; *source* names it in errors.

    Raises:
        BadProfile: Not TOML, or a key or value of no use.
    """
    return _Reader(_parse(text, source), _shared(), source).profile()


@lru_cache(maxsize=1)
def _built_in() -> tuple[Profile, ...]:
    found = []
    for entry in files(__name__).iterdir():
        if entry.name.endswith(".toml") and entry.name != _SHARED:
            text = entry.read_text(encoding="utf-8")
            number = re.match(r"\d+", entry.name)
            order = _parse(text, entry.name).get("order", int(number[0]) if number else 1000)
            found.append((order, entry.name, read_profile(text, entry.name)))
    return tuple(profile for _, _, profile in sorted(found, key=lambda item: item[:2]))


@lru_cache(maxsize=1)
def _shared() -> dict[str, Any]:
    return _parse((files(__name__) / _SHARED).read_text(encoding="utf-8"), _SHARED)


def _parse(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadProfile(f"{source}: not TOML: {error}") from error


class _Reader:
    """Turns one parsed TOML file into a Profile and names what is wrong with it."""

    def __init__(self, table: dict[str, Any], shared: dict[str, Any], source: str) -> None:
        self.table = table
        self.shared = shared
        self.source = source

    def fail(self, key: str, wish: str) -> BadProfile:
        return BadProfile(f"{self.source}: `{key}` {wish}")

    def known(self, table: dict[str, Any], prefix: str, allowed: set[str] | frozenset[str]) -> None:
        for key in table:
            if key not in allowed:
                wish = f"is not a key here; use one of {', '.join(sorted(allowed))}"
                raise self.fail(prefix + key, wish)

    def profile(self) -> Profile:
        self.known(self.table, "", _KEYS)
        name = self.table.get("name")
        if not isinstance(name, str) or not name.strip():
            raise self.fail("name", "must be a text that names the logger")
        if not isinstance(self.table.get("order", 0), int):
            raise self.fail("order", "must be a whole number; lower ones are tried first")
        stdio = self.table.get("stdio")
        if stdio is not None and not isinstance(stdio, bool):
            raise self.fail("stdio", "must be true or false; a place goes to `paths.stdio`")
        kinds = self.part(self.table, "kinds", "")
        self.known(kinds, "kinds.", _KIND_KEYS)
        formats = self.formats()
        return Profile(
            name=name,
            requires=self.places(self.table.get("requires", []), "requires"),
            paths=self.paths(),
            key_fields=self.key_fields(),
            messages=self.kinds("messages", kinds),
            methods=self.kinds("methods", kinds),
            unknown_tool=self.unknown_tool(kinds),
            greeting_tools=frozenset(self.texts(kinds, "greeting_tools")),
            stdio=stdio,
            formats=formats,
            head=self.head(formats),
            headers=self.headers(),
        )

    def formats(self) -> frozenset[Format]:
        given = self.table.get("format", "json")
        names = given if isinstance(given, list) else [given]
        known: tuple[Format, ...] = ("json", *TEXTS)
        chosen = frozenset(each for each in known if each in names)
        if not chosen or any(name not in known for name in names):
            raise self.fail("format", f"must be one of {', '.join(known)}, or a list of them")
        return chosen

    def head(self, formats: frozenset[Format]) -> frozenset[str]:
        if "head" not in self.table:
            return frozenset(self.shared["head"])
        keys = self.table["head"]
        if not isinstance(keys, list) or not all(isinstance(key, str) and key for key in keys):
            raise self.fail("head", "must be a list of keys")
        if formats == {"json"}:
            raise self.fail(
                "head", "is for text, whose keys have an order; give a `format` of text"
            )
        return frozenset(keys)

    def headers(self) -> bool:
        given = self.table.get("headers", False)
        if not isinstance(given, bool):
            raise self.fail("headers", "must be true or false")
        return given

    def part(self, table: dict[str, Any], key: str, prefix: str) -> dict[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.fail(prefix + key, "must be a table")
        return value

    def place(self, value: object, key: str) -> Path:
        """A text is split at its dots; a list is taken as it is. An empty text is the top."""
        if isinstance(value, str):
            parts = tuple(value.split(".")) if value else ()
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            parts = tuple(value)
        else:
            raise self.fail(key, "must be dotted text or a list of keys")
        if any(not part for part in parts):
            raise self.fail(key, "has an empty part between dots")
        return parts

    def places(self, value: object, key: str) -> tuple[Path, ...]:
        items = value if isinstance(value, list) else [value]
        return tuple(self.place(item, key) for item in items)

    def paths(self) -> dict[str, tuple[Path, ...]]:
        own = self.part(self.table, "paths", "")
        self.known(own, "paths.", FIELDS)
        merged = {field: self.places(value, f"paths.{field}") for field, value in own.items()}
        for field, paths in merged.items():
            if () in paths:
                raise self.fail(f"paths.{field}", "must not be empty")
        for base in self.places(self.table.get("under", []), "under"):
            for field, spellings in self.shared["spellings"].items():
                usual = tuple((*base, *spelling.split(".")) for spelling in spellings)
                before = merged.get(field, ())
                merged[field] = before + tuple(path for path in usual if path not in before)
        if "message" not in merged and "method" not in merged:
            raise self.fail("paths", "must say where `message` or `method` is")
        return merged

    def key_fields(self) -> tuple[str, ...]:
        names = self.texts(self.table, "key_fields") or KEY_FIELDS
        for name in names:
            if name not in KEY_FIELDS:
                wish = f"may hold {', '.join(KEY_FIELDS)}, not {name!r}"
                raise self.fail("key_fields", wish)
        return tuple(sorted(set(names)))

    def texts(self, table: dict[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, self.shared["kinds"].get(key, []))
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fail(key, "must be a list of texts")
        return tuple(value)

    def kinds(self, key: str, own: dict[str, Any]) -> dict[str, Kind]:
        """The shared table with the profile's own on top; `none` takes an entry away."""
        words = {**self.shared["kinds"][key], **self.part(own, key, "kinds.")}
        for text, word in words.items():
            if word != "none" and word not in _KINDS:
                wish = f"must be one of {', '.join(_KINDS)} or none, not {word!r}"
                raise self.fail(f'kinds.{key}."{text}"', wish)
        return {text: _KINDS[word] for text, word in words.items() if word != "none"}

    def unknown_tool(self, kinds: dict[str, Any]) -> tuple[str, ...]:
        patterns = self.texts(kinds, "unknown_tool")
        for pattern in patterns:
            if pattern.count("{tool}") != 1 or len(pattern) < len("{tool}") + 4:
                raise self.fail("kinds.unknown_tool", "must hold {tool} once, and words around it")
        return patterns
