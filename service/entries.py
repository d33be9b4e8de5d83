"""
What people tell of retired names, and the tools that a server lists: checked, bounded, compared. Frozen.

An entry is told member by member: what is not mentioned stays as it was said before, and None takes
it back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from service import names
from service.errors import BadParameter

MESSAGE_LIMIT = 10_000
"""Characters of a message."""
REPLACEMENTS_LIMIT = 100
"""Names that replace one name."""
TOOLS_LIMIT = 10_000
"""Tools of one snapshot."""
DEPTH_LIMIT = 64
"""How deep the schemas of a tool may be nested."""
FACTS = ("last_release", "replaced_by", "message", "retired_us")
"""What an entry says of its name."""


class Kept(StrEnum):
    """What it changed to tell something."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is said of a retired name; None where nothing is. An empty `replaced_by` says: nothing."""

    last_release: str | None = None
    replaced_by: tuple[str, ...] | None = None
    message: str | None = None
    retired_us: int | None = None

    def told(self, said: Mapping[str, Any]) -> "Facts":
        """These facts with those of *said* in their place."""
        return Facts(**{name: said.get(name, getattr(self, name)) for name in FACTS})

    def over(self, others: "Facts") -> "Facts":
        """These facts, and where nothing is said those of *others*."""
        mine = {name: getattr(self, name) for name in FACTS}
        return others.told({name: value for name, value in mine.items() if value is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """
    What somebody says of a name: `said` holds members of `Facts`, not necessarily all. `hidden` is None
    where nothing is said of that.
    """

    name: str
    said: Mapping[str, Any]
    hidden: bool | None = None

    def changes(self, before: "Entry | None") -> dict[str, tuple[Any, Any]]:
        """What an entry says otherwise afterwards, as (before, after)."""
        old = before.facts if before else Facts()
        new = old.told(self.said)
        found = {n: (getattr(old, n), getattr(new, n)) for n in FACTS}
        was = before.hidden if before else False
        found["hidden"] = (was, was if self.hidden is None else self.hidden)
        return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A version of an entry: `number` counts from 1, and the greatest one holds."""

    server: str
    name: str
    number: int
    facts: Facts
    hidden: bool
    source: str
    said_us: int
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The tools that a server listed at an instant, or (source `names`) every name that it ever had."""

    server: str
    at_us: int
    version: str | None
    protocol_version: str | None
    source: str
    tools: tuple[dict[str, Any], ...]
    """As they came, by name."""


NAMES = "names"
"""The source of a snapshot that is a list of every name ever, live or retired, and no listing."""


def told(
    name: object,
    *,
    last_release: object = ...,
    replaced_by: object = ...,
    message: object = ...,
    retired_us: object = ...,
    hidden: bool | None = None,
) -> Told:
    """
    Read what is said of a name; `...` stands for what is not mentioned.

    Raises:
        BadParameter: A member is no text, blank, or longer than is kept. It bears the REST name.
    """
    said: dict[str, Any] = {}
    if last_release is not ...:
        release = None if last_release is None else _text("last_release", last_release).strip()
        said["last_release"] = names.bounded(release) if release else None
    if replaced_by is not ...:
        said["replaced_by"] = None if replaced_by is None else _replacements(replaced_by)
    if message is not ...:
        said["message"] = None if message is None else _message(message)
    if retired_us is not ...:
        said["retired_us"] = retired_us
    return Told(name=tool_name("name", name), said=said, hidden=hidden)


def tool_name(parameter: str, value: object) -> str:
    """
    Read the name of a tool as lines spell it: not trimmed, and cut where theirs are.

    Raises:
        BadParameter: It is no text, or blank.
    """
    text = _text(parameter, value)
    if not text.strip():
        raise BadParameter(parameter, "missing; name the tool, such as tomtom-ev-routing")
    return names.bounded(text)


def _text(parameter: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadParameter(parameter, "must be text")
    return names.clean(value)


def _replacements(value: object) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        raise BadParameter("replaced_by", 'must be a list of names, such as ["route-planner"]')
    if len(given) > REPLACEMENTS_LIMIT:
        raise BadParameter("replaced_by", f"at most {REPLACEMENTS_LIMIT} names")
    return tuple(dict.fromkeys(tool_name("replaced_by", each) for each in given))


def _message(value: object) -> str | None:
    text = _text("message", value).strip()
    if len(text) > MESSAGE_LIMIT:
        raise BadParameter(
            "message", f"at most {MESSAGE_LIMIT} characters, this has {len(text)}; shorten it"
        )
    return text or None


def tools_of(value: object) -> tuple[dict[str, Any], ...]:
    """
    Read a list of tools, or the result of `tools/list` that holds one.

    Returns:
        The tools as they came, by name; of several with one name the first.

    Raises:
        BadParameter: It is no such list, or one that is too long or too deep.
    """
    listed = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise BadParameter("tools", "must be a list of tools, as the result of tools/list has it")
    if len(listed) > TOOLS_LIMIT:
        raise BadParameter("tools", f"at most {TOOLS_LIMIT} tools, these are {len(listed)}")
    found: dict[str, dict[str, Any]] = {}
    for place, tool in enumerate(listed, start=1):
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            raise BadParameter("tools", f"the {place}. is no object with a name")
        name = tool_name("tools", tool["name"])
        found.setdefault(name, {**_cleaned(tool, DEPTH_LIMIT), "name": name})
    return tuple(found[name] for name in sorted(found))


def _cleaned(value: Any, depth: int) -> Any:
    """A JSON value whose text every database and every answer can hold."""
    if isinstance(value, str):
        return names.clean(value)
    if isinstance(value, dict | list) and not depth:
        raise BadParameter("tools", f"lie deeper than {DEPTH_LIMIT} levels; flatten their schemas")
    if isinstance(value, dict):
        return {names.clean(str(key)): _cleaned(each, depth - 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, depth - 1) for each in value]
    return value


def tools_text(tools: tuple[dict[str, Any], ...]) -> str:
    """
    Tools as they are stored.

    Raises:
        BadParameter: A value in them is none that JSON knows.
    """
    try:
        return json.dumps(tools, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError):
        raise BadParameter("tools", "hold a value that JSON does not know, such as NaN") from None
