"""What the log says of each client's calls to each retired name, gathered for `cures`."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.analysis import reactions
from service.analysis.counts import Column, codes, count_distinct
from service.analysis.evidence import Evidence
from service.analysis.fixed_times import Day
from service.analysis.instants import latest
from service.analysis.zones import buckets
from service.answers import calls as gather
from service.answers.callers import CallerRow, groups, rows_of
from service.answers.names import facts, in_the_end
from service.answers.people import People, people
from service.answers.retired import Name
from service.answers.scope import Scope
from service.clock import HOUR_US
from service.events import Kind
from service.store import read_calls, read_catalogue, read_sessions, read_signals
from service.store.read_calls import Calls
from service.store.read_signals import Signals

MINUTE_US = 60_000_000


@dataclass(frozen=True)
class Gathered:
    """The rows behind a question: its stale calls, and all listings and notifications beside them."""

    scope: Scope
    calls: Calls
    begun: read_sessions.Begun
    lists: Signals
    """From the beginning of the sessions of the calls to the refresh window after the range."""
    sent: Signals
    known: People

    @cached_property
    def listed(self) -> Signals:
        """The listings of the range itself."""
        scope = self.scope
        return self.lists.where(
            (self.lists.time_us >= scope.start_us) & (self.lists.time_us < scope.until_us)
        )

    @cached_property
    def listing_times(self) -> dict[tuple[int, int], Column]:
        """(server, client's number) → when it listed in the range, in order."""
        listed, width = self.listed, max(len(self.known.keys), 1)
        pair = listed.server_id * width + self.known.groups(listed.client_id)
        order = np.lexsort((listed.time_us, pair))
        pairs, first = np.unique(pair[order], return_index=True)
        parts = np.split(listed.time_us[order], first[1:])
        return {divmod(int(each), width): times for each, times in zip(pairs, parts, strict=False)}

    @cached_property
    def told(self) -> dict[tuple[int, int], reactions.Reaction]:
        """(server, client's number) → what it did after notifications."""
        none = np.empty(0, dtype=np.int64)
        moment = self.scope.moment
        found = reactions.reactions(
            self._rows(self.sent),
            self._rows(self.lists),
            reactions.Rows(none, none, none, none),
            refresh_us=moment.refresh_window_us,
            compare_us=moment.compare_window_us,
            end_us=self.scope.cut.as_of_us,
        )
        return {(each.server, each.client): each for each in found}

    def _rows(self, signals: Signals) -> reactions.Rows:
        client = self.known.groups(signals.client_id)
        return reactions.Rows(signals.server_id, signals.session_id, client, signals.time_us)


def gathered(scope: Scope, of: AbstractSet[tuple[str, str, str]] | None = None) -> Gathered:
    """Read what a question is about: all of it, or the calls *of* these (server, name, client key) alone."""
    span = (scope.start_us, scope.until_us)
    calls = gather.rows(scope, scope.names, (span,), read_calls.SESSIONS)
    if of is not None:
        calls = _only(scope, calls, of)
    sessions = {int(id_) for id_ in codes(calls.session_id)[0]} - {0}
    begun = read_sessions.begun(scope.connection, scope.cut, sessions)
    first = min([scope.start_us, *begun.first_us.tolist()])
    last = min(scope.until_us + scope.moment.refresh_window_us + 1, scope.cut.as_of_us)
    servers = {name.server_id for name in scope.names}
    lists, sent = (
        read_signals.signals(scope.connection, scope.cut, servers, kind, [between])
        for kind, between in ((Kind.LISTING, (first, last)), (Kind.NOTIFICATION, span))
    )
    sent = sent.where((sent.client_id != 0) | (sent.session_id != 0))
    every = np.concatenate([calls.client_id, lists.client_id, sent.client_id])
    return Gathered(scope, calls, begun, lists, sent, people(scope, codes(every)[0]))


def _only(scope: Scope, calls: Calls, of: AbstractSet[tuple[str, str, str]]) -> Calls:
    known = people(scope, codes(calls.client_id)[0])
    width = max(len(known.keys), 1)
    numbers = {(name.server, name.name): number for number, name in enumerate(scope.names)}
    keys = {key: number for number, key in enumerate(known.keys)}
    wanted = [numbers[server, name] * width + keys[key] for server, name, key in of if key in keys]
    number = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    return calls.where(np.isin(number * width + known.groups(calls.client_id), wanted))


def evidence(found: Gathered) -> Iterator[tuple[str, CallerRow, Evidence]]:
    """(client key, row of callers, evidence) of each server, name and client."""
    scope, known = found.scope, found.known
    pairs, group = groups(scope, found.calls, known)
    rows = rows_of(scope, found.calls, known)
    split = _split(found, group, pairs.size)
    days = _days(scope, found.calls, group, pairs.size)
    said = facts(scope, scope.names)
    instead = in_the_end(scope, scope.names, said)
    listed = _still_listed(scope)
    hours = {name.server: _hours(scope, name.server) for name in scope.names}
    who = {key: scope.moment.known.find(key) for key in known.keys}
    vias = _vias(found)
    totals = {name.server_id: 0 for name in scope.names}
    for (server_id, _), times in found.listing_times.items():
        totals[server_id] += times.size
    for place, (pair, (key, row)) in enumerate(zip(pairs.tolist(), rows, strict=True)):
        number, client = divmod(pair, max(len(known.keys), 1))
        name = scope.names[number]
        mine = found.listing_times.get((name.server_id, client), np.empty(0, dtype=np.int64))
        told = found.told.get((name.server_id, client))
        yield (
            key,
            row,
            Evidence(
                name=name.name,
                replaced_by=instead[number],
                no_replacement=said[number].replaced_by == (),
                still_listed=name in listed,
                client=row.client,
                version=row.versions[0] if row.versions else None,
                via=vias.get(key, ()),
                known=who[key],
                callers=row.callers,
                days=tuple(days[place]),
                tz=scope.query.tz,
                listings=mine.size,
                listings_since=int((mine >= name.retired_us).sum()),
                others_listings=totals[name.server_id] - mine.size,
                notifications=told.notifications if told else 0,
                episodes=told.episodes if told else 0,
                answered=told.answered if told else 0,
                hours=hours[name.server][0],
                gap_hours=hours[name.server][1],
                **{word: int(counts[place]) for word, counts in split.items()},
            ),
        )


def _still_listed(scope: Scope) -> set[Name]:
    """The names that the latest snapshot of their server has, which was taken since they are retired."""
    found = {
        server_id: read_catalogue.listed_before(scope.connection, server_id, scope.cut.as_of_us)
        for server_id in {name.server_id for name in scope.names}
    }
    return {
        name
        for name in scope.names
        if (snapshot := found[name.server_id]) is not None
        and snapshot[0] >= name.retired_us
        and name.name in snapshot[1]
    }


def _vias(found: Gathered) -> dict[str, tuple[str, ...]]:
    """Client key → the bridges that its stale calls came through, by name."""
    vias: dict[str, set[str]] = {}
    for id_ in codes(found.calls.client_id)[0].tolist():
        spelling = found.known.spellings.get(id_)
        if spelling is not None and spelling.via is not None:
            vias.setdefault(found.known.key(id_), set()).add(spelling.via)
    return {key: tuple(sorted(names)) for key, names in vias.items()}


def _split(found: Gathered, group: Column, size: int) -> dict[str, Column]:
    """How many calls of each group are of each of the five kinds, and in how many sessions they came."""
    calls, lists, names = found.calls, found.lists, found.scope.names
    in_session, known = calls.session_id > 0, lists.session_id > 0
    own = lists.where(known)
    place = latest(own.session_id, own.time_us, calls.session_id, calls.time_us)
    listed = in_session & (place >= 0)
    number = gather.name_numbers(names, calls.server_id, calls.tool_id)
    retired = np.array([name.retired_us for name in names], dtype=np.int64)[number]
    fetched = np.full(calls.time_us.size, np.iinfo(np.int64).min)
    fetched[listed] = own.time_us[place[listed]]
    again = listed & (fetched >= retired)
    greeted = _greeted(found)
    kinds = {
        "again": again,
        "old": listed & ~again,
        "whole": in_session & ~listed & greeted,
        "cut": in_session & ~listed & ~greeted,
        "lone": ~in_session,
    }
    split = {
        word: np.bincount(group[mask], minlength=size).astype(np.int64)
        for word, mask in kinds.items()
    }
    split["sessions"] = count_distinct(group[in_session], calls.session_id[in_session], size)
    split["again_sessions"] = count_distinct(group[again], calls.session_id[again], size)
    return split


def _greeted(found: Gathered) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Whether the greeting of each call's session was logged before the call."""
    calls, begun = found.calls, found.begun
    hello = begun.greeted == 1
    place = latest(begun.session_id[hello], begun.hello_us[hello], calls.session_id, calls.time_us)
    return place >= 0


def _days(scope: Scope, calls: Calls, group: Column, size: int) -> list[list[Day]]:
    """Of each group the first and last minute of each local day with a call."""
    found: list[list[Day]] = [[] for _ in range(size)]
    if not calls.time_us.size:
        return found
    first, last = int(calls.time_us.min()), int(calls.time_us.max())
    starts = np.array([b.start_us for b in buckets(first, last + 1, scope.zone, "day")])
    day = np.searchsorted(starts, calls.time_us, side="right") - 1
    minute = np.minimum((calls.time_us - starts[day]) // MINUTE_US, 24 * 60 - 1)
    pairs, place = codes(group * starts.size + day)
    low, high = np.full(pairs.size, 24 * 60), np.zeros(pairs.size, dtype=np.int64)
    np.minimum.at(low, place, minute)
    np.maximum.at(high, place, minute)
    for pair, early, late in zip(pairs.tolist(), low.tolist(), high.tolist(), strict=True):
        found[pair // starts.size].append((early, late))
    return found


def _hours(scope: Scope, server: str) -> tuple[int, int]:
    """The hours of the range as far as it has come, and those in which the server was not heard."""
    until = max(min(scope.until_us, scope.moment.now_us), scope.start_us)
    start, end = scope.start_us // HOUR_US, -(-until // HOUR_US)
    end = max(end, start)
    return end - start, end - start - scope.coverage_of(server).covered_hours(start, end)
