"""Lines of a log, and what is stored of them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from service.follower import Follower
from service.store import check, stats
from service.store import engine as db

Start = Callable[..., Follower]


def line(number: int, **more: Any) -> bytes:
    """A stale call of its own millisecond; the same number is the same line to the byte."""
    second, ms = divmod(number, 1_000)
    minute, second = divmod(second, 60)
    record = {
        "level": "warn",
        "time": f"2026-10-05T10:{minute:02d}:{second:02d}.{ms:03d}Z",
        "data": {"tool": f"gone-{number % 3}", "client": f"client-{number % 7}", **more},
        "msg": "Retired tool called",
    }
    return json.dumps(record).encode() + b"\n"


def lines(numbers: Iterable[int]) -> bytes:
    """Some of these lines."""
    return b"".join(map(line, numbers))


def append(path: Path, data: bytes) -> None:
    """Write on in a file."""
    with path.open("ab") as file:
        file.write(data)


def settle(follower: Follower) -> dict[str, Any]:
    """Look until all is read; returns the account of the follower so far."""
    while follower.look():
        pass
    return follower.receipt.as_json()


def counted(database_url: str) -> int:
    """How many events the database holds; its roll-ups agree with them."""
    engine = db.make_engine(database_url)
    try:
        with db.reading(engine) as connection:
            assert check.differences(connection) == []
            return sum(stats.stats(connection)["events"].values())
    finally:
        engine.dispose()


def numbers(database_url: str) -> list[int]:
    """The numbers of the stored lines, ascending, each as often as it is stored."""
    engine = db.make_engine(database_url)
    try:
        with db.reading(engine) as connection:
            times = connection.scalars(sa.text("SELECT time_us FROM event ORDER BY time_us"))
            return [(time_us - 1_791_194_400_000_000) // 1_000 for time_us in times]
    finally:
        engine.dispose()


def rows(database_url: str, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a query."""
    engine = db.make_engine(database_url)
    try:
        with db.reading(engine) as connection:
            return [tuple(row) for row in connection.execute(sa.text(sql))]
    finally:
        engine.dispose()
