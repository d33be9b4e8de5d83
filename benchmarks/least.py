"""
The least that Python can do with a dense log: decode each line, insert it, nothing else.

    python3 -m benchmarks.least LOG DATABASE

It knows the one logger and the places of its fields, keeps the rows that sqlite3 keeps, with the same
settings and key, and neither accounts for a record nor rolls anything up. What Last Call does cannot be
quicker while it is written in Python; so it says how near the other rows can come.
"""

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks.data import KIND_OF
from benchmarks.frames import KEY

SETTINGS = {
    "journal_mode": "OFF",
    "synchronous": "OFF",
    "locking_mode": "EXCLUSIVE",
    "temp_store": "MEMORY",
    "cache_size": "-262144",
}
"""The fastest that SQLite has: a crash would cost the file."""


TABLE = f"""CREATE TABLE IF NOT EXISTS event (
    time TEXT, kind INTEGER, tool TEXT, client TEXT, version TEXT, session TEXT, request_id TEXT,
    hostname TEXT, pid INTEGER, last_release TEXT, replaced_by TEXT,
    PRIMARY KEY ({KEY}) ON CONFLICT IGNORE
) WITHOUT ROWID;
"""
_KINDS = {message: number for number, message in enumerate(KIND_OF, start=1)}


def main() -> None:
    """Store the events of a log."""
    log, database = sys.argv[1:]
    connection = sqlite3.connect(database, isolation_level=None)
    for name, value in SETTINGS.items():
        connection.execute(f"PRAGMA {name} = {value}")
    connection.execute(TABLE)
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO event VALUES ({','.join('?' * 11)})", _rows(Path(log)))
    connection.execute("COMMIT")
    connection.close()


def _rows(log: Path) -> Iterator[tuple[object, ...]]:
    with log.open("rb") as lines:
        for line in lines:
            try:
                record = orjson.loads(line)
            except ValueError:
                continue
            data = record["data"]
            get = data.get
            replaced = get("replacedBy")
            yield (
                record["time"], _KINDS[record["msg"]], get("tool", ""), get("client", ""),
                get("clientVersion", ""), get("sessionId", ""), get("requestId", ""),
                record["hostname"], record["pid"], get("lastRelease"),
                None if replaced is None else ",".join(replaced),
            )  # fmt: skip


if __name__ == "__main__":
    main()
