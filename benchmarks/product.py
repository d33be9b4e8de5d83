"""Last Call as its users run it, and what it has stored."""

import json
import shutil
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from benchmarks.data import Cell, Contents
from benchmarks.measure import Taken, take
from service.events import Kind
from service.store import schema
from service.store.engine import make_engine, reading

NAME = "Last Call"
LASTCALL = str(Path(sys.executable).with_name("lastcall"))
_US_A_DAY = 86_400_000_000


class Wrong(Exception):
    """Somebody counts otherwise than the log holds: nothing that was measured can be compared."""


def sqlite(path: Path) -> str:
    """The URL of a SQLite file."""
    return f"sqlite:///{path}"


def make_ready(url: str) -> None:
    """Bring a database's schema up to date, as the first start would; this is not measured."""
    take([LASTCALL, "db", "upgrade", "--db", url])


def ready(folder: Path, name: str) -> Path:
    """A new SQLite database that is ready: a copy of one that `lastcall db upgrade` has made."""
    template = folder / "ready.db"
    if not template.exists():
        make_ready(sqlite(template))
    return Path(shutil.copy(template, folder / name))


def command(log: Path, database: Path) -> list[str]:
    """What reads a log into a database."""
    return [LASTCALL, "ingest", str(log), "--json", "--db", sqlite(database)]


def ingest(contents: Contents, log: Path, database: Path, *, again: bool = False) -> Taken:
    """
    Read a log into a database, and hold the receipt against what the log holds.

    Raises:
        Wrong: They differ. Whoever reads the log *again* must find every event a duplicate.
    """
    one = take(command(log, database))
    said = json.loads(one.output)
    events = contents.cells.total()
    expected: dict[str, Any] = {
        "received": contents.records,
        "accepted": 0 if again else events,
        "duplicates": events if again else 0,
        "rejected": contents.rejected,
        "events": {} if again else dict(contents.events),
    }
    found = {name: said[name] for name in expected}
    if found != expected:
        raise Wrong(f"{NAME} counts {found} instead of {expected}")
    return one


def check(contents: Contents, url: str) -> None:
    """
    Hold what is stored against what the log holds.

    Raises:
        Wrong: They differ in a cell.
    """
    if stored(url) != contents.cells:
        raise Wrong(f"{NAME} has stored something else than the log holds")


def stored(url: str) -> Counter[Cell]:
    """The events of a database by cell."""
    event, tool, client = schema.event, schema.tool, schema.client
    day = event.c.time_us // _US_A_DAY
    rows = (
        sa.select(event.c.kind, tool.c.name, client.c.raw, day, sa.func.count())
        .join_from(event, tool, tool.c.id == event.c.tool_id, isouter=True)
        .join(client, client.c.id == event.c.client_id, isouter=True)
        .group_by(event.c.kind, tool.c.name, client.c.raw, day)
    )
    engine = make_engine(url)
    try:
        with reading(engine) as connection:
            return Counter(
                {
                    (Kind(kind).word, name or "", raw or "", _date(number)): rows
                    for kind, name, raw, number, rows in connection.execute(rows)
                }
            )
    finally:
        engine.dispose()


def check_rollups(url: str) -> None:
    """
    Hold every roll-up against the events, as `lastcall db check` does.

    Raises:
        Failed: A cell differs.
    """
    take([LASTCALL, "db", "check", "--db", url])


def size(database: Path) -> int:
    """Bytes of a SQLite file with what has not been written back yet."""
    log = database.with_name(database.name + "-wal")
    return database.stat().st_size + (log.stat().st_size if log.exists() else 0)


def remove(database: Path) -> None:
    """Delete a database file and what lies beside it."""
    for file in database.parent.glob(database.name + "*"):
        file.unlink()


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).date().isoformat()
