"""
Text to ids: every distinct text of a portion is looked up once, all of a kind together.

Only the one writer comes here, so a name that is missing can be inserted without a race.
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from service import names
from service.events import Fact, Portion, Subject
from service.store import redelivery
from service.store.columns import COLUMNS
from service.store.dialect import insert_many, run_matching
from service.store.driver import Connection, Values
from service.store.numbers import new_number

CallerKey = tuple[int, int, str]
"""Server id, level, digest."""
FactKey = tuple[int, int, Fact]
"""Server id, tool id, what is said."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a portion belongs."""

    source: int
    batch: int


class Ids(NamedTuple):
    """A subject in numbers, as the rows of `event` have them."""

    kind: int
    server: int
    client: int | None
    """None also for a spelling of which nothing is left once it is read: unattributed."""
    caller: int | None
    tool: int | None
    version: int | None
    fact: int | None
    outcome: int | None


COLUMNS_OF_IDS = (
    "kind",
    "server_id",
    "client_id",
    "caller_id",
    "tool_id",
    "version_id",
    "fact_id",
    "outcome",
)
"""The columns of `event` that `Ids` fill, in their order."""

_PLACE = """
SELECT s.id, c.id, b.id
FROM server AS s
LEFT JOIN source AS c ON c.server_id = s.id AND c.name = ?
LEFT JOIN batch AS b ON b.source_id = c.id AND b.kind = ? AND b.label = ?
WHERE s.name = ?
"""


def server_id(conn: Connection, name: str) -> int:
    """Find or make a server."""
    return _ids(conn, "server", {name})[name]


def place_of(conn: Connection, portion: Portion) -> Place:
    """Find or make the source and the batch of a portion."""
    named = portion.batch
    key = (portion.source, named.kind, named.label, portion.server)
    places: dict[Values, Place] = conn.known.setdefault("place", {})
    if key not in places:
        places[key] = _place(conn, portion, key)
    return places[key]


def _place(conn: Connection, portion: Portion, key: Values) -> Place:
    named = portion.batch
    found = conn.rows(_PLACE, key)
    server, source, batch = found[0] if found else (None, None, None)
    if server is None:
        server = _made(conn, "server", (portion.server,))
    if source is None:
        source = _made(conn, "source", (server, portion.source))
    if batch is None:
        redelivery.prune(conn, portion.arrived_us)
        batch = _made_batch(conn, (source, named.kind, named.label, portion.arrived_us))
    return Place(source, batch)


def ids_of(conn: Connection, subjects: Collection[Subject]) -> dict[Subject, Ids]:
    """Find or make the ids of every server, client, tool, version, caller and fact in *subjects*."""
    servers = _ids(conn, "server", {each.server for each in subjects})
    tools = _ids(conn, "tool", {each.tool for each in subjects if each.tool is not None})
    versions = _ids(
        conn, "version", {each.version for each in subjects if each.version is not None}
    )
    clients = _clients(conn, {each.client for each in subjects if each.client is not None})
    callers = _callers(conn, _networks(servers, subjects))
    facts = _facts(
        conn,
        {
            (servers[each.server], tools[each.tool], each.fact)
            for each in subjects
            if each.fact is not None and each.tool is not None
        },
    )

    def ids(each: Subject) -> Ids:
        server, who, fact = servers[each.server], each.caller, each.fact
        tool = None if each.tool is None else tools[each.tool]
        return Ids(  # by position, which takes half the time
            int(each.kind),
            server,
            None if each.client is None else clients[each.client],
            None if who is None else callers[server, int(who.level), who.digest],
            tool,
            None if each.version is None else versions[each.version],
            None if fact is None or tool is None else facts[server, tool, fact],
            None if each.outcome is None else int(each.outcome),
        )

    return {each: ids(each) for each in subjects}


def _made(conn: Connection, table: str, values: Values) -> int:
    """Insert one row and return its id."""
    return int(insert_many(conn, table, [values], returning=["id"])[0][0])


def _made_batch(conn: Connection, values: Values) -> int:
    """Insert a batch and return its id, which no batch had before, also none that was taken back."""
    number = new_number(conn, "batch")
    conn.run(
        f"INSERT INTO batch (id, {', '.join(COLUMNS['batch'])}) VALUES (?, ?, ?, ?, ?)",
        (number, *values),
    )
    return number


