"""
Random logs, and what they come to by the definitions read literally: loops over all rows, pandas for
local time. Nothing here shares code with the product but the records it stores.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from service.events import BatchName, Caller, CallerLevel, Fact, Kind, Outcome, Portion
from service.store import writer
from service.store.engine import Engine, driver_of, writing
from tests.told import Told

DAY = 86_400_000_000
TOOLS = [
    "route",
    "map",
    "geo",
    "mcp__maps__route",
    "mcp_x_map",
    "gw.route",
    "a:map",
    "b/geo",
    "live",
]
NAME_OF = {
    "route": "route",
    "map": "map",
    "geo": "geo",
    "mcp__maps__route": "route",
    "mcp_x_map": "map",
    "gw.route": "route",
    "a:map": "map",
    "b/geo": "geo",
}
CLIENTS = {
    "Claude-Code": ("claude-code", "Claude-Code", None, None),
    "claude-code/1.2": ("claude-code", "claude-code", None, "1.2"),
    "claude-code (via mcp-remote 0.1.29)": ("claude-code", "claude-code", "mcp-remote", None),
    "zed": ("zed", "zed", None, None),
    "Anthropic/ClaudeAI": ("anthropic/claudeai", "Anthropic/ClaudeAI", None, None),
    "unknown": ("unknown", "unknown", None, None),
}
TOOL_KINDS = (Kind.STALE_CALL, Kind.UNKNOWN_CALL, Kind.CALL)


def random_rows(seed: int, start: int, end: int, number: int = 220) -> list[Told]:
    """Rows of two servers in [start, end), with ties, sessions, gateways, and calls logged twice."""
    rng = random.Random(seed)
    times = [rng.randrange(start, end) for _ in range(number // 2)]
    rows = []
    for _key in range(number):
        kind = rng.choice([*TOOL_KINDS, *TOOL_KINDS, Kind.STALE_CALL, *Kind])
        tool = rng.choice(TOOLS) if kind in TOOL_KINDS else None
        if kind is Kind.STALE_CALL and tool == "live":
            tool = "route"
        session = rng.choice([None, *(f"s{i}" for i in range(8))])
        rows.append(
            Told(
                time_us=rng.choice(times),
                key=rng.randrange(-(2**62), 2**62),
                kind=kind,
                server=rng.choice(["maps", "maps", "shop"]),
                tool=tool,
                client=rng.choice([None, None, *CLIENTS]),
                version=rng.choice([None, "1.0", "2.0", "10.0"]),
                session=session,
                caller=rng.choice(
                    [None, None, *(Caller(level=CallerLevel.ADDRESS, digest=d) for d in "abc")]
                ),
                outcome=Outcome.TOMBSTONE if kind is Kind.STALE_CALL else None,
                fact=_fact(rng) if kind is Kind.STALE_CALL else None,
                request_id=rng.choice([None, "1", "2"]) if kind in TOOL_KINDS else None,
            )
        )
    return rows


def _fact(rng: random.Random) -> Fact | None:
    release = rng.choice([None, "1.6.9", "1.6.10"])
    replaced = rng.choice([None, (), ("plan",), ("plan", "geo2")])
    if release is None and replaced is None:
        return None
    return Fact(last_release=release, replaced_by=replaced, message=None)


def store(engine: Engine, rows: Iterable[Told], portions: int = 3, seed: int = 1) -> None:
    """Store rows in a few transactions, shuffled."""
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    for number in range(portions):
        part = shuffled[number::portions]
        hours: dict[int, int] = defaultdict(int)
        for row in part:
            hours[row.time_us // 3_600_000_000] += 1
        with writing(engine) as connection:
            portion = Portion(
                server="maps",
                source="files",
                batch=BatchName(kind="ingest", label="run"),
                arrived_us=0,
                rows=[row.row() for row in part],
                hours=dict(hours),
            )
            writer.add(driver_of(connection), portion, quarantine_days=14)


@dataclass(frozen=True)
class Seen:
    """One row as it is read: with its client, name and whether it counts."""

    row: Told
    client: str | None
    inferred: bool
    name: str | None
    counted: bool
    stale: bool

    @property
    def key(self) -> str | None:
        return None if self.client is None else CLIENTS[self.client][0]


def read(rows: Iterable[Told], as_of: int) -> list[Seen]:
    """Read rows before `as_of` by the definitions."""
    rows = [row for row in rows if row.time_us < as_of]
    hellos: dict[tuple[str, str], tuple[int, str]] = {}
    for row in rows:
        if row.kind is Kind.HELLO and row.session and row.client:
            mine = (row.server, row.session)
            hellos[mine] = min(hellos.get(mine, (2**62, "")), (row.time_us, row.client))
    stands = _standing(rows)
    retired: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.kind is Kind.STALE_CALL and row.tool is not None:
            mine = (row.server, row.tool)
            retired[mine] = min(retired.get(mine, 2**62), row.time_us)
    seen = []
    for row in rows:
        hello = hellos.get((row.server, row.session or ""))
        client = row.client or (hello[1] if hello else None)
        name = _name(row, retired)
        spellings = [t for (s, t) in retired if s == row.server and _named(t, s, retired) == name]
        since = min((retired[row.server, t] for t in spellings), default=2**62)
        counted = id(row) in stands
        stale = counted and name is not None and (row.kind is not Kind.CALL or row.time_us >= since)
        seen.append(
            Seen(row, client, row.client is None and client is not None, name, counted, stale)
        )
    return seen


def _name(row: Told, retired: dict[tuple[str, str], int]) -> str | None:
    return None if row.tool is None else _named(row.tool, row.server, retired)


def _named(tool: str, server: str, retired: dict[tuple[str, str], int]) -> str | None:
    rest = NAME_OF.get(tool)
    if rest is not None and (server, rest) in retired:
        return rest
    return tool if (server, tool) in retired else None


def _standing(rows: list[Told]) -> set[int]:
    """The rows that stand for their call."""
    calls: dict[tuple[str, str, str, str | None], list[Told]] = defaultdict(list)
    found = set()
    for row in rows:
        if row.session and row.request_id:
            calls[row.server, row.session, row.request_id, row.tool].append(row)
        else:
            found.add(id(row))
    for lines in calls.values():
        texts = [
            (
                line.kind,
                line.time_us,
                *((t is None, t or "") for t in (line.tool, line.client, line.version)),
                line.key,
            )
            for line in lines
        ]
        found.add(id(lines[texts.index(min(texts))]))
    return found


def version_of(seen: Seen) -> str | None:
    """A line's version, else the one in its client's name."""
    return seen.row.version or (CLIENTS[seen.client][3] if seen.client else None)


def callers_of(calls: Iterable[Seen]) -> int:
    """Distinct stored callers, and clients for the calls without one."""
    found: set[object] = set()
    for call in calls:
        if call.row.caller is not None:
            found.add((call.row.server, call.row.caller.digest))
        elif call.key is not None:
            found.add(call.key)
    return len(found)


def display(every: Iterable[Seen], key: str) -> str:
    """The spelling with the latest event of any kind, counted or not; ties by the least text."""
    mine = [s for s in every if s.key == key and s.client is not None]
    latest = max(s.row.time_us for s in mine)
    return min(CLIENTS[s.client][1] for s in mine if s.row.time_us == latest and s.client)


def local_days(calls: Iterable[Seen], tz: str) -> pd.Series:
    """The local date of each call, by pandas."""
    times = pd.to_datetime(pd.Series([c.row.time_us for c in calls], dtype="int64"), unit="us")
    return times.dt.tz_localize("UTC").dt.tz_convert(tz).dt.strftime("%Y-%m-%d")


def last_versions(calls: Iterable[Seen]) -> list[str]:
    """Distinct versions, the one with the latest call first; ties by text."""
    last: dict[str, int] = {}
    for call in calls:
        version = version_of(call)
        if version is not None:
            last[version] = max(last.get(version, 0), call.row.time_us)
    return sorted(last, key=lambda v: (-last[v], v))
