"""
The catalogue out of files: JSON, or the source of the server itself, which is read and not run.

A file holds entries (a map from name to facts, or a list of objects that have a name), or the list of
every name that the server ever had.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from service import names
from service.analysis import source_map
from service.analysis.source_values import Allowance, Group, Member, Spent, Unread, plain
from service.answers.query import instant_asked, iso
from service.cataloguing import open_cataloguing
from service.entries import NAMES, Entry, Facts, Kept, Told, told, tool_name
from service.errors import BadParameter, UnreadableInput
from service.settings import Settings, sqlite_path
from service.store import engine, migrate, read_catalogue, read_words

T = TypeVar("T")
FILE_LIMIT = 8 * 1024 * 1024
"""Bytes of a file."""
_FACTS = {
    "last_release": "last_release",
    "lastRelease": "last_release",
    "replaced_by": "replaced_by",
    "replacedBy": "replaced_by",
    "message": "message",
    "retired_at": "retired_us",
    "retiredAt": "retired_us",
    "hidden": "hidden",
}
_PLACE = {"server", "name"}
_WRAPPED = ("entries", "items", "retired", "retiredTools", "retired_tools")
"""Members of an object that hold the entries."""
_TELLING = re.compile(r"retired|removed|deprecated|tombstone", re.IGNORECASE)
_FORMS = (
    "a map from name to {lastRelease, replacedBy, message}, a list of such objects with a name, or a "
    "list of all names"
)


@dataclass(slots=True)
class Read:
    """What a file says: entries, the list of all names (None: it is no such list), what is unread."""

    entries: list[Told] = field(default_factory=list)
    names: tuple[str, ...] | None = None
    problems: list[str] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    """Members of entries that are none of ours, with how many entries have them."""
    twice: list[str] = field(default_factory=list)
    """Names that one file has more than once, with its label: the last one counts."""


def read_files(paths: Sequence[str], server: str, constant: str | None = None) -> Read:
    """
    Read files of a server; what cannot be read in one costs nothing of the others.

    *constant*: which constant of a source file holds the entries.
    """
    found = Read()
    for path in paths:
        label = "standard input" if path == "-" else path
        try:
            one = read_text(_text(path), server, is_json=_is_json(path), constant=constant)
        except UnreadableInput as error:
            found.problems.append(error.detail)
            continue
        found.entries += one.entries
        found.twice += [f"{label}: {name}" for name in one.twice]
        found.problems += [f"{label}:{problem}" for problem in one.problems]
        for name, number in one.ignored.items():
            found.ignored[name] = found.ignored.get(name, 0) + number
        if one.names is not None:
            found.names = tuple(dict.fromkeys([*(found.names or ()), *one.names]))
    return found


def read_text(
    text: str, server: str, *, is_json: bool | None = None, constant: str | None = None
) -> Read:
    """Read a text; whether it is JSON or source is tried where *is_json* is None. Problems begin with
    their line."""
    text = text.removeprefix("\ufeff")
    found = Read()
    if is_json is None:
        looks = text.lstrip().startswith(("{", "["))
        is_json = looks or not isinstance(source_map.read_json(text), Unread)
    value = source_map.read_json(text) if is_json else _chosen(text, constant, found)
    if isinstance(value, Unread):
        found.problems.append(f"{value.line}: {value.why}")
    elif value is not None or is_json:
        _take(value, server, found)
    if not found.entries and found.names is None and not found.problems:
        found.problems.append(f"1: there is no entry in it; a file holds {_FORMS}")
    times = Counter(each.name for each in found.entries)
    found.twice = [name for name, number in times.items() if number > 1]
    return found


def _is_json(path: str) -> bool | None:
    return None if path == "-" else Path(path).suffix.lower() in (".json", ".jsonc", ".json5")


def _text(path: str) -> str:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(FILE_LIMIT + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(FILE_LIMIT + 1)
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror}") from None
    if len(data) > FILE_LIMIT:
        raise UnreadableInput(f"{path}: larger than {FILE_LIMIT} bytes; is this the right file?")
    return data.decode("utf-8", "replace")


def _chosen(text: str, constant: str | None, found: Read) -> Any:
    """The constant that holds the entries or names."""
    source = source_map.read_source(text)
    found.problems += [f"{line}: a syntax error" for line in source.broken]
    if constant is not None:
        if constant not in source.constants:
            found.problems.append(f"1: no constant {constant} at the top of the file")
        return source.constants.get(constant)
    groups = {name: each for name, each in source.constants.items() if isinstance(each, Group)}
    maps, lists = _alike(groups, _is_map), _alike(groups, _is_names)
    for candidates in (maps, lists):
        telling = {name: each for name, each in candidates.items() if _TELLING.search(name)}
        distinct = {id(each): name for name, each in (telling or candidates).items()}
        if len(distinct) > 1:
            named = ", ".join(sorted(distinct.values()))
            found.problems.append(
                f"1: several constants hold entries; choose with --constant: {named}"
            )
            return None
        for name in distinct.values():
            return source.constants[name]
    found.problems.append(f"1: no constant holds {_FORMS}")
    return None


def _alike(groups: Mapping[str, Group], are: Callable[[Group], bool]) -> dict[str, Group]:
    """Those of some groups that are so; a group that has several names is looked at once."""
    so = {id_: are(group) for id_, group in {id(each): each for each in groups.values()}.items()}
    return {name: each for name, each in groups.items() if so[id(each)]}


def _is_map(value: Group) -> bool:
    inner = {id(each.value): each.value for each in value.members if isinstance(each.value, Group)}
    return any(each.key in _FACTS for group in inner.values() for each in group.members)


def _is_names(value: Group) -> bool:
    return (
        value.kind == "list"
        and bool(value.members)
        and all(isinstance(member.value, str) for member in value.members)
    )


def _take(value: Any, server: str, found: Read) -> None:
    """Take entries, or names, from a value."""
    if isinstance(value, Group) and value.kind == "object":
        for member in value.members:
            if member.key in _WRAPPED and isinstance(member.value, Group):
                value = member.value
                break
    if not isinstance(value, Group):
        found.problems.append(f"1: the file does not hold {_FORMS}")
    elif _is_names(value):
        found.names = tuple(_names(value, found))
    else:
        allowance = Allowance(source_map.FILE_LIMIT)
        for member in value.members:
            _entry(member, value.kind, server, found, allowance)


def _names(value: Group, found: Read) -> Iterator[str]:
    allowance = Allowance(source_map.FILE_LIMIT)
    for member in value.members:
        try:
            allowance.spend(len(member.value))
            yield tool_name("name", member.value)
        except BadParameter as error:
            found.problems.append(f"{member.line}: {error.detail}")
        except Spent as spent:
            found.problems.append(f"{member.line}: {spent}")
            return


def _entry(member: Member, kind: str, server: str, found: Read, allowance: Allowance) -> None:
    """Take one entry, or say why it cannot be."""
    name, value = member.key, member.value
    try:
        if isinstance(value, Unread):
            raise ValueError(value.why)
        if not isinstance(value, Group) or value.kind != "object":
            raise ValueError(
                "an entry must be an object, such as {lastRelease, replacedBy, message}"
            )
        said = plain(value, _FACTS.keys() | _PLACE, allowance)
        inside, of = said.pop("name", None), said.pop("server", server)
        name = inside if kind == "list" else name
        if of != server:
            raise ValueError(f"it is of the server {of}; import it with that --server")
        found.entries.append(_told(name, said))
        for other in {str(m.key) for m in value.members} - _FACTS.keys() - _PLACE:
            found.ignored[other] = found.ignored.get(other, 0) + 1
    except (ValueError, BadParameter) as error:
        why = error.detail if isinstance(error, BadParameter) else str(error)
        named = names.bounded(str(name)) if name else "an entry"
        found.problems.append(f"{member.line}: {named} cannot be read: {why[:200]}")


def _told(name: Any, plain: Mapping[str, Any]) -> Told:
    said: dict[str, Any] = {}
    for key, value in plain.items():
        if key in _FACTS:
            said[_FACTS[key]] = value
    at = said.get("retired_us")
    if at is not None:
        if not isinstance(at, str):
            raise BadParameter("retired_at", "must be text, such as 2026-10-05T10:15:02Z")
        said["retired_us"] = instant_asked("retired_at", at, ZoneInfo("UTC"))
    hidden = said.pop("hidden", None)
    if hidden is not None and not isinstance(hidden, bool):
        raise BadParameter("hidden", "must be true or false")
    return told(name, **said, hidden=hidden)


def changes(settings: Settings, server: str, read: Read) -> list[dict[str, Any]]:
    """
    What it would change to store the entries: name, outcome, and of each fact (before, after).

    Entries of a server are compared with those before them, also where a file has a name twice.
    """
    named = names.feed_name("--server", server) or ""
    known = _known(settings, named)
    found = []
    for each in read.entries:
        before = known.get(each.name)
        differ = each.changes(before)
        outcome = Kept.CREATED if before is None else Kept.CHANGED if differ else Kept.UNCHANGED
        known[each.name] = _after(named, each, before)
        said = {
            name.replace("_us", "_at"): [_shown(name, value) for value in pair]
            for name, pair in differ.items()
        }
        found.append({"name": each.name, "outcome": outcome.value, "changes": said})
    return found


def _after(server: str, said: Told, before: Entry | None) -> Entry:
    facts = (before.facts if before else Facts()).told(said.said)
    hidden = said.changes(before).get("hidden", (None, bool(before and before.hidden)))[1]
    return Entry(
        server=server,
        name=said.name,
        number=1,
        facts=facts,
        hidden=hidden,
        source="import",
        said_us=0,
        actor="command",
    )


def _shown(name: str, value: Any) -> Any:
    return iso(value) if name == "retired_us" and value is not None else value


def _known(settings: Settings, server: str) -> dict[str, Entry]:
    """The entries of a server by name; none where there is no database yet."""

    def ask(connection: engine.Connection) -> dict[str, Entry]:
        ids = [id_ for id_, name in read_words.servers(connection).items() if name == server]
        return {entry.name: entry for entry, _ in read_catalogue.entries(connection, ids)}

    return _ask(settings, ask, {})


def _ask(settings: Settings, ask: Callable[[engine.Connection], T], nothing: T) -> T:
    """What the database answers; *nothing* where there is none yet."""
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        return nothing
    opened = engine.make_engine(settings.database_url)
    try:
        migrate.ensure_ready(opened, settings.auto_upgrade)
        with engine.reading(opened) as connection:
            return ask(connection)
    finally:
        opened.dispose()


def waits_for_snapshot(settings: Settings, server: str, read: Read) -> bool:
    """Whether there is a list of all names, and no snapshot of the server to hold it against."""
    if read.names is None:
        return False
    named = names.feed_name("--server", server) or ""

    def is_missing(connection: engine.Connection) -> bool:
        ids = [id_ for id_, name in read_words.servers(connection).items() if name == named]
        return all(read_catalogue.listed_names(connection, id_) is None for id_ in ids)

    return _ask(settings, is_missing, True)


def store(settings: Settings, server: str, read: Read) -> None:
    """Store what was read, all in one transaction; and the list of all names in one of its own."""
    if not read.entries and read.names is None:
        return  # no database is made for nothing
    with open_cataloguing(settings) as cataloguing:
        if read.entries:
            cataloguing.entries(server, read.entries, source="import", actor="command")
        if read.names is not None:
            tools = tuple({"name": name} for name in sorted(read.names))
            cataloguing.snapshot(
                server,
                tools,
                None,
                version=None,
                protocol_version=None,
                source=NAMES,
                actor="command",
            )
