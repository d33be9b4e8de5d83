"""What clients did after they were notified, and whether a stream was open to tell them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column
from service.analysis.labels import ACTIVE, IN_FLIGHT_US
from service.analysis.reactions import Episodes, Groups
from service.analysis.windows import Instants, pairs
from service.answers.people import NOBODY, People
from service.answers.scope import Scope
from service.clock import QUARTER_US
from service.events import Kind
from service.store import read_notified, read_signals, read_spans, read_words
from service.store.read_notified import Acts, Later, Opened

Mask = NDArray[np.bool_]
ANY = -1
"""Stands for all clients: the lines of a session may name another one, or none."""
_KINDS = (*read_notified.STALE, *read_notified.OTHER)


@dataclass(frozen=True, slots=True)
class Window:
    """
    When events of some kinds count for each episode: in [from_us, until_us), of which the quarter-hours
    [first, last) are whole.
    """

    kinds: Collection[Kind]
    from_us: Column
    until_us: Column
    first: Column
    last: Column

    @property
    def edges(self) -> tuple[tuple[Column, Column], ...]:
        """What lies before and after the whole quarter-hours; empty where it would end before it begins."""
        return (
            (self.from_us, np.minimum(self.first * QUARTER_US, self.until_us)),
            (np.maximum(self.last * QUARTER_US, self.from_us), self.until_us),
        )


def window(kinds: Collection[Kind], from_us: Column, until_us: Column, solid_us: int) -> Window:
    """A window, the whole quarter-hours of which lie in what the roll-up holds for sure."""
    first = -(-from_us // QUARTER_US)
    last = np.maximum(np.minimum(until_us, solid_us) // QUARTER_US, first)
    return Window(kinds, from_us, until_us, first, last)


@dataclass(frozen=True)
class Follower:
    """Follows the clients of episodes: by quarter-hours where these are enough, else by rows."""

    scope: Scope
    known: People
    found: Episodes

    @cached_property
    def ids(self) -> dict[int, list[int]]:
        """The number of each client of the episodes → the ids of all its spellings, which may call later."""
        aliases, keys = self.scope.aliases, self.known.keys
        numbers = np.unique(self.found.client).tolist()
        spelled = aliases.spelled([keys[number] for number in numbers if keys[number] != NOBODY])
        by_key: dict[str, list[int]] = {NOBODY: [0]}
        for id_, each in read_words.spellings_of(self.scope.connection, sorted(spelled)).items():
            by_key.setdefault(aliases.canonical(each.key), []).append(id_)
        return {number: by_key.get(keys[number], []) for number in numbers}

    @cached_property
    def _number(self) -> dict[int, int]:
        return {id_: number for number, ids in self.ids.items() for id_ in ids}

    def spelled(self, clients: Iterable[int]) -> set[int]:
        """The ids of these clients."""
        return {id_ for number in set(clients) for id_ in self.ids[number]} - {0}

    def first_seen(self, groups: Groups, end_us: int) -> Column:
        """When the client of each group was first seen at its server, to the quarter-hour."""
        asked = list(zip(groups.server.tolist(), groups.client.tolist(), strict=True))
        firsts = self._firsts
        found = [
            min((firsts.get((server, id_), end_us) for id_ in self.ids[client]), default=end_us)
            for server, client in asked
        ]
        return np.array(found, dtype=np.int64)

    @cached_property
    def _firsts(self) -> dict[tuple[int, int], int]:
        """(server, id) of a client of the episodes → when it was first seen there, where it was."""
        met = np.unique(pairs(self.found.server, self.found.client)).tolist()
        wanted = {(pair >> 32, id_) for pair in met for id_ in self.ids[pair & 0xFFFFFFFF]}
        return read_notified.first_seen(self.scope.connection, self.scope.cut, wanted)

    def active(self, until_us: Column, followed: Mask) -> Column:
        """
        How many sessions and calls of its client follow each episode up to `until_us`: exact below
        `ACTIVE`. Stale calls in flight are none of them.
        """
        last_us, solid_us = self.found.last_us, self.scope.cut.solid_us
        windows = (
            window(read_notified.OTHER, last_us + 1, until_us, solid_us),
            window(read_notified.STALE, last_us + IN_FLIGHT_US + 1, until_us, solid_us),
        )
        asked = np.flatnonzero(followed & (until_us > last_us + 1))
        total = self._by_quarters(asked, *windows)
        rest = asked[total[asked] < ACTIVE]
        total[rest] += self._by_rows(rest, windows)
        return total

    def _by_quarters(self, asked: Column, others: Window, stale: Window) -> Column:
        """What the whole quarter-hours of these episodes hold; 0 for all others."""
        questions = [
            Later(
                place,
                int(self.found.server[place]),
                id_,
                int(others.first[place]),
                int(stale.first[place]),
                int(others.last[place]),
            )
            for place in asked.tolist()
            for id_ in self.ids[int(self.found.client[place])]
        ]
        total = np.zeros(self.found.first_us.size, dtype=np.int64)
        for place, number in read_notified.later(self.scope.connection, questions).items():
            total[place] = number
        return total

    def _by_rows(self, rest: Column, windows: Sequence[Window]) -> Column:
        """What lies beside the whole quarter-hours of these episodes."""
        edges = [[(low[rest], high[rest]) for low, high in each.edges] for each in windows]
        acts = self._acts(
            np.concatenate([low for of_one in edges for low, _ in of_one]),
            np.concatenate([high for of_one in edges for _, high in of_one]),
        )
        group = pairs(acts.server_id, self._numbers(acts.client_id))
        wanted = pairs(self.found.server, self.found.client)[rest]
        total = np.zeros(rest.size, dtype=np.int64)
        for each, of_one in zip(windows, edges, strict=True):
            mine = np.isin(acts.kind, [int(kind) for kind in each.kinds])
            instants = Instants(group[mine], acts.time_us[mine], wanted)
            for low, high in of_one:
                count = instants.count(low, np.maximum(high - 1, low))
                total += np.where(high > low, count, 0)
        return total

    def _acts(self, low: Column, high: Column, kinds: Collection[Kind] = _KINDS) -> Acts:
        asked = high > low
        spans = read_spans.join(low[asked], high[asked])
        return read_notified.acts(
            self.scope.connection,
            self.scope.cut,
            np.unique(self.found.server).tolist(),
            kinds,
            read_spans.clip(spans, (0, self.scope.cut.as_of_us)),
        )

    def _numbers(self, client_ids: Column) -> Column:
        """The number of each client, one that no episode has for the others."""
        nobody = len(self.known.keys)
        values, places = np.unique(client_ids, return_inverse=True)
        table = np.array([self._number.get(id_, nobody) for id_ in values.tolist()], dtype=np.int64)
        return table[places] if places.size else client_ids

    @cached_property
    def _streams(self) -> dict[int, dict[int, Column]]:
        """Server → client (`ANY`: all) → the quarter-hours, ascending, in which it opened a stream."""
        end = -(-self.scope.cut.as_of_us // QUARTER_US)
        found: dict[int, dict[int, Column]] = {}
        for server in np.unique(self.found.server).tolist():
            cells = read_signals.cells(
                self.scope.connection, [server], Kind.LISTEN, (0, end), by_client=True
            )
            clients = np.unique(cells.client_id).tolist()
            found[server] = {id_: np.sort(cells.quarter[cells.client_id == id_]) for id_ in clients}
            if clients:
                found[server][ANY] = np.unique(cells.quarter)
        return found

    @cached_property
    def streaming(self) -> frozenset[int]:
        """Servers whose log tells of streams that were opened."""
        whole = self.scope.cut.as_of_us // QUARTER_US
        found = {
            server
            for server, clients in self._streams.items()
            if any(quarters[0] < whole for quarters in clients.values())
        }
        if any(self._streams.values()) and len(found) < len(self._streams):
            at_cut = np.array([whole * QUARTER_US]), np.array([self.scope.cut.as_of_us])
            found |= set(self._acts(*at_cut, [Kind.LISTEN]).server_id.tolist())
        return frozenset(found)

    def opened(self, sessions: Mapping[int, Opened]) -> Mask:
        """
        Whether each episode's session, or its client where it has none, had opened a stream before it. When
        one is closed is not logged.
        """
        wanted = [
            quarter
            for place in np.flatnonzero(np.isin(self.found.server, sorted(self.streaming))).tolist()
            for quarter in self._quarters(place, sessions)
        ]
        starts = np.unique(np.array(wanted, dtype=np.int64)) * QUARTER_US
        acts = self._acts(starts, starts + QUARTER_US, [Kind.LISTEN])
        by_session = Instants(
            pairs(acts.server_id, acts.session_id),
            acts.time_us,
            pairs(self.found.server, self.found.session),
        )
        by_client = Instants(
            pairs(acts.server_id, self._numbers(acts.client_id)),
            acts.time_us,
            pairs(self.found.server, self.found.client),
        )
        span = (np.zeros_like(self.found.first_us), self.found.first_us)
        count = np.where(self.found.session > 0, by_session.count(*span), by_client.count(*span))
        return count > 0

    def _quarters(self, place: int, sessions: Mapping[int, Opened]) -> list[int]:
        """The quarter-hours in which the stream of an episode can have been opened."""
        streams = self._streams[int(self.found.server[place])]
        ids = self.ids[int(self.found.client[place])]
        session, last = (
            int(self.found.session[place]),
            int(self.found.first_us[place]) // QUARTER_US,
        )
        if not session:  # any stream of the client will do, so the first
            first = [int(streams[id_][0]) for id_ in ids if id_ in streams]
            return [quarter for quarter in first if quarter <= last]
        begun = sessions[session].first_us // QUARTER_US if session in sessions else last
        low = np.searchsorted(streams[ANY], begun)
        high = np.searchsorted(streams[ANY], last, side="right")
        found: list[int] = streams[ANY][low:high].tolist()
        return found
