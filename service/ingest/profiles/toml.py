"""Reads profiles from TOML, and says what is wrong with one."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from service.events import Kind, Outcome
from service.ingest.profiles.profile import FIELDS, KEY_FIELDS, BadProfile, Path, Profile
from service.ingest.textlines import TEXTS, Format

_T = TypeVar("_T")

_KEYS: Final = {
    "name", "order", "format", "head", "headers", "requires", "needle", "under", "json", "key_fields", "paths",
    "kind", "kinds", "outcome", "stdio",
}  # fmt: skip
_KIND_KEYS: Final = {"messages", "methods", "both", "inherit", "unknown_tool", "greeting_tools"}
_KINDS: Final = {kind.word: kind for kind in Kind}
_OUTCOMES: Final = {outcome.word: outcome for outcome in Outcome}
_NO_KIND: Final = ("none", "ignore")
_HASHED: Final = ("address", "principal", "session")


class Reader:
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
        requires = self.places(self.table.get("requires", []), "requires")
        paths = self.paths()
        formats = self.formats()
        return Profile(
            name=name,
            requires=requires,
            paths=paths,
            key_fields=self.key_fields(),
            messages=self.kinds("messages", kinds),
            methods=self.kinds("methods", kinds),
            both=self.both(kinds),
            ignored=self.ignored(kinds),
            kind=self.one_of("kind", _KINDS),
            needle=self.needle(requires),
            json=self.json(paths),
            outcome=self.one_of("outcome", _OUTCOMES),
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
        for key in ("json", "kind"):
            if key in self.table and chosen != {"json"}:
                raise self.fail(key, "is for JSON only; give no `format` of text with it")
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
        for name, paths in merged.items():
            if () in paths:
                raise self.fail(f"paths.{name}", "must not be empty")
        for base in self.places(self.table.get("under", []), "under"):
            for field, spellings in self.shared["spellings"].items():
                usual = tuple((*base, *spelling.split(".")) for spelling in spellings)
                before = merged.get(field, ())
                merged[field] = before + tuple(path for path in usual if path not in before)
        if "kind" not in self.table and "message" not in merged and "method" not in merged:
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
        """The shared table with the profile's own on top; `none` and `ignore` take an entry away."""
        inherit = own.get("inherit", True)
        if not isinstance(inherit, bool):
            raise self.fail("kinds.inherit", "must be true or false")
        shared = self.shared["kinds"][key] if inherit else {}
        words = {**shared, **self.part(own, key, "kinds.")}
        for text, word in words.items():
            if word not in (*_KINDS, *_NO_KIND):
                wish = f"must be one of {', '.join((*_KINDS, *_NO_KIND))}, not {word!r}"
                raise self.fail(f'kinds.{key}."{text}"', wish)
        return {text: _KINDS[word] for text, word in words.items() if word not in _NO_KIND}

    def both(self, own: dict[str, Any]) -> dict[str, Kind]:
        words = self.part(own, "both", "kinds.")
        for text, word in words.items():
            if not all(text.rpartition(" ")):
                raise self.fail(f'kinds.both."{text}"', "must be a message, a space and a method")
            if word not in _KINDS:
                wish = f"must be one of {', '.join(_KINDS)}, not {word!r}"
                raise self.fail(f'kinds.both."{text}"', wish)
        return {text: _KINDS[word] for text, word in words.items()}

    def ignored(self, own: dict[str, Any]) -> frozenset[str]:
        tables = [self.part(own, key, "kinds.") for key in ("messages", "methods")]
        return frozenset(
            text for table in tables for text, word in table.items() if word == "ignore"
        )

    def one_of(self, key: str, words: Mapping[str, _T]) -> _T | None:
        word = self.table.get(key)
        if word is not None and word not in words:
            raise self.fail(key, f"must be one of {', '.join(words)}, not {word!r}")
        return None if word is None else words[word]

    def needle(self, requires: tuple[Path, ...]) -> str | None:
        needle = self.table.get("needle")
        keys = [key for path in requires for key in path]
        if needle is None:
            if "kind" in self.table:
                raise self.fail("needle", "must be given with `kind`: a key of `requires`")
            return None
        if not isinstance(needle, str) or needle not in keys:
            raise self.fail("needle", f"must be one of the keys of `requires`: {', '.join(keys)}")
        return needle

    def json(self, paths: dict[str, tuple[Path, ...]]) -> tuple[Path, ...]:
        """Identities within a text cannot be hashed in quarantine, so none is read from there."""
        places = self.places(self.table.get("json", []), "json")
        if () in places:
            raise self.fail("json", "must not hold the top")
        for place in places:
            for name in _HASHED:
                if any(path[: len(place)] == place for path in paths.get(name, ())):
                    raise self.fail("json", f"must not hold `{name}`, which is stored as a hash")
        return places

    def unknown_tool(self, kinds: dict[str, Any]) -> tuple[str, ...]:
        patterns = self.texts(kinds, "unknown_tool")
        for pattern in patterns:
            if pattern.count("{tool}") != 1 or len(pattern) < len("{tool}") + 4:
                raise self.fail("kinds.unknown_tool", "must hold {tool} once, and words around it")
        return patterns
