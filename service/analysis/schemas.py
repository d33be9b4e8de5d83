"""JSON schemas of arguments, as far as a comparison needs them: paths, types, bounds."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import gt, lt
from typing import Any, TypeGuard

Schema = Mapping[str, Any]

DEPTH_LIMIT = 13
"""How many names lead to an argument; recursive schemas have no end."""
SIZE_LIMIT = 20_000
"""How much is read of one schema, in about as many words: through references a short one can be long."""
_REFERENCE_LIMIT = 1_000
_ARGUMENT, _TEXT, _DIGITS, _KEYS = 4, 50, 150, 8
"""What an argument costs by itself, and how many characters, bits and keys cost as much as a word."""
_WITHIN = ("properties", "items", "$defs", "definitions")
"""Where other arguments stand, which are read by themselves."""
ANY = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_FORMS = ("pattern", "format", "multipleOf", "uniqueItems")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: whether it must be given, its schema, what is said of it, its default as JSON."""

    required: bool
    schema: Schema
    description: str | None
    default: str | None

    @property
    def type_text(self) -> str:
        """Its types in words."""
        return words(types(self.schema))


def arguments(schema: Any, size: int = SIZE_LIMIT) -> dict[str, Argument]:
    """
    Path → argument of an input schema: `a`, members of objects as `a.b`, of items as `a[].b`.

    References within the schema are followed. What lies deeper than `DEPTH_LIMIT` is left out, and so are
    the depths that *size* does not suffice to read whole: work is bounded by *size*, whatever the schema.
    """
    return _joined(_levels(schema, size)[0])


def arguments_of_both(
    old: Any, new: Any, size: int = SIZE_LIMIT
) -> tuple[dict[str, Argument], dict[str, Argument]]:
    """Those of two schemas, read equally deep, so that what was not read of one is not taken for lost."""
    both = [_levels(schema, size) for schema in (old, new)]
    depth = min((len(found) for found, more in both if more), default=DEPTH_LIMIT)
    before, after = (_joined(found[:depth]) for found, _ in both)
    return before, after


def _joined(levels: list[dict[str, Argument]]) -> dict[str, Argument]:
    return {path: argument for level in levels for path, argument in level.items()}


def _levels(schema: Any, size: int) -> tuple[list[dict[str, Argument]], bool]:
    """Arguments by how many names lead to them, each number whole, and whether there are more."""
    levels: list[dict[str, Argument]] = []
    if not isinstance(schema, dict):
        return levels, False
    reader = _Reader(schema, size)
    waiting: list[tuple[str, Schema]] = [("", schema)]
    try:
        while waiting and len(levels) < DEPTH_LIMIT:
            found: dict[str, Argument] = {}
            below: list[tuple[str, Schema]] = []
            for path, argument, inner in reader.within(waiting):
                found[path] = argument
                below.append((path, inner))
            levels.append(found)
            waiting = below
    except _SpentError:
        return levels, True
    return levels, bool(waiting)


class _SpentError(Exception):
    """More would have to be read than may be."""


