"""
A year's traffic as columns, made from a seed: the rows of every table of a database.

Skewed as real traffic is: a few clients and names make most calls, sessions come in bursts and by the
hour of the day, some clients are named by their session's hello only, some callers are told apart by
a principal, some by an address, some not at all, and a few calls name nobody. All names are made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service import names
from service.clock import DAY_US, HOUR_US
from service.events import Kind, Outcome

Column = NDArray[np.int64]
Table = Mapping[str, Sequence[Any] | Column]
"""Column → values. Ids of 0 stand for none."""

SERVERS = ("maps", "shop")
LIVE = 40
RELEASES = 10
EVENTS_A_SESSION = 40
CALLERS_MAX = 40_000
KEPT_ALIVE = 0.01
"""Of the ordinary calls that would have gone to a name which is retired: its alias still answers them."""
_RARE = {
    Kind.HELLO: 0.40,
    Kind.LISTING: 0.30,
    Kind.NOTIFICATION: 0.16,
    Kind.LISTEN: 0.08,
    Kind.UNKNOWN_CALL: 0.06,
}


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares of the events that are stale calls and of the rarer kinds; the rest are ordinary calls."""

    stale: float
    clients: int
    rare: float = 0.005
    days: int = 300
    names: int = 12


MIXES = {"A": Mix(stale=0.01, clients=200), "B": Mix(stale=0.10, clients=1_000)}


@dataclass(frozen=True, slots=True)
class Part:
    """Events of one kind. `session` is an index into the sessions; -1 where the line has none."""

    kind: Kind
    session: Column
    time_us: Column
    tool: Column
    fact: Column
    outcome: Column