def _ids(conn: Connection, table: str, wanted: set[str]) -> dict[str, int]:
    """Ids of names in a table of names; of others too."""
    select = f"SELECT t.name, t.id FROM {{wanted}} CROSS JOIN {table} AS t WHERE {_equal(['name'])}"
    known: dict[str, int] = conn.known.setdefault(table, {})
    unknown = [(name,) for name in wanted - known.keys()]
    known.update(run_matching(conn, select, ["text"], unknown))
    missing = [(name,) for name in sorted(wanted - known.keys())]
    known.update(insert_many(conn, table, missing, returning=["name", "id"]))
    return known


def _clients(conn: Connection, wanted: set[str]) -> dict[str, int | None]:
    select = f"SELECT t.raw, t.id FROM {{wanted}} CROSS JOIN client AS t WHERE {_equal(['raw'])}"
    known: dict[str, int | None] = conn.known.setdefault("client", {})
    unknown = [(raw,) for raw in wanted - known.keys()]
    known.update(run_matching(conn, select, ["text"], unknown))
    missing: list[Values] = []
    for raw in sorted(wanted - known.keys()):
        known[raw] = None
        if (read := names.read_client(raw)) is not None:
            missing.append((raw, read.key, read.name, read.via, read.version))
    known.update(insert_many(conn, "client", missing, returning=["raw", "id"]))
    return known


def _networks(
    servers: dict[str, int], subjects: Collection[Subject]
) -> dict[CallerKey, str | None]:
    """The callers of *subjects*, each with the least network that it was seen in."""
    least: dict[CallerKey, str | None] = {}
    for each in subjects:
        if (who := each.caller) is not None:
            key = (servers[each.server], int(who.level), who.digest)
            least[key] = _least(least.get(key), who.network)
    return least


def _callers(conn: Connection, wanted: dict[CallerKey, str | None]) -> dict[CallerKey, int]:
    """
    Ids of callers. Of one that was seen in several networks the least is kept, so that it does not
    matter which line came first.
    """
    select = (
        "SELECT t.server_id, t.level, t.digest, t.id, t.network "
        f"FROM {{wanted}} CROSS JOIN caller AS t WHERE {_equal(['server_id', 'level', 'digest'])}"
    )
    found = run_matching(conn, select, ["int4", "int2", "text"], wanted)
    known: dict[CallerKey, int] = {}
    changed: list[Values] = []
    for server, level, digest, number, network in found:
        key = (server, level, digest)
        known[key] = number
        if (least := _least(network, wanted[key])) != network:
            changed.append((*key, least))
    changed += [(*key, network) for key, network in wanted.items() if key not in known]
    given = insert_many(
        conn,
        "caller",
        sorted(changed, key=lambda values: values[:3]),
        conflict="ON CONFLICT (server_id, level, digest) DO UPDATE SET network = excluded.network",
        returning=["server_id", "level", "digest", "id"],
    )
    known.update(((server, level, digest), number) for server, level, digest, number in given)
    return known


def _facts(conn: Connection, wanted: set[FactKey]) -> dict[FactKey, int]:
    by_digest = {(server, tool, _digest(fact)): fact for server, tool, fact in wanted}
    select = (
        "SELECT t.server_id, t.tool_id, t.digest, t.id "
        f"FROM {{wanted}} CROSS JOIN fact AS t WHERE {_equal(['server_id', 'tool_id', 'digest'])}"
    )
    found = run_matching(conn, select, ["int4", "int4", "text"], by_digest)
    known = {values[:3] for values in found}
    missing = [
        (*key, fact.last_release, _list(fact), fact.message)
        for key, fact in sorted(by_digest.items(), key=lambda item: item[0])
        if key not in known
    ]
    returning = ["server_id", "tool_id", "digest", "id"]
    found += insert_many(conn, "fact", missing, returning=returning)
    return {(s, t, by_digest[s, t, digest]): number for s, t, digest, number in found}


def _equal(columns: Sequence[str]) -> str:
    """The columns of table `t` are those of a wanted key."""
    return " AND ".join(f"t.{name} = wanted.column{n}" for n, name in enumerate(columns, start=1))


def _digest(fact: Fact) -> str:
    said = json.dumps([fact.last_release, fact.replaced_by, fact.message])
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def _list(fact: Fact) -> str | None:
    """`replaced_by` as it is stored: a JSON list, NULL where the line said nothing."""
    return None if fact.replaced_by is None else json.dumps(fact.replaced_by, ensure_ascii=False)


def _least(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)
