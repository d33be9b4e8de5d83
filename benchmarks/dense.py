"""
Rows about storing: a log in which every line is an event, read once and then once more.

The peers store the same fields of the same events, and their key, where they have one, is that of all
key fields; the second time it has to find that everything is there.
"""

import shlex
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import product
from benchmarks.data import KIND_OF, Cell
from benchmarks.least import SETTINGS, TABLE
from benchmarks.measure import Taken, take, warm
from benchmarks.peers import INSTALLED_BY, Peer, frames, read
from benchmarks.report import Entry, Row, Spread, Target, compared, ratio_targets
from benchmarks.workshop import Workshop

SQLITE, JQ = "sqlite3: .import, json_extract, key", "jq | sqlite3: .import, key"
KEYED, UNKEYED = "DuckDB, key", "DuckDB, no key"
LEAST = "the least in Python: orjson, executemany, key"
REMARKS = [
    (
        "Stored are time, kind, tool, client, version, session, request id, hostname, pid, last release "
        "and replacements; Last Call adds what it derives and its roll-ups, and `lastcall db check` finds no "
        "difference. The key of the peers is over all of these but the last two."
    ),
    (
        "sqlite3 runs as fast as it can, and so does the least in Python: WITHOUT ROWID, no journal, no "
        "synchronising, everything in one transaction, so that a crash would cost the file. Last Call "
        "commits as it always does. What Python cannot do faster than the least, nothing written in it can."
    ),
]

_PRAGMAS = [f"PRAGMA {name} = {value};" for name, value in SETTINGS.items()]
_SETTINGS = "\n".join([".bail on", ".output /dev/null", *_PRAGMAS, ""])


@dataclass(frozen=True, slots=True)
class Store:
    """A peer that stores: what loads a log into a database, and what counts the events in one."""

    name: str
    needs: tuple[str, ...]
    load: Callable[[Path, Path], Sequence[str]]
    cells: Callable[[Path], Counter[Cell]]
    keyed: bool = True


def sqlite_import(log: Path, database: Path) -> list[str]:
    """Lines into a table of text, and from there by `json_extract`."""
    kinds = " ".join(f"WHEN '{message}' THEN {n}" for n, message in enumerate(KIND_OF, start=1))
    paths = ("tool", "client", "clientVersion", "sessionId", "requestId")
    fields = ", ".join(f"ifnull(json_extract(text, '$.data.{path}'), '')" for path in paths)
    script = database.with_suffix(".sql")
    script.write_text(
        f"""{_SETTINGS}{TABLE}
        CREATE TEMP TABLE line (text TEXT);
        .mode ascii
        .separator "\\037" "\\n"
        .import --schema temp {log} line
        INSERT INTO event
        SELECT json_extract(text, '$.time'), CASE json_extract(text, '$.msg') {kinds} END AS kind,
               {fields}, json_extract(text, '$.hostname'), json_extract(text, '$.pid'),
               json_extract(text, '$.data.lastRelease'), json_extract(text, '$.data.replacedBy')
        FROM line WHERE json_valid(text) AND kind IS NOT NULL;
        """.replace("\n        .", "\n.")
    )
    return ["sqlite3", "-batch", str(database), f".read {script}"]


def jq_sqlite(log: Path, database: Path) -> list[str]:
    """Jq writes CSV, which is imported straight into the keyed table."""
    kinds = ", ".join(f'"{message}": {n}' for n, message in enumerate(KIND_OF, start=1))
    program = (
        f"fromjson? | {{{kinds}}}[.msg] as $kind | select($kind) | .data as $data "
        "| [.time, $kind, ($data | .tool, .client, .clientVersion, .sessionId, .requestId), "
        '.hostname, .pid, $data.lastRelease, ($data.replacedBy // [] | join(","))] | @csv'
    )
    script = database.with_suffix(".sql")
    script.write_text(f"{_SETTINGS}{TABLE}.import --csv /dev/stdin event\n")
    read_in = f"sqlite3 -batch {shlex.quote(str(database))} {shlex.quote(f'.read {script}')}"
    pipe = f"jq -Rr {shlex.quote(program)} {shlex.quote(str(log))} | {read_in}"
    return ["bash", "-c", f"set -o pipefail; {pipe}"]


def least(log: Path, database: Path) -> list[str]:
    """See `benchmarks.least`."""
    return [sys.executable, "-m", "benchmarks.least", str(log), str(database)]


