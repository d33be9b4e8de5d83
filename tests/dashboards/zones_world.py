"""A log around every change of clocks and the New Year, and what it holds by plain counting with `zoneinfo`."""

import json
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

ZONES = ("Asia/Kolkata", "Asia/Kathmandu", "America/Los_Angeles", "Australia/Lord_Howe")
NOW = "2027-04-20T12:00:00Z"
FIRST, LAST = datetime(2026, 9, 20, tzinfo=UTC), datetime(2027, 4, 12, tzinfo=UTC)
SILENT = (datetime(2026, 12, 22, 3, tzinfo=UTC), datetime(2026, 12, 27, 21, tzinfo=UTC))
"""The log is silent in between."""
CLIENTS = (None, *(f"client {letter}" for letter in "abcdefghi"))
NAMES = (("maps", "old-route"), ("maps", "old-search"), ("tides", "old-route"))


@dataclass(frozen=True, slots=True)
class Call:
    """A stale call as its line tells it."""

    at: datetime
    server: str
    name: str
    client: str | None
    ip: str | None

    @property
    def line(self) -> str:
        """The line of pino."""
        data = {"tool": self.name, "client": self.client, "ip": self.ip}
        said = {key: value for key, value in data.items() if value is not None}
        time = self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps({"time": time, "data": said, "msg": "Retired tool called"})

    @property
    def caller(self) -> tuple[str, str] | None:
        """Who made it: an address of that server, else the client, else nobody."""
        if self.ip is not None:
            return self.server, self.ip
        return None if self.client is None else ("", self.client)


def changes(zone: str) -> list[datetime]:
    """The instants, to the second, at which a zone sets its clocks in the time of the log."""
    tz, found = ZoneInfo(zone), []
    hours = [FIRST + timedelta(hours=n) for n in range(round((LAST - FIRST).days * 24))]
    for before, after in pairwise(hours):
        if before.astimezone(tz).utcoffset() != after.astimezone(tz).utcoffset():
            seconds = range(3601)
            at = next(
                before + timedelta(seconds=n)
                for n in seconds
                if (before + timedelta(seconds=n)).astimezone(tz).utcoffset()
                == after.astimezone(tz).utcoffset()
            )
            found.append(at)
    return found


def _instants() -> set[datetime]:
    """Just before, at and after each midnight and hour that matters, and anywhere else."""
    chance = random.Random(58)
    edges: set[datetime] = set()
    for zone in ZONES:
        tz = ZoneInfo(zone)
        for change in changes(zone):
            edges |= {change + timedelta(minutes=10 * n) for n in range(-21, 22)}
            edges.add(change - timedelta(milliseconds=1))
            day = change.astimezone(tz).date()
            edges |= {datetime(d.year, d.month, d.day, tzinfo=tz) for d in _around(day)}
        for day in (date(2027, 1, 1), date(2026, 11, 1), date(2027, 2, 1), date(2026, 12, 28)):
            edges |= {datetime(d.year, d.month, d.day, tzinfo=tz) for d in _around(day)}
    close = {edge.astimezone(UTC) + timedelta(milliseconds=n) for edge in edges for n in (-1, 0, 1)}
    span = (LAST - FIRST) // timedelta(milliseconds=1)
    anywhere = {FIRST + timedelta(milliseconds=chance.randrange(span)) for _ in range(1_200)}
    return {at for at in close | anywhere if not SILENT[0] <= at < SILENT[1]}


def _around(day: date) -> list[date]:
    return [day + timedelta(days=n) for n in (-1, 0, 1, 2)]


def calls() -> list[Call]:
    """The calls of the log, each at an instant of its own."""
    chance = random.Random(46)
    found = []
    for at in sorted(_instants()):
        client = chance.choice(CLIENTS)
        ip = chance.choice([None, f"198.51.100.{CLIENTS.index(client)}", "203.0.113.9"])
        found.append(Call(at, *chance.choice(NAMES), client, ip))
    return found


def bucket_of(at: datetime, zone: str, bucket: str) -> tuple[object, ...]:
    """Where a call belongs by the clock on the wall: its day, the Monday of it, its month, or its hour and offset."""
    wall = at.astimezone(ZoneInfo(zone))
    if bucket == "hour":
        return wall.date(), wall.hour, wall.utcoffset()
    if bucket == "week":
        return (date.fromisocalendar(*wall.isocalendar()[:2], 1),)
    return (wall.date().replace(day=1) if bucket == "month" else wall.date(),)


def labelled(label: str, bucket: str) -> tuple[object, ...]:
    """The same of a label as REST gives it; the hour of a table has its offset apart."""
    if bucket != "hour":
        return (date.fromisoformat(label),)
    wall = datetime.fromisoformat(label.replace(" +", "+").replace(" -", "-"))
    return wall.date(), wall.hour, wall.utcoffset()


def counted(
    every: list[Call], zone: str, bucket: str, by: str
) -> dict[tuple[object, ...], Counter[str | None]]:
    """How many calls each bucket holds, by client or name; with `callers`, how many made them."""
    found: dict[tuple[object, ...], Counter[str | None]] = {}
    seen = set()
    for call in every:
        where = bucket_of(call.at, zone, bucket)
        mine = found.setdefault(where, Counter())
        if by != "callers":
            mine[call.client if by == "client" else call.name] += 1
        elif call.caller is not None and (where, call.caller) not in seen:
            seen.add((where, call.caller))
            mine["callers"] += 1
    return found
