"""JSON schemas of arguments, as far as a comparison needs them: paths, types, bounds."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

Schema = Mapping[str, Any]

DEPTH_LIMIT = 12
"""How deep arguments are followed; recursive schemas have no end."""
ARGUMENTS_LIMIT = 5_000
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


def arguments(schema: Any) -> dict[str, Argument]:
    """
    Path → argument of an input schema: `a`, members of objects as `a.b`, of items as `a[].b`.

    References within the schema are followed; what lies beyond `DEPTH_LIMIT` is left out.
    """
    found: dict[str, Argument] = {}
    if isinstance(schema, dict):
        _walk(schema, schema, "", 0, found)
    return found


def _walk(root: Schema, schema: Schema, path: str, depth: int, found: dict[str, Argument]) -> None:
    if depth > DEPTH_LIMIT or len(found) > ARGUMENTS_LIMIT:
        return
    items = _resolved(root, schema.get("items"))
    if path and items is not None:
        found[f"{path}[]"] = _argument(items, False)
        _walk(root, items, f"{path}[]", depth + 1, found)
    for part in (schema, *_parts(root, schema)):
        properties, required = part.get("properties"), part.get("required")
        needed = required if isinstance(required, list) and not _is_choice(schema, part) else []
        for name, raw in properties.items() if isinstance(properties, dict) else ():
            inner = _resolved(root, raw)
            if inner is None:
                continue
            here = f"{path}.{name}" if path else str(name)
            found[here] = _argument(_with_parts(root, inner), name in needed)
            _walk(root, inner, here, depth + 1, found)


def _argument(schema: Schema, required: bool) -> Argument:
    text = schema.get("description")
    return Argument(
        required=required,
        schema=schema,
        description=text if isinstance(text, str) and text.strip() else None,
        default=_json(schema["default"]) if "default" in schema else None,
    )


def _parts(root: Schema, schema: Schema) -> Iterator[Schema]:
    """Schemas that all or one of must hold as well."""
    for word in ("allOf", "anyOf", "oneOf"):
        for part in _list(schema.get(word)):
            if (inner := _resolved(root, part)) is not None:
                yield inner


def _with_parts(root: Schema, schema: Schema) -> Schema:
    """A schema whose choices are written out; the only one that is not null stands in its place."""
    found = dict(schema)
    for word in ("anyOf", "oneOf"):
        parts = [
            each for part in _list(schema.get(word)) if (each := _resolved(root, part)) is not None
        ]
        if parts:
            found[word] = parts
            real = [part for part in parts if part.get("type") != "null"]
            if len(real) == 1:
                bounds = (*_LOWER, *_UPPER, *_FORMS)
                found |= {name: real[0][name] for name in bounds if name in real[0]}
    return found


def _is_choice(schema: Schema, part: Schema) -> bool:
    """Whether a part is only one of several that may hold, so that nothing in it must be given."""
    return part is not schema and "allOf" not in schema


def _resolved(root: Schema, schema: Any) -> Schema | None:
    """A schema with the reference followed that it may be; its own words beside it win."""
    seen = 0
    while isinstance(schema, dict) and isinstance(ref := schema.get("$ref"), str) and seen < 10:
        seen += 1
        target: Any = root
        for step in ref.removeprefix("#").strip("/").split("/") if ref.startswith("#") else [None]:
            key = step.replace("~1", "/").replace("~0", "~") if step else step
            target = target.get(key) if isinstance(target, dict) and key else None
        own = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**target, **own} if isinstance(target, dict) else own
    return schema if isinstance(schema, dict) else None


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
    for bounds, tighter in ((_LOWER, 1), (_UPPER, -1)):
        for word in bounds:
            one, other = old.get(word), new.get(word)
            if _is_number(other) and (not _is_number(one) or (other - one) * tighter > 0):
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


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _type_of(value: Any) -> str:
    for kind, word in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return word
    return "null" if value is None else "array" if isinstance(value, list) else "object"