class Traffic:
    """
    The rows of a mix; `tables` holds them by the name of their table, roll-ups and sessions left out.

    Args:
        mix: What happens.
        events: How many.
        seed: Equal seeds give equal rows.
        until_us: The end, not included; `mix.days` before it is the start.
    """

    def __init__(self, mix: Mix, events: int, seed: int, until_us: int) -> None:
        self.mix, self.until_us = mix, until_us
        self.since_us = until_us - mix.days * DAY_US
        self._rng = np.random.default_rng(seed)
        self.tables: dict[str, Table] = {}
        self._name_servers_and_tools()
        self._name_clients()
        self._open_sessions(max(events // EVENTS_A_SESSION, 40))
        self._write_events(self._parts(events))

    def _name_servers_and_tools(self) -> None:
        """Twelve names, two thirds of them of the first server, retired one after the other."""
        count = self.mix.names
        retired = [f"retired-{n:02}" for n in range(count)]
        tools = [f"live-{n:02}" for n in range(LIVE)] + [f"never-{n}" for n in range(8)]
        tools += retired + [f"mcp__gateway__{name}" for name in retired]
        self._first_retired = LIVE + 8 + 1
        self.tables["server"] = {"id": _ids(SERVERS), "name": SERVERS}
        self.tables["tool"] = {"id": _ids(tools), "name": tools}
        share = 0.02 + 0.75 * self._rng.permutation(count) / count
        at = self.since_us + (share * self.mix.days * DAY_US).astype(np.int64)
        owner = np.where(np.arange(count) % 3 == 2, 1, 0)
        self._retired = [
            sorted((int(at[n]), n) for n in np.flatnonzero(owner == server))
            for server in range(len(SERVERS))
        ]
        facts = [
            (f * count + n + 1, int(owner[n]) + 1, self._first_retired + gateway * count + n, f)
            for f in range(3)
            for gateway in (0, 1)
            for n in range(count)
        ]
        self.tables["fact"] = {
            "id": np.arange(1, len(facts) + 1),
            "server_id": [server for _, server, _, _ in facts],
            "tool_id": [tool for _, _, tool, _ in facts],
            "digest": self._digests(len(facts)),
            "last_release": [f"1.{f}.{tool}" for _, _, tool, f in facts],
            "replaced_by": [None if f == 1 else f'["new-{tool}"]' for _, _, tool, f in facts],
            "message": [None] * len(facts),
        }
        releases = [(s, n) for s in range(len(SERVERS)) for n in range(RELEASES)]
        step = self.mix.days * DAY_US // RELEASES
        self.tables["release"] = {
            "id": _ids(releases),
            "server_id": [s + 1 for s, _ in releases],
            "version": [f"1.{n}.0" for _, n in releases],
            "at_us": [self.since_us + n * step + s * HOUR_US for s, n in releases],
            "source": ["rest"] * len(releases),
        }

    def _name_clients(self) -> None:
        """Clients, the first of them the busiest, a part of them in several spellings."""
        spellings: list[str] = []
        firsts = []
        for n in range(self.mix.clients):
            firsts.append(len(spellings) + 1)
            spellings.append(f"client-{n:04}")
            spellings += [f"Client-{n:04}"] * (n % 4 == 0)
            spellings += [f"client-{n:04}/{n % 9}.2"] * (n % 7 == 0)
            spellings += [f"client-{n:04} (via mcp-remote 0.1.{n % 30})"] * (n % 10 == 0)
        read = [name for name in map(names.read_client, spellings) if name is not None]
        self.tables["client"] = {
            "id": _ids(spellings),
            "raw": spellings,
            "key": [name.key for name in read],
            "name": [name.name for name in read],
            "via": [name.via for name in read],
            "version": [name.version for name in read],
        }
        versions = [f"{n // 10}.{n % 10}.0" for n in range(60)]
        self.tables["version"] = {"id": _ids(versions), "name": versions}
        self._spelling = np.array(firsts)
        self._spellings = np.diff([*firsts, len(spellings) + 1])
        self._busy = 1 / np.arange(2, self.mix.clients + 2) ** 1.1
        self._stubborn = self._rng.pareto(1.5, self.mix.clients) + 0.01

    def _open_sessions(self, count: int) -> None:
        """Who speaks in each session, from when on, and what its lines say of that."""
        rng, days = self._rng, self.mix.days
        self.server = (rng.random(count) < 0.3).astype(np.int64)
        self.client = _draw(rng, self._busy, count)
        many = rng.random(count) ** 2 * self._spellings[self.client]
        self.spelling = self._spelling[self.client] + many.astype(np.int64)
        day = (rng.random(count) ** 0.9 * days).astype(np.int64)
        hour = _draw(rng, 2 + np.sin(np.arange(24) / 24 * 2 * np.pi) + (np.arange(24) > 7), count)
        within = rng.integers(0, HOUR_US, count)
        start = self.since_us // DAY_US * DAY_US + day * DAY_US + hour * HOUR_US + within
        self.start_us = self.since_us + (start - self.since_us) % (days * DAY_US)
        age = (self.start_us - self.since_us) / (days * DAY_US)
        self.version = 1 + np.maximum(
            (self.client % 40) + (age * 12).astype(np.int64) - rng.poisson(1.0, count), 0
        )
        self.version[rng.random(count) < 0.1] = 0
        people = min(CALLERS_MAX, max(count // 4, 30))
        crowd = np.maximum((people * self._busy / self._busy.sum()).astype(np.int64), 1)
        offset = np.concatenate([[0], np.cumsum(crowd)])
        person = offset[self.client] + (rng.random(count) ** 2 * crowd[self.client]).astype(
            np.int64
        )
        self.caller = person * 2 + self.server + 1
        self.caller[rng.random(count) < 0.15] = 0
        number = np.arange(int(offset[-1]) * 2)
        level = np.array([1, 1, 2, 2, 3])[number // 2 % 5]
        networks = self._digests(200)
        self.tables["caller"] = {
            "id": number + 1,
            "server_id": number % 2 + 1,
            "level": level,
            "digest": self._digests(number.size),
            "network": [networks[n % 200] if is_address else None
                        for n, is_address in enumerate(level == 2)],
        }  # fmt: skip
        self.digest = self._digests(count)
        # who is named: by each line (most), by the hello alone, or by nobody
        self.named = rng.random(count) < 0.94
        self.greeted = np.zeros(count, dtype=bool)

    def _parts(self, events: int) -> list[Part]:
        rng, mix = self._rng, self.mix
        stale, rare = round(events * mix.stale), round(events * mix.rare)
        counts = {kind: round(rare * share) for kind, share in _RARE.items()}
        sessions = self.server.size
        counts[Kind.HELLO] = min(counts[Kind.HELLO], sessions)
        greeted = rng.choice(sessions, counts[Kind.HELLO], replace=False)
        self.greeted[greeted] = True
        self.named[greeted[: greeted.size // 2]] = False
        calls = events - stale - sum(counts.values())
        weight = rng.gamma(0.8, 1.0, sessions)
        session = np.repeat(np.arange(sessions), rng.multinomial(calls, weight / weight.sum()))
        parts = [self._calls(session)]
        parts.append(self._stale(Kind.STALE_CALL, stale))
        parts.append(self._stale(Kind.UNKNOWN_CALL, counts[Kind.UNKNOWN_CALL]))
        parts.append(self._signals(Kind.HELLO, greeted, 0))
        some = rng.choice(greeted, counts[Kind.LISTEN])
        parts.append(self._signals(Kind.LISTEN, some, 2))
        told = rng.choice(greeted, counts[Kind.NOTIFICATION])
        sent = self._signals(Kind.NOTIFICATION, told, rng.exponential(900, told.size))
        sent.session[rng.random(told.size) < 0.02] = -1
        heard = rng.random(told.size) < 0.6
        heard[np.cumsum(heard) > counts[Kind.LISTING]] = False
        again = told[heard]
        answers = (sent.time_us[heard] - self.start_us[again]) / 1e6 + rng.exponential(
            20, again.size
        )
        first = rng.choice(greeted, counts[Kind.LISTING] - again.size)
        parts += [sent, self._signals(Kind.LISTING, again, answers)]
        parts.append(self._signals(Kind.LISTING, first, 1))
        return parts

    def _signals(self, kind: Kind, session: Column, after_s: float | NDArray[Any]) -> Part:
        time_us = self._hold(self.start_us[session] + np.int64(1e6) * np.asarray(after_s))
        none = np.zeros(session.size, dtype=np.int64)
        return Part(kind, session.copy(), time_us, none, none, none)

    def _hold(self, time_us: NDArray[Any]) -> Column:
        """Nothing happens after the end; what would is as long before it."""
        time_us = time_us.astype(np.int64)
        return np.where(time_us >= self.until_us, 2 * self.until_us - 1 - time_us, time_us)

    def _calls(self, session: Column) -> Part:
        """Ordinary calls: to live tools, and to each name until it was retired."""
        rng, size = self._rng, session.size
        time_us = self._hold(self.start_us[session] + rng.exponential(900e6, size))
        tool = 1 + (rng.random(size) ** 2.5 * LIVE).astype(np.int64)
        chosen = rng.random(size) < 0.03
        for server, mine in enumerate(self._retired):
            at = np.flatnonzero(chosen & (self.server[session] == server))
            which = rng.integers(0, len(mine), at.size)
            since = np.array([since for since, _ in mine])[which]
            name = np.array([name for _, name in mine])[which]
            alive = (time_us[at] < since) | ((name < 2) & (rng.random(at.size) < KEPT_ALIVE))
            tool[at[alive]] = self._first_retired + name[alive]
        none = np.zeros(size, dtype=np.int64)
        return Part(Kind.CALL, session, time_us, tool, none, none)

    def _stale(self, kind: Kind, count: int) -> Part:
        """Calls to retired names, from clients that cling to them."""
        rng = self._rng
        first = np.array([mine[0][0] for mine in self._retired])
        late = self.start_us > first[self.server]
        session = _draw(rng, late * self._stubborn[self.client], count)
        time_us = self._hold(self.start_us[session] + rng.exponential(900e6, count))
        tool = np.zeros(count, dtype=np.int64)
        fact = np.zeros(count, dtype=np.int64)
        for server, mine in enumerate(self._retired):
            at = np.flatnonzero(self.server[session] == server)
            since = np.array([since for since, _ in mine])
            known = np.maximum(np.searchsorted(since, time_us[at]), 1)
            which = (rng.random(at.size) ** 1.5 * known).astype(np.int64)
            name = np.array([name for _, name in mine])[which]
            gateway = rng.random(at.size) < 0.08
            said = np.minimum((time_us[at] - since[which]) // (60 * DAY_US), 2)
            tool[at] = self._first_retired + gateway * self.mix.names + name
            fact[at] = (
                np.maximum(said, 0) * 2 * self.mix.names + gateway * self.mix.names + name + 1
            )
        if kind is Kind.UNKNOWN_CALL:
            never = rng.random(count) < 0.3
            tool[never] = LIVE + 1 + rng.integers(0, 8, int(never.sum()))
            outcome = np.full(count, int(Outcome.UNKNOWN_TOOL))
            return Part(kind, session, time_us, tool, fact * 0, outcome)
        outcome = np.where(rng.random(count) < 0.1, int(Outcome.REDIRECTED), int(Outcome.TOMBSTONE))
        session = np.where(rng.random(count) < 0.04, -1 - session, session)
        return Part(kind, session, time_us, tool, fact, outcome)

    def _write_events(self, parts: Sequence[Part]) -> None:
        """All parts as rows, in the order of time and key, with the batches they came in."""
        joined = {
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in ("session", "time_us", "tool", "fact", "outcome")
        }
        kind = np.concatenate([np.full(part.time_us.size, int(part.kind)) for part in parts])
        self._fall_silent(joined)
        key = self._rng.integers(-(2**63), 2**63 - 1, kind.size, dtype=np.int64)
        order = np.lexsort((key, joined["time_us"]))
        joined = {field: column[order] for field, column in joined.items()}
        kind, key = kind[order], key[order]
        outside = joined["session"] < 0
        of = np.where(outside, -1 - joined["session"], joined["session"])
        server = self.server[of] + 1
        named = self.named[of] | (kind == int(Kind.HELLO))
        hour = joined["time_us"] // HOUR_US
        (batches, batch) = _codes(hour * len(SERVERS) + server - 1)
        self._write_batches(batches, np.bincount(batch))
        self.tables["event"] = {
            "time_us": joined["time_us"],
            "key": key,
            "kind": kind,
            "server_id": server,
            "source_id": server,
            "batch_id": batch + 1,
            "client_id": np.where(named & ~((kind == 4) & outside), self.spelling[of], 0),
            "caller_id": np.where(outside, 0, self.caller[of]),
            "session_id": np.where(outside, 0, of + 1),
            "tool_id": joined["tool"],
            "version_id": np.where(named, self.version[of], 0),
            "fact_id": joined["fact"],
            "outcome": joined["outcome"],
            "counted": np.ones(kind.size, dtype=np.int64),
        }

    def _fall_silent(self, joined: dict[str, Column]) -> None:
        """Of the second server nothing was heard for two days: its events come two days later."""
        start = self.since_us + int(0.6 * self.mix.days) * DAY_US
        session, time_us = joined["session"], joined["time_us"]
        second = self.server[np.where(session < 0, -1 - session, session)] == 1
        silent = second & (time_us >= start) & (time_us < start + 2 * DAY_US)
        time_us[silent] += 2 * DAY_US

    def _write_batches(self, batches: Column, rows: Column) -> None:
        """A source a server, and a batch each of its hours with an event."""
        hour, server = batches // len(SERVERS), batches % len(SERVERS)
        labels = [datetime.fromtimestamp(h * 3600, UTC).isoformat() for h in hour.tolist()]
        ids = np.arange(1, hour.size + 1)
        self.tables["source"] = {
            "id": _ids(SERVERS),
            "server_id": _ids(SERVERS),
            "name": ["http"] * len(SERVERS),
        }
        self.tables["batch"] = {
            "id": ids,
            "source_id": server + 1,
            "kind": ["http"] * hour.size,
            "label": labels,
            "started_us": hour * HOUR_US,
        }
        self.tables["ledger"] = {
            "source_id": server + 1,
            "hour": hour,
            "batch_id": ids,
            "lines": rows * 3,
        }
        fates = {"accepted": rows, "ignored": rows * 2, "duplicate": rows // 50}
        self.tables["tally"] = {
            "batch_id": np.tile(ids, len(fates)),
            "day": np.tile(hour // 24, len(fates)),
            "fate": [fate for fate in fates for _ in range(hour.size)],
            "reason": [""] * (hour.size * len(fates)),
            "records": np.concatenate(list(fates.values())),
        }
        count = min(500, hour.size)
        self.tables["reject"] = {
            "id": np.arange(1, count + 1),
            "batch_id": ids[-count:],
            "arrived_us": hour[-count:] * HOUR_US,
            "position": np.arange(count),
            "reason": ["missing_tool"] * count,
            "excerpt": ['{"msg":"Retired tool called"}'] * count,
            "whole": [True] * count,
        }

    def _digests(self, count: int) -> list[str]:
        text = self._rng.bytes(16 * count).hex()
        return [text[at : at + 32] for at in range(0, len(text), 32)]


def _ids(rows: Sequence[Any]) -> Column:
    return np.arange(1, len(rows) + 1, dtype=np.int64)


def _draw(rng: np.random.Generator, weights: NDArray[Any], count: int) -> Column:
    """Indices, each as likely as its weight."""
    sums = np.cumsum(weights)
    found: Column = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return found.astype(np.int64)


def _codes(column: Column) -> tuple[Column, Column]:
    """The values that occur, ascending, and the place of each row's among them."""
    low = int(column.min())
    present = np.zeros(int(column.max()) - low + 1, dtype=bool)
    present[column - low] = True
    return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[column - low]
