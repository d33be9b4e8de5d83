"""Hand-made logs for the overview: calls and heard hours, told from one instant."""

import json
import zlib
from collections.abc import Iterable
from datetime import datetime
from itertools import count
from typing import Any

from service import answers
from service.answers import Moment, Query
from service.events import BatchName, Kind, Portion
from service.store import writer
from service.store.engine import Engine, driver_of, reading, writing
from tests.told import Told

HOUR = 3_600_000_000
DAY = 24 * HOUR
END = int(datetime.fromisoformat("2026-10-06T00:00:00+00:00").timestamp()) * 1_000_000
"""A Tuesday."""
_batches = count()


def ask(
    engine: Engine, now: int = END, collection: str = "overview", **asked: Any
) -> dict[str, Any]:
    """Ask, as REST would, and return the answer as REST would."""
    with reading(engine) as connection:
        found = getattr(answers, collection)(connection, Query.of(**asked), Moment(now)).as_json()
    answer: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return answer


def call(at: int, client: str | None = "zed", tool: str = "route", **more: Any) -> Told:
    """A stale call to `route` of `maps` at so many microseconds before (-) or after END."""
    given = {"kind": Kind.STALE_CALL, "server": "maps", "tool": tool, "client": client, **more}
    key = zlib.crc32(repr((at, client, tool, more)).encode())
    return Told(time_us=END + at, key=key, **given)


def store(
    engine: Engine, rows: Iterable[Told] = (), hours: Iterable[int] = (), server: str = "maps"
) -> None:
    """Store rows of one delivery that was heard in these hours, counted from END."""
    with writing(engine) as connection:
        portion = Portion(
            server=server,
            source="files",
            batch=BatchName(kind="ingest", label=str(next(_batches))),
            arrived_us=0,
            rows=[row.row() for row in rows],
            hours={END // HOUR + hour: 1 for hour in hours},
        )
        writer.add(driver_of(connection), portion, quarantine_days=14)


def days(first: int, last: int) -> range:
    """The hours of the days from so many before END up to so many before it."""
    return range(-24 * first, -24 * last)


def windows(row: dict[str, Any], member: str) -> list[Any]:
    """One member of each window."""
    return [window[member] for window in row["windows"]]