class _Reader:
    """Reads the arguments of one schema, and no more than a size of it."""

    def __init__(self, root: Schema, size: int) -> None:
        self._root = root
        self._left = size

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _SpentError

    def within(self, level: Iterable[tuple[str, Schema]]) -> Iterator[tuple[str, Argument, Schema]]:
        """(path, argument, its schema as it stands) of what lies directly in schemas with their paths."""
        for path, schema in level:
            items = self._resolved(schema.get("items"))
            if path and items is not None:
                yield self._found(f"{path}[]", items, required=False)
            for part in (schema, *self._parts(schema)):
                properties, required = part.get("properties"), part.get("required")
                needed = _texts(required) if not _is_choice(schema, part) else frozenset()
                for name, raw in properties.items() if isinstance(properties, dict) else ():
                    inner = self._resolved(raw)
                    if inner is not None:
                        here = f"{path}.{name}" if path else str(name)
                        yield self._found(here, inner, required=name in needed)

    def _found(self, path: str, schema: Schema, *, required: bool) -> tuple[str, Argument, Schema]:
        whole = self._with_parts(schema)
        self._spend(_ARGUMENT + len(path) // _TEXT + _schema_size(whole))
        return path, _argument(whole, required), schema

    def _parts(self, schema: Schema) -> Iterator[Schema]:
        """Schemas that all or one of must hold as well."""
        for word in ("allOf", "anyOf", "oneOf"):
            yield from self._each(schema, word)

    def _each(self, schema: Schema, word: str) -> Iterator[Schema]:
        for part in _list(schema.get(word)):
            self._spend(1)
            if (inner := self._resolved(part)) is not None:
                yield inner

    def _with_parts(self, schema: Schema) -> Schema:
        """A schema whose choices are written out; the only one that is not null stands in its place."""
        found = dict(schema)
        for word in ("anyOf", "oneOf"):
            parts = list(self._each(schema, word))
            if parts:
                found[word] = parts
                real = [part for part in parts if part.get("type") != "null"]
                if len(real) == 1:
                    bounds = (*_LOWER, *_UPPER, *_FORMS)
                    found |= {name: real[0][name] for name in bounds if name in real[0]}
        return found

    def _resolved(self, schema: Any) -> Schema | None:
        """A schema with the reference followed that it may be; its own words beside it win."""
        seen = 0
        while isinstance(schema, dict) and isinstance(ref := schema.get("$ref"), str) and seen < 10:
            seen += 1
            target = self._target(ref)
            own = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **own} if isinstance(target, dict) else own
            self._spend(1 + len(ref) // _TEXT + len(schema) // _KEYS)
        return schema if isinstance(schema, dict) else None

    def _target(self, ref: str) -> Any:
        """What a JSON pointer into the schema leads to (RFC 6901): `#` is the whole, `#/a/b` a member."""
        if not (ref == "#" or ref.startswith("#/")) or len(ref) > _REFERENCE_LIMIT:
            return None
        target: Any = self._root
        for step in ref.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        return target


def _schema_size(schema: Schema) -> int:
    """How much is read of a schema when it is compared: all but the arguments in it."""
    size = 1
    for word, value in schema.items():
        if word in ("allOf", "anyOf", "oneOf"):
            size += sum(_schema_size(p) if isinstance(p, dict) else 1 for p in _list(value))
        elif word not in _WITHIN:
            size += _size(value)
    return size


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + len(key) // _TEXT + _size(each) for key, each in value.items())
    if isinstance(value, list):
        return 1 + sum(map(_size, value))
    if isinstance(value, str):
        return 1 + len(value) // _TEXT
    return 1 + value.bit_length() // _DIGITS if isinstance(value, int) else 1


def _argument(schema: Schema, required: bool) -> Argument:
    text = schema.get("description")
    return Argument(
        required=required,
        schema=schema,
        description=text if isinstance(text, str) and text.strip() else None,
        default=_json(schema["default"]) if "default" in schema else None,
    )


def _is_choice(schema: Schema, part: Schema) -> bool:
    """Whether a part is only one of several that may hold, so that nothing in it must be given."""
    return part is not schema and "allOf" not in schema


def types(schema: Schema) -> frozenset[str]:
    """The types of values that a schema allows; all where it says nothing."""
    given = schema.get("type")
    if isinstance(given, str):
        return frozenset({given})
    if isinstance(given, list):
        return frozenset(str(each) for each in given) or ANY
    for word in ("anyOf", "oneOf"):
        parts = [part for part in _list(schema.get(word)) if isinstance(part, dict)]
        if parts:
            return frozenset().union(*(types(part) for part in parts))
    values = _values(schema)
    if values is not None:
        return frozenset(_type_of(json.loads(value)) for value in values)
    return ANY


def narrowed(old: Schema, new: Schema) -> Iterator[tuple[str | None, str | None]]:
    """(before, after) of each way in which values that were allowed no longer are."""
    was, now = types(old), types(new)
    if was - now - ({"integer"} if "number" in now else frozenset()):
        yield words(was), words(now)
    before, after = _values(old), _values(new)
    if after is not None:
        lost = not was - now if before is None else bool(before - after)
        if lost:
            yield _listed(before), _listed(after)
    for bounds, is_tighter in ((_LOWER, gt), (_UPPER, lt)):
        for word in bounds:
            one, other = old.get(word), new.get(word)
            if _is_number(other) and (not _is_number(one) or is_tighter(other, one)):
                yield _bound(word, one), _bound(word, other)
    for word in _FORMS:
        if (
            new.get(word) is not None
            and new.get(word) is not False
            and new.get(word) != old.get(word)
        ):
            yield _bound(word, old.get(word)), _bound(word, new.get(word))


def words(found: frozenset[str]) -> str:
    """Types in words."""
    return "any type" if found >= ANY else " or ".join(sorted(found))


def _values(schema: Schema) -> frozenset[str] | None:
    """The values that a schema lists, as JSON; None where it lists none."""
    if "const" in schema:
        return frozenset({_json(schema["const"])})
    if schema.get("type") == "null":
        return frozenset({"null"})
    if isinstance(schema.get("enum"), list):
        return frozenset(_json(value) for value in schema["enum"])
    parts = [part for w in ("anyOf", "oneOf") for part in _list(schema.get(w))]
    listed = [_values(part) for part in parts if isinstance(part, dict)]
    if not listed or any(each is None for each in listed):
        return None
    return frozenset().union(*(each for each in listed if each is not None))


def _listed(values: frozenset[str] | None) -> str:
    return "any value" if values is None else "one of " + ", ".join(sorted(values))


def _bound(word: str, value: Any) -> str | None:
    return None if value is None else f"{word} {value if isinstance(value, str) else _json(value)}"


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(value: Any) -> frozenset[str]:
    return frozenset(each for each in _list(value) if isinstance(each, str))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _type_of(value: Any) -> str:
    for kind, word in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return word
    return "null" if value is None else "array" if isinstance(value, list) else "object"