def sqlite_cells(database: Path) -> Counter[Cell]:
    """The events of such a table by cell."""
    kinds = list(KIND_OF.values())
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute(
            "SELECT kind, tool, client, substr(time, 1, 10), count(*) FROM event GROUP BY 1, 2, 3, 4"
        )
        return Counter(
            {(kinds[kind - 1], tool, client, day): n for kind, tool, client, day, n in rows}
        )
    finally:
        connection.close()


def _duckdb_cells(database: Path) -> Counter[Cell]:
    return read(take(frames("cells", database)).output)


STORES = (
    Store(SQLITE, ("sqlite3",), sqlite_import, sqlite_cells),
    Store(JQ, ("jq", "sqlite3"), jq_sqlite, sqlite_cells),
    Store(LEAST, (), least, sqlite_cells),
    Store(KEYED, ("duckdb",), lambda log, db: frames("store-keyed", log, db), _duckdb_cells),
    Store(
        UNKEYED, ("duckdb",), lambda log, db: frames("store", log, db), _duckdb_cells, keyed=False
    ),
)
BOUNDS: dict[str, tuple[float | None, float | None]] = {
    SQLITE: (1, None),
    JQ: (1.8, None),
    KEYED: (None, 1),
}


def dense(shop: Workshop) -> list[Row]:
    """Read the log, and read it again: rows `dense` and `dense-again`."""
    stores = _present(shop)
    names = [product.NAME, *(store.name for store in stores)]
    first: dict[str, list[Taken]] = {name: [] for name in names}
    again: dict[str, list[Taken]] = {
        name: [] for name in (product.NAME, *(store.name for store in stores if store.keyed))
    }
    size: dict[str, list[float]] = {name: [] for name in names}
    warm(shop.dense.path)
    for number in range(shop.options.rounds):
        ours(shop, first, again, size, prove=number == 0)
        for store in stores:
            theirs(shop, store, first, again, size)
    entries = [
        Entry(entry.name, entry.numbers | {"bytes an event": Spread.of(size[entry.name])})
        for entry in compared(first, product.NAME)
    ]
    stored = Spread.of(size[product.NAME]).median
    targets = ratio_targets(entries, BOUNDS)
    targets.append(
        Target("stored, all indexes and roll-ups", stored, 100, 60, "bytes an event", True)
    )
    events = shop.dense.cells.total()
    return [
        Row("dense", f"{events:,} events, a line each, stored", entries, targets, REMARKS),
        Row(
            "dense-again",
            f"the same {events:,} events a second time: all are duplicates",
            compared(again, product.NAME),
        ),
    ]


def _present(shop: Workshop) -> list[Store]:
    for store in STORES:
        if missing := _missing(store):
            shop.say_once(
                f"{store.name} is left out: no {' and no '.join(missing)}; {INSTALLED_BY}"
            )
    return [store for store in STORES if not _missing(store)]


def _missing(store: Store) -> list[str]:
    return Peer(store.name, store.needs, lambda _question, _path: []).missing()


def ours(
    shop: Workshop,
    first: dict[str, list[Taken]],
    again: dict[str, list[Taken]],
    size: dict[str, list[float]],
    *,
    prove: bool,
) -> None:
    """Have Last Call store the log twice; *prove* that its roll-ups agree."""
    contents, name = shop.dense, product.NAME
    database = product.ready(shop.folder, "events.db")
    url = product.sqlite(database)
    try:
        first[name].append(product.ingest(contents, contents.path, database))
        size[name].append(product.size(database) / contents.cells.total())
        again[name].append(product.ingest(contents, contents.path, database, again=True))
        product.check(contents, url)
        if prove:
            product.check_rollups(url)
    finally:
        product.remove(database)


def theirs(
    shop: Workshop,
    store: Store,
    first: dict[str, list[Taken]],
    again: dict[str, list[Taken]],
    size: dict[str, list[float]],
) -> None:
    """
    Have a peer store the log, and again where it has a key.

    Raises:
        Wrong: It does not hold the events of the log after that.
    """
    contents, database = shop.dense, shop.folder / "peer.db"
    try:
        first[store.name].append(take(store.load(contents.path, database)))
        _agree(store, database, contents.cells)
        size[store.name].append(database.stat().st_size / contents.cells.total())
        if store.keyed:
            again[store.name].append(take(store.load(contents.path, database)))
            _agree(store, database, contents.cells)
    finally:
        product.remove(database)


def _agree(store: Store, database: Path, cells: Counter[Cell]) -> None:
    if store.cells(database) != cells:
        raise product.Wrong(f"{store.name} has stored something else than the log holds")
