"""
Text to ids: every distinct text of a portion is looked up once, all of a kind together.

Only the one writer comes here, so a name that is missing can be inserted without a race.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from service import names
from service.events import Fact, Portion, Row
from service.store import schema
from service.store.dialect import PgType, Values, insert_many, run_matching
from service.store.engine import Connection

CallerKey = tuple[int, int, str]
"""Server id, level, digest."""
FactKey = tuple[int, int, Fact]
"""Server id, tool id, what is said."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a portion belongs."""

    source: int
    batch: int


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of every text in a portion."""

    servers: dict[str, int]
    clients: dict[str, int | None]
    """None for a spelling of which nothing is left once it is read: unattributed."""
    tools: dict[str, int]
    versions: dict[str, int]
    callers: dict[CallerKey, int]
    facts: dict[FactKey, int]


def server_id(conn: Connection, name: str) -> int:
    """Find or make a server."""
    return _ids(conn, schema.server, {name})[name]


def place_of(conn: Connection, portion: Portion) -> Place:
    """Find or make the source and the batch of a portion."""
    server = server_id(conn, portion.server)
    source = _one(conn, schema.source, ["server_id", "name"], (server, portion.source))
    names = ["source_id", "kind", "label", "started_us"]
    named = (source, portion.batch.kind, portion.batch.label, portion.arrived_us)
    return Place(source, _one(conn, schema.batch, names, named, key=3))


def ids_of(conn: Connection, rows: Iterable[Row]) -> Ids:
    """Find or make the ids of every server, client, tool, version, caller and fact in *rows*."""
    servers: set[str] = set()
    clients: set[str] = set()
    tools: set[str] = set()
    versions: set[str] = set()
    callers: dict[tuple[str, int, str], str | None] = {}
    facts: set[tuple[str, str, Fact]] = set()
    for row in rows:
        servers.add(row.server)
        if row.client is not None:
            clients.add(row.client)
        if row.tool is not None:
            tools.add(row.tool)
            if row.fact is not None:
                facts.add((row.server, row.tool, row.fact))
        if row.version is not None:
            versions.add(row.version)
        if (who := row.caller) is not None:
            named = (row.server, int(who.level), who.digest)
            callers[named] = _least(callers.get(named), who.network)
    server_ids = _ids(conn, schema.server, servers)
    tool_ids = _ids(conn, schema.tool, tools)
    return Ids(
        servers=server_ids,
        clients=_clients(conn, clients),
        tools=tool_ids,
        versions=_ids(conn, schema.version, versions),
        callers=_callers(conn, {(server_ids[s], n, d): w for (s, n, d), w in callers.items()}),
        facts=_facts(conn, {(server_ids[s], tool_ids[t], f) for s, t, f in facts}),
    )


def _one(
    conn: Connection, table: sa.Table, columns: list[str], values: Values, *, key: int = 2
) -> int:
    """The id of the one row whose first *key* columns have these values; made where there is none."""
    select = (
        f"SELECT t.id FROM {{wanted}} CROSS JOIN {table.name} AS t WHERE {_equal(columns[:key])}"
    )
    types: list[PgType] = ["int4", "text", "text"]
    found = run_matching(conn, select, types[:key], [values[:key]])
    found = found or insert_many(conn, table, columns, [values], returning=["id"])
    return int(found[0][0])


def _ids(conn: Connection, table: sa.Table, wanted: set[str]) -> dict[str, int]:
    """Ids of names in a table of names."""
    select = (
        f"SELECT t.name, t.id FROM {{wanted}} CROSS JOIN {table.name} AS t WHERE {_equal(['name'])}"
    )
    known: dict[str, int] = dict(run_matching(conn, select, ["text"], [(n,) for n in wanted]))
    missing = [(name,) for name in sorted(wanted - known.keys())]
    known.update(insert_many(conn, table, ["name"], missing, returning=["name", "id"]))
    return known


def _clients(conn: Connection, wanted: set[str]) -> dict[str, int | None]:
    select = f"SELECT t.raw, t.id FROM {{wanted}} CROSS JOIN client AS t WHERE {_equal(['raw'])}"
    known: dict[str, int | None] = dict(
        run_matching(conn, select, ["text"], [(raw,) for raw in wanted])
    )
    missing: list[Values] = []
    for raw in sorted(wanted - known.keys()):
        known[raw] = None
        if (read := names.read_client(raw)) is not None:
            missing.append((raw, read.key, read.name, read.via, read.version))
    columns = ["raw", "key", "name", "via", "version"]
    known.update(insert_many(conn, schema.client, columns, missing, returning=["raw", "id"]))
    return known


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
        schema.caller,
        ["server_id", "level", "digest", "network"],
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
    columns = ["server_id", "tool_id", "digest", "last_release", "replaced_by", "message"]
    returning = ["server_id", "tool_id", "digest", "id"]
    found += insert_many(conn, schema.fact, columns, missing, returning=returning)
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
