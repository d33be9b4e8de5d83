"""
What answers should be, found by pandas in the rows themselves: no roll-up, no session's memory, no code
of the product but what fetches numbers. Slow and literal.

It reads databases of `benchmarks.databases`, in which no call is logged twice and a gateway's prefix
is `mcp__gateway__`.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from service import answers
from service.answers import Moment, Query
from service.answers.query import iso
from service.store import schema
from service.store.engine import Connection, make_engine, reading
from service.store.read_columns import columns

DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000
ZONES = (
    "UTC",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "America/Los_Angeles",
    "Australia/Lord_Howe",
)
STALE, UNKNOWN, CALL, NOTIFICATION, HELLO = 1, 2, 3, 4, 6
TOP = 5
PIECES = 20
"""Events are read a part of the time at once."""
_FIELDS = (
    "time_us",
    "kind",
    "server_id",
    "client_id",
    "caller_id",
    "session_id",
    "tool_id",
    "version_id",
    "fact_id",
)


def verify(url: str, seed: int = 1, ranges: int = 2) -> int:
    """Compare every answer over all zones, print what differs, and return how many do."""
    engine = make_engine(url)
    now_us = int(datetime.now(UTC).timestamp()) * 1_000_000
    with reading(engine) as connection:
        truth = Reference(connection, now_us)
        compared, wrong = 0, 0
        for case in cases(truth, seed, ranges):
            found = differences(connection, truth, case)
            compared += 1
            wrong += bool(found)
            for each in found:
                print(each)
    engine.dispose()
    print(f"{len(truth.event):,} events, {compared} answers compared, {wrong} differ")
    return wrong


@dataclass(frozen=True, slots=True)
class Case:
    """One question: a collection, a zone, a range, and what else is asked."""

    collection: str
    tz: str
    since_us: int
    until_us: int
    more: tuple[tuple[str, Any], ...] = ()

    def query(self) -> Query:
        """The question in the words of `answers`."""
        asked: dict[str, Any] = {"since": iso(self.since_us), "until": iso(self.until_us)}
        return Query.of(tz=self.tz, **asked, **dict(self.more))


def cases(truth: "Reference", seed: int, ranges: int) -> Iterator[Case]:
    """Questions about ranges that begin and end at any instant, in all zones, and over both DST days."""
    rng = random.Random(seed)
    first, last = truth.first_us, truth.now_us
    for place, tz in enumerate(ZONES):
        for number in range(place, place + ranges):
            since = rng.randrange(first - DAY_US, last - DAY_US)
            until = rng.randrange(since + 1, last + DAY_US) if number % 2 else last + DAY_US
            name = rng.choice(sorted(truth.stale["name"].unique()))
            client = rng.choice(sorted(truth.stale["key"].unique()))
            for collection, more in _ASKED:
                asked = {
                    key: {"NAME": name, "CLIENT": client}.get(value, value)
                    for key, value in more.items()
                }
                yield Case(collection, tz, since, until, tuple(asked.items()))


_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("names", {}),
    ("names", {"client": "CLIENT"}),
    ("callers", {"limit": 1_000}),
    ("callers", {"name": "NAME", "limit": 1_000}),
    ("clients", {"limit": 1_000}),
    ("servers", {}),
    ("overview", {}),
    ("coverage", {"limit": 1_000}),
    ("series", {"by": "client", "top": TOP}),
    ("series", {"by": "client", "top": TOP, "name": "NAME"}),
    ("series", {"by": "name"}),
    ("series", {"by": "version", "top": TOP}),
    ("series", {"client": "CLIENT"}),
    ("series", {"metric": "callers"}),
    ("series", {"metric": "clients", "by": "name"}),
    ("series", {"metric": "notifications"}),
    ("series", {"metric": "notifications", "by": "client", "top": TOP}),
)


def differences(connection: Connection, truth: "Reference", case: Case) -> list[str]:
    """Where an answer is not what it should be, a sentence each."""
    function = getattr(answers, case.collection)
    answer = function(connection, case.query(), Moment(truth.now_us)).as_json()
    expected = _EXPECTED[case.collection](truth, case)
    given = (
        [{key: row.get(key) for key in expected[0]} for row in answer["items"]]
        if expected
        else answer["items"]
    )
    if given == expected:
        return []
    for place, (one, other) in enumerate(zip(given, expected, strict=False)):
        if one != other:
            wrong = {key: (one[key], other[key]) for key in other if one[key] != other[key]}
            return [f"{case}: row {place} differs (found, expected): {wrong}"]
    return [f"{case}: {len(given)} rows, expected {len(expected)}"]


class Reference:
    """
    All events of a database as a frame, read by the definitions.

    Args:
        connection: A snapshot.
        now_us: The clock of the questions; every event lies before it.
    """

    def __init__(self, connection: Connection, now_us: int) -> None:
        self.now_us = now_us
        self._clients = pd.DataFrame(
            connection.execute(sa.select(schema.client.c.id, schema.client.c.raw)).all(),
            columns=["id", "raw"],
        ).set_index("id")
        self.servers = _names(connection, schema.server)
        self._tools = _names(connection, schema.tool)
        self._versions = _names(connection, schema.version)
        facts = sa.select(schema.fact.c.id, schema.fact.c.last_release, schema.fact.c.replaced_by)
        self._facts = {id_: rest for id_, *rest in connection.execute(facts)}
        ledger = sa.select(schema.source.c.server_id, schema.source.c.name, schema.ledger.c.hour)
        heard = ledger.join(schema.source, schema.source.c.id == schema.ledger.c.source_id)
        self._hours = pd.DataFrame(
            connection.execute(heard.distinct()).all(), columns=["server", "source", "hour"]
        )
        self._local: dict[str, pd.Series] = {}
        self._read_clients()
        self.event = self._events(connection)
        self.first_us = int(self.event["time_us"].min())

    def _read_clients(self) -> None:
        """What each spelling says: its key, the name to show, the bridge and a version."""
        read = [_read_client(raw) for raw in self._clients["raw"]]
        for place, column in enumerate(("key", "name", "via", "version")):
            self._clients[column] = [each[place] for each in read]

    def _events(self, connection: Connection) -> pd.DataFrame:
        """Every event, with the client of its session's earliest hello where it names none."""
        column = [sa.func.coalesce(schema.event.c[name], 0) for name in _FIELDS]
        every = sa.select(*column, schema.event.c.counted)
        time_us = schema.event.c.time_us
        ends = connection.execute(sa.select(sa.func.min(time_us), sa.func.max(time_us))).one()
        edges = np.linspace(ends[0], ends[1] + 1, PIECES + 1).astype("int64").tolist()
        pieces = [
            columns(connection, every.where(time_us >= start, time_us < end), 10)
            for start, end in pairwise(edges)
        ]
        joined = (np.concatenate(piece) for piece in zip(*pieces, strict=True))
        event = pd.DataFrame(dict(zip((*_FIELDS, "counted"), joined, strict=True)))
        assert (event["counted"] == 1).all()
        hello = event[
            (event["kind"] == HELLO) & (event["client_id"] > 0) & (event["session_id"] > 0)
        ]
        hello = hello.assign(raw=hello["client_id"].map(self._clients["raw"]))
        first = hello.sort_values(["time_us", "raw"]).drop_duplicates("session_id")
        self._hellos = first.set_index("session_id")
        inferred = event["session_id"].map(self._hellos["client_id"]).fillna(0).astype("int64")
        event["spelling"] = event["client_id"].where(event["client_id"] > 0, inferred)
        return event

    @cached_property
    def retired(self) -> dict[tuple[int, str], int]:
        """(server, name) → when the first stale call named it, in any spelling."""
        stale = self.event[self.event["kind"] == STALE]
        first = stale.groupby(["server_id", "tool_id"])["time_us"].min().reset_index()
        learned = {
            (server, self._tools[tool]): at for server, tool, at in first.itertuples(index=False)
        }
        self._learned = set(learned)
        found: dict[tuple[int, str], int] = {}
        for (server, spelling), at in learned.items():
            name = self._name(server, spelling)
            found[server, name] = min(at, found.get((server, name), at))
        return found

    def _name(self, server: int, spelling: str) -> str:
        rest = spelling.removeprefix("mcp__gateway__")
        return rest if (server, rest) in self._learned else spelling

    @cached_property
    def stale(self) -> pd.DataFrame:
        """Every stale call: its name, client key (empty for none), caller and version."""
        retired = self.retired
        calls = self.event[self.event["kind"] <= CALL]
        pairs = calls[["server_id", "tool_id"]].drop_duplicates()
        pairs["name"] = [
            self._name(server, self._tools[tool]) for server, tool in pairs.itertuples(index=False)
        ]
        pairs["since"] = [
            retired.get((server, name), -1)
            for server, name in zip(pairs["server_id"], pairs["name"], strict=True)
        ]
        calls = calls.merge(pairs[pairs["since"] >= 0], on=["server_id", "tool_id"])
        calls = calls[(calls["kind"] < CALL) | (calls["time_us"] >= calls["since"])].copy()
        calls["server"] = calls["server_id"].map(self.servers)
        calls["key"] = calls["spelling"].map(self._clients["key"]).fillna("")
        calls["inferred"] = (calls["client_id"] == 0) & (calls["spelling"] > 0)
        said = calls["version_id"].map(self._versions)
        calls["version"] = said.where(said.notna(), calls["spelling"].map(self._clients["version"]))
        number = calls["caller_id"].astype(str)
        caller = number.where(calls["caller_id"] > 0, "client " + calls["key"])
        calls["caller"] = caller.where((calls["caller_id"] > 0) | (calls["key"] != ""))
        return calls

    @cached_property
    def shown(self) -> dict[str, str | None]:
        """Client key → the spelling with the latest event; ties by text."""
        last = self.event[self.event["spelling"] > 0].groupby("spelling")["time_us"].max()
        every = self._clients.assign(last=last).dropna(subset="last")
        every = every.sort_values(["last", "name"], ascending=[False, True]).drop_duplicates("key")
        return {"": None, **dict(zip(every["key"], every["name"], strict=True))}

    def within(self, case: Case, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of the range, of the name and client that are asked for."""
        found = frame[(frame["time_us"] >= case.since_us) & (frame["time_us"] < case.until_us)]
        for column, value in case.more:
            if column in ("name", "client"):
                found = found[found[{"client": "key"}.get(column, column)] == value]
        return found

    def notifications(self) -> pd.DataFrame:
        """Every notification with its client key."""
        sent = self.event[self.event["kind"] == NOTIFICATION].copy()
        sent["key"] = sent["spelling"].map(self._clients["key"]).fillna("")
        return sent

    # ------------------------------------------------------------------------- per collection

    def names(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `names`."""
        stale = self.within(case, self.stale)
        rows = []
        for server, name in sorted((self.servers[s], n) for s, n in self.retired):
            mine = stale[(stale["server"] == server) & (stale["name"] == name)]
            if len(mine) or "client" not in dict(case.more):
                rows.append(
                    {
                        "server": server,
                        "name": name,
                        **self._counts(mine, case.tz),
                        **self._said(server, name),
                    }
                )
        return rows

    def overview(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `overview`: those of `names`, and the first member of what looks back."""
        rows = self.names(case)
        for row in rows:
            every = self.stale[
                (self.stale["server"] == row["server"]) & (self.stale["name"] == row["name"])
            ]
            server_id = next(id_ for id_, name in self.servers.items() if name == row["server"])
            row["retired_at"] = iso(self.retired[server_id, row["name"]])
            row["last_call_ever"] = iso(int(every["time_us"].max()))
            mine = self.within(case, every)
            most = mine.groupby("key").size().reset_index(name="calls")
            most["nobody"] = most["key"] == ""
            best = most.sort_values(["calls", "nobody", "key"], ascending=[False, True, True])
            row["top_client"] = None if best.empty else {
                "client": self.shown[best.iloc[0]["key"]],
                "stale_calls": int(best.iloc[0]["calls"]),
            }  # fmt: skip
        return rows

    def callers(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `callers`."""
        groups = self.within(case, self.stale).groupby(["server", "name", "key"], sort=True)
        return [
            {
                "server": server,
                "name": name,
                "client": self.shown[str(key)],
                **self._counts(mine, case.tz, clients=False),
                **_versions(_last_versions(mine)),
                "inferred_calls": int(mine["inferred"].sum()),
            }
            for (server, name, key), mine in groups
        ][:1_000]

    def clients(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `clients`."""
        stale = self.within(case, self.stale)
        event = self.within(case, self.event)
        active = self._clients.reindex(event["spelling"].unique()).reset_index()
        keys = set(active["key"].fillna(""))
        by_key = dict(list(stale.groupby("key")))
        sessions = self._sessions(case)
        by_owner = dict(list(sessions.groupby("key")))
        rows = []
        for key in sorted(keys):
            mine = by_key.get(key, stale.iloc[:0])
            opened = by_owner.get(key, sessions.iloc[:0])
            called = _last_versions(mine)
            said = opened.dropna(subset="version").groupby("version")["first_us"].max()
            hellos = sorted((-at, str(text)) for text, at in said.items())
            counts = self._counts(mine, case.tz, clients=False)
            del counts["active_days"]
            rows.append(
                {
                    "client": self.shown[key],
                    "via": sorted(set(active[active["key"] == key]["via"].dropna())) if key else [],
                    **_versions(called + [text for _, text in hellos if text not in called]),
                    "sessions": len(opened),
                    "names": len(mine[["server", "name"]].drop_duplicates()),
                    **counts,
                    "inferred_calls": int(mine["inferred"].sum()),
                }
            )
        return rows[:1_000]

    def _sessions(self, case: Case) -> pd.DataFrame:
        """Sessions that overlap the range: whose they are, and the version of their hello."""
        spans = self._spans
        met = (spans["first_us"] < case.until_us) & (spans["last_us"] >= case.since_us)
        return spans[met]

    @cached_property
    def _spans(self) -> pd.DataFrame:
        event = self.event[self.event["session_id"] > 0]
        grouped = event.groupby("session_id")["time_us"]
        spans = pd.DataFrame({"first_us": grouped.min(), "last_us": grouped.max()})
        named = event[event["client_id"] > 0][["session_id", "time_us", "client_id"]]
        named = named.sort_values("time_us", kind="stable").drop_duplicates("session_id")
        owner = self._hellos["client_id"].reindex(spans.index)
        owner = owner.fillna(named.set_index("session_id")["client_id"].reindex(spans.index))
        spans["key"] = owner.map(self._clients["key"]).fillna("")
        spans["version"] = self._hellos["version_id"].reindex(spans.index).map(self._versions)
        return spans

    def series(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `series` by day."""
        asked = {"metric": "stale_calls", "by": "none", **dict(case.more)}
        sent = asked["metric"] == "notifications"
        frame = self.within(case, self.notifications() if sent else self.stale)
        columns_ = {"none": None, "name": "name", "client": "key", "version": "version"}
        by = columns_[asked["by"]]
        group = pd.Series("", frame.index) if by is None else frame[by].fillna("")
        day = local_days(frame["time_us"], case.tz)
        member = {"clients": "key", "callers": "caller"}.get(asked["metric"])
        kept = pd.Series(True, frame.index)
        if member is not None:
            kept = frame[member].notna() & (frame[member] != "")
        frame = frame.assign(group=group, day=day)[kept]
        size: Callable[[Any], Any] = (
            (lambda g: g.size()) if member is None else (lambda g: g[member].nunique())
        )
        total = size(frame.groupby("group"))
        order = sorted(total.index, key=lambda key: (-total[key], key))
        top = [key for key in order if key != ""][: asked.get("top", len(order))]
        chosen = [key for key in order if key in top or key == ""]
        if by is None:
            chosen = [""]
        others = [key for key in order if key not in chosen]
        value = size(frame[frame["group"].isin(chosen)].groupby(["day", "group"])).to_dict()
        rest = size(frame[frame["group"].isin(others)].groupby("day")).to_dict()
        rows = []
        for label in calendar(case, self):
            for key in chosen:
                row = {"label": label, "value": int(value.get((label, key), 0)), "members": None}
                if by is not None:
                    name = self.shown[key] if by == "key" else key or None
                    row[asked["by"]] = name
                rows.append(row)
            if others:
                row = {"label": label, "value": int(rest.get(label, 0)), "members": len(others)}
                rows.append({**row, asked["by"]: "other"})
        return rows

    def servers_(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `servers`."""
        stale = self.within(case, self.stale)
        rows = []
        for id_, server in sorted(self.servers.items(), key=lambda pair: pair[1]):
            mine = stale[stale["server_id"] == id_]
            every = self.event[self.event["server_id"] == id_]["time_us"]
            heard = self._hours[self._hours["server"] == id_]
            rows.append(
                {
                    "server": server,
                    "names": sum(owner == id_ for owner, _ in self.retired),
                    "clients": len(set(mine["key"]) - {""}),
                    "stale_calls": len(mine),
                    **_ends(mine),
                    "first_event": iso(int(every.min())),
                    "last_event": iso(int(every.max())),
                    "sources": heard["source"].nunique(),
                    "last_heard": iso(int(heard["hour"].max()) * HOUR_US),
                }
            )
        return rows

    def coverage(self, case: Case) -> list[dict[str, Any]]:
        """The rows of `coverage`: silences longer than 6 h and than twice the longest of 28 days before."""
        limit = self.now_us // HOUR_US
        rows = []
        for (server, source), heard in self._hours.groupby(["server", "source"]):
            name, hours = self.servers[int(str(server))], sorted(heard["hour"])
            bounds = list(zip(hours, [*hours[1:], limit], strict=True))
            usual: list[tuple[int, int]] = []
            for before, end in bounds:
                start, length = before + 1, end - before - 1
                if length <= 0:
                    continue
                lately = [n for at, n in usual if at > start - 28 * 24]
                if length > max(6, 2 * max(lately, default=0)) and end >= hours[0] + 7 * 24:
                    rows.append((start, name, source, end))
                else:
                    usual.append((end, length))
        first, last = (
            case.since_us // HOUR_US,
            -(-min(case.until_us, self.now_us + DAY_US) // HOUR_US),
        )
        return [
            {"server": s, "source": f, "since": iso(a * HOUR_US), "until": iso(b * HOUR_US)}
            for a, s, f, b in sorted(rows)
            if a < last and b > first
        ][:1_000]

    def _counts(self, calls: pd.DataFrame, tz: str, *, clients: bool = True) -> dict[str, Any]:
        found = {
            "stale_calls": len(calls),
            "callers": calls["caller"].nunique(),
            "active_days": self._days(tz).reindex(calls.index).nunique(),
            **_ends(calls),
        }
        if clients:
            nobody = int((calls["key"] == "").sum())
            found |= {"clients": len(set(calls["key"]) - {""}), "unattributed_calls": nobody}
        return found

    def _days(self, tz: str) -> pd.Series:
        """The local date of each stale call."""
        if tz not in self._local:
            self._local = {tz: local_days(self.stale["time_us"], tz)}
        return self._local[tz]

    def _said(self, server: str, name: str) -> dict[str, Any]:
        """What the latest stale calls that say anything say."""
        said = self._last_facts
        mine = said[(said["server"] == server) & (said["name"] == name)]
        facts = [
            (-at, self._facts[fact])
            for at, fact in zip(mine["time_us"], mine["fact_id"], strict=True)
        ]
        releases = [(at, release) for at, (release, _) in facts if release is not None]
        replaced = [(at, text) for at, (_, text) in facts if text is not None]
        return {
            "last_release": min(releases)[1] if releases else None,
            "replaced_by": json.loads(min(replaced)[1]) if replaced else [],
        }

    @cached_property
    def _last_facts(self) -> pd.DataFrame:
        said = self.stale[self.stale["fact_id"] > 0]
        return said.groupby(["server", "name", "fact_id"])["time_us"].max().reset_index()


_EXPECTED: dict[str, Callable[[Reference, Case], list[dict[str, Any]]]] = {
    "names": Reference.names,
    "callers": Reference.callers,
    "clients": Reference.clients,
    "overview": Reference.overview,
    "servers": Reference.servers_,
    "series": Reference.series,
    "coverage": Reference.coverage,
}


def local_days(time_us: pd.Series, tz: str) -> pd.Series:
    """The local date of each instant, as text."""
    at = pd.to_datetime(time_us, unit="us", utc=True).dt.tz_convert(tz)
    days = at.dt.normalize()  # few of them: their text is made once each
    codes, values = pd.factorize(days)
    texts = np.array([day.strftime("%Y-%m-%d") for day in values], dtype=object)
    return pd.Series(texts[codes], time_us.index, dtype=object)


def calendar(case: Case, truth: Reference) -> list[str]:
    """Every local date of the range, cut where nothing can have come yet."""
    end = min(case.until_us, truth.now_us + DAY_US)
    ends = pd.to_datetime([case.since_us, end - 1], unit="us", utc=True).tz_convert(case.tz)
    first, last = (at.tz_localize(None).normalize() for at in ends)
    return [day.strftime("%Y-%m-%d") for day in pd.date_range(first, last, freq="D")]


def _ends(calls: pd.DataFrame) -> dict[str, str | None]:
    first, last = (None, None) if calls.empty else (calls["time_us"].min(), calls["time_us"].max())
    return {
        "first_call": None if first is None else iso(int(first)),
        "last_call": None if last is None else iso(int(last)),
    }


def _last_versions(calls: pd.DataFrame) -> list[str]:
    """The versions of calls, the one with the latest call first; ties by text."""
    last = calls.dropna(subset="version").groupby("version")["time_us"].max()
    return [text for _, text in sorted((-at, str(text)) for text, at in last.items())]


def _versions(every: Sequence[str]) -> dict[str, Any]:
    return {"versions": list(every[:20]), "version_count": len(every)}


def _names(connection: Connection, table: sa.Table) -> dict[int, str]:
    rows = connection.execute(sa.select(table.c.id, table.c.name))
    return {row.id: row.name for row in rows}


def _read_client(raw: str) -> tuple[str, str, str | None, str | None]:
    """Key, name, bridge and version of a spelling, as this traffic writes them."""
    via = re.search(r" \(via ([^ )]+)[^)]*\)$", raw)
    name = raw[: via.start()] if via else raw
    version = re.search(r"/(\d.*)$", name)
    name = name[: version.start()] if version else name
    return name.lower(), name, via and via[1], version and version[1]
