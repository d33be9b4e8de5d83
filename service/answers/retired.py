"""Which names of a server are retired: those that the catalogue tells of, and those that lines do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.analysis import catalogue
from service.entries import Entry
from service.store import read_catalogue, read_names
from service.store.engine import Connection
from service.store.read_cut import Cut


@dataclass(frozen=True, slots=True)
class Name:
    """
    A retired name of one server, all its spellings, and since when it is retired. `first_us` is the
    time of its first stale call line, and `told` its entry in the catalogue, where it has one.
    """

    server_id: int
    server: str
    name: str
    tool_ids: frozenset[int]
    retired_us: int
    first_us: int | None
    told: Entry | None

    @property
    def dated(self) -> bool:
        """Whether somebody or a line says since when; else that is the day on which it was entered."""
        return self.first_us is not None or self.is_told

    @property
    def is_told(self) -> bool:
        """Whether somebody said since when it is retired."""
        return self.told is not None and self.told.facts.retired_us is not None


@dataclass(frozen=True, slots=True)
class Told:
    """The entry of a name, and when the first of its versions was said."""

    entry: Entry
    first_us: int


def told(connection: Connection, servers: Mapping[int, str]) -> dict[int, dict[str, Told]]:
    """Server → name → what the catalogue says of it, hidden entries among them."""
    ids = {name: id_ for id_, name in servers.items()}
    found: dict[int, dict[str, Told]] = {}
    for entry, first_us in read_catalogue.entries(connection, servers):
        found.setdefault(ids[entry.server], {})[entry.name] = Told(entry, first_us)
    return found


def retired_names(
    connection: Connection, cut: Cut, server_id: int, server: str, entries: Mapping[str, Told]
) -> list[Name]:
    """
    The retired names of a server as of the cut, by name, without the hidden ones.

    A name is retired where the catalogue has it, unless from a later instant only, and where a stale
    call line names it. Since when is what the catalogue says, else the first such line, else when the
    name was entered.
    """
    logged = read_names.logged_names(connection, cut, server_id)
    known = {row.name for row in logged if row.first_stale_us is not None}
    for name, each in entries.items():
        retired_us = each.entry.facts.retired_us
        if retired_us is None or retired_us < cut.as_of_us:
            known.add(name)
    stands_for = _resolve(connection, server_id, [row.name for row in logged], known, entries)
    spellings: dict[str, list[read_names.Logged]] = {name: [] for name in known & entries.keys()}
    for row in logged:
        if row.name in stands_for:
            spellings.setdefault(stands_for[row.name], []).append(row)
    found = []
    for name, rows in sorted(spellings.items()):
        mine = entries.get(name)
        if mine is None or not mine.entry.hidden:
            found.append(_name(server_id, server, name, rows, mine))
    return found


def told_of(
    connection: Connection,
    server_id: int,
    server: str,
    spellings: Iterable[str],
    names: Iterable[Name],
) -> dict[str, str]:
    """
    The retired name of a server that each name stands for which people told, as `retired_names` decides
    it for those of lines; others are absent. *names* are those of the server.
    """
    entries = told(connection, {server_id: server}).get(server_id, {})
    known = {name.name for name in names}
    known |= {name for name, each in entries.items() if each.entry.hidden}
    return _resolve(connection, server_id, sorted(spellings), known, entries)


def _resolve(
    connection: Connection,
    server_id: int,
    logged: list[str],
    known: set[str],
    entries: Mapping[str, Told],
) -> dict[str, str]:
    """What the server lists, or ever did, is read only where a prefix might be taken off."""
    full = set(entries)
    found = catalogue.resolve(logged, known, full)
    if any(spelling != name for spelling, name in found.items()):
        for names in (False, True):
            full |= read_catalogue.listed_names(connection, server_id, names=names) or set()
        found = catalogue.resolve(logged, known, full)
    return found


def _name(
    server_id: int, server: str, name: str, rows: list[read_names.Logged], told: Told | None
) -> Name:
    firsts = [row.first_stale_us for row in rows if row.first_stale_us is not None]
    first_us = min(firsts) if firsts else None
    retired_us = told.entry.facts.retired_us if told else None
    if retired_us is None:
        retired_us = min(firsts or ([told.first_us] if told else []))
    return Name(
        server_id=server_id,
        server=server,
        name=name,
        tool_ids=frozenset(row.tool_id for row in rows),
        retired_us=retired_us,
        first_us=first_us,
        told=told.entry if told else None,
    )
