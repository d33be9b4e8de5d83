"""Calls to retired names, read once, laid out once, and counted over many spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from service.analysis.counts import Column, codes
from service.answers import calls as gather
from service.answers import tallies
from service.answers.calls import as_sums
from service.answers.people import NOBODY, People, people
from service.answers.retired import Name
from service.answers.scope import Scope
from service.clock import DAY_US, HOUR_US
from service.store import read_activity
from service.store.read_calls import Calls
from service.store.read_spans import Span

Mask = NDArray[np.bool_]

NEED = ("time_us", "client_id", "caller_id")


@dataclass(frozen=True, slots=True)
class Members:
    """Who made each call (a client, or a caller). All calls of one member to one name are a pair."""

    pair: Column
    """The pair of each call."""
    name: Column
    member: Column
    counts: Mask
    """Of each pair: its name, its member, and whether that is anybody."""

    @classmethod
    def of(cls, name: Column, member: Column, nobody: int) -> Self:
        """Number the pairs of calls; *member* are numbers from 0, of which *nobody* is none."""
        width = int(member.max(initial=0)) + 1
        pairs, pair = codes(name * width + member)
        return cls(pair, pairs // width, pairs % width, pairs % width != nobody)

    def met(self, within: Mask) -> Mask:
        """Which pairs have one of these calls, where the member is anybody."""
        present = np.zeros(self.name.size, dtype=bool)
        present[self.pair[within]] = True
        return present & self.counts


class Part(NamedTuple):
    """How many calls, and how many distinct clients and callers made them."""

    calls: int
    clients: int
    callers: int


@dataclass(frozen=True, slots=True)
class Count:
    """Calls in one span, and who made them: by name, and of all names together."""

    calls: Column
    clients: Column
    callers: Column
    all: Part

    @property
    def names(self) -> int:
        """How many names were called."""
        return int(np.count_nonzero(self.calls))

    def of(self, name: int) -> Part:
        """What the calls to one name come to."""
        return Part(*(int(each[name]) for each in (self.calls, self.clients, self.callers)))


class Matched(NamedTuple):
    """Hours that were watched in both of two periods, and the calls in them, of the earlier first."""

    hours: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Matches:
    """What two periods are compared by: by name, and of all names together."""

    hours: Column
    before: Column
    after: Column
    all: Matched

    def of(self, name: int) -> Matched:
        """What one name is compared by."""
        return Matched(*(int(each[name]) for each in (self.hours, self.before, self.after)))


@dataclass(frozen=True, slots=True)
class Laid:
    """Calls and the names that they are to, numbered as in `names`."""

    names: tuple[Name, ...]
    calls: Calls
    name: Column
    known: People
    clients: Members
    callers: Members

    def within(self, span: Span) -> Mask:
        """Which calls lie in [since, until)."""
        return (self.calls.time_us >= span[0]) & (self.calls.time_us < span[1])

    def count(self, span: Span) -> Count:
        """Count the calls in [since, until)."""
        within = self.within(span)
        clients, callers = self.clients.met(within), self.callers.met(within)
        size = len(self.names)
        calls = np.bincount(self.name[within], minlength=size)
        return Count(
            calls=calls,
            clients=np.bincount(self.clients.name[clients], minlength=size),
            callers=np.bincount(self.callers.name[callers], minlength=size),
            all=Part(
                int(calls.sum()),
                codes(self.clients.member[clients])[0].size,
                codes(self.callers.member[callers])[0].size,
            ),
        )

    def matches(self, start_us: int, cells: Mapping[str, Mask], together: Mask) -> Matches:
        """
        Count the calls in the matching hours of two periods, one after the other from *start_us* on.

        Args:
            start_us: When the earlier period begins.
            cells: Server → which hours of a period match, for the server of each name.
            together: Which hours match for all names together; as many.
        """
        size, width = len(self.names), together.size
        rows = {server: row for row, server in enumerate(cells)}
        table = np.array(list(cells.values()), dtype=bool).reshape(len(rows), width)
        row = np.array([rows[name.server] for name in self.names], dtype=np.int64)
        within = self.within((start_us, start_us + 2 * width * HOUR_US))
        name = self.name[within]
        half, cell = np.divmod((self.calls.time_us[within] - start_us) // HOUR_US, width)
        matched = table[row[name], cell]
        places = half[matched] * size + name[matched]
        before, after = np.bincount(places, minlength=2 * size).reshape(2, size)
        both = np.bincount(half[together[cell]], minlength=2)
        return Matches(
            hours=np.count_nonzero(table, axis=1)[row],
            before=before,
            after=after,
            all=Matched(int(np.count_nonzero(together)), int(both[0]), int(both[1])),
        )

    def unattributed(self, span: Span) -> Column:
        """By name, the calls in [since, until) that name no client."""
        nobodys = self.within(span) & (self.calls.client_id == 0)
        return np.bincount(self.name[nobodys], minlength=len(self.names))

    def ends(self, span: Span) -> tuple[list[int | None], list[int | None]]:
        """By name, the first and the last call in [since, until); None where there is none."""
        within = self.within(span)
        found = as_sums(self.calls.where(within))
        totals = tallies.totals(self.name[within], found, len(self.names))
        return [total.first_us for total in totals], [total.last_us for total in totals]

    def tops(self, span: Span, names: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Of these names, (client key, calls) of who called it most in [since, until); where equal, whoever has
        a name, then by text."""
        within = self.within(span)
        calls = np.bincount(self.clients.pair[within], minlength=self.clients.name.size)
        (pairs,) = np.nonzero((calls > 0) & np.isin(self.clients.name, names))
        found: dict[int, tuple[str, int]] = {}
        for pair in pairs.tolist():  # members are numbered in the order of their keys
            name, number = int(self.clients.name[pair]), int(calls[pair])
            key, most = found.get(name, (NOBODY, 0))
            if number > most or (number == most and key == NOBODY):
                found[name] = (self.known.keys[int(self.clients.member[pair])], number)
        return found

    def spark(self, span: Span, names: Sequence[int], starts: Sequence[int]) -> Column:
        """Calls in [since, until) to these names in the buckets that begin at *starts*: a row a name."""
        slots = np.full(len(self.names), -1, dtype=np.int64)
        slots[list(names)] = np.arange(len(names))
        slot = slots[self.name]
        edges = np.array(starts, dtype=np.int64)
        bucket = np.searchsorted(edges, self.calls.time_us, side="right") - 1
        shown = self.within(span) & (slot >= 0) & (bucket >= 0)
        cells = slot[shown] * len(starts) + bucket[shown]
        counted = np.bincount(cells, minlength=len(names) * len(starts))
        return counted.reshape(len(names), len(starts))


def lay(scope: Scope, spans: Sequence[Span]) -> Laid:
    """
    Read the calls of the question in these spans, which do not overlap.

    With a client asked for, only the names that it called in the range are kept.
    """
    names = scope.names
    calls = gather.rows(scope, names, spans, NEED)
    name = gather.name_numbers(names, calls.server_id, calls.tool_id)
    if scope.client_ids is not None:
        within = (calls.time_us >= scope.start_us) & (calls.time_us < scope.until_us)
        called = np.bincount(name[within], minlength=len(names)) > 0
        kept = called[name]
        names = tuple(each for each, was in zip(names, called, strict=True) if was)
        calls = calls.where(kept)
        name = (np.cumsum(called) - 1)[name[kept]]
    known = people(scope, codes(calls.client_id)[0])
    person = known.groups(calls.client_id)
    numbers, caller = codes(tallies.caller_numbers(calls, known))
    (unknown,) = np.nonzero(numbers == 0)
    nobody = known.keys.index(NOBODY) if NOBODY in known.keys else -1
    return Laid(
        names=names,
        calls=calls,
        name=name,
        known=known,
        clients=Members.of(name, person, nobody),
        callers=Members.of(name, caller, int(unknown[0]) if unknown.size else -1),
    )


def lasts(scope: Scope, laid: Laid, spans: Sequence[Span]) -> list[int | None]:
    """
    The time of the last call to each name before the cut, None where there is none; the last of
    *spans*, which were read, reaches up to it. What no span holds is taken from the roll-up.
    """
    never = np.iinfo(np.int64).min
    last = np.full(len(laid.names), never)
    if scope.client_ids is None and not scope.exclusions.any:
        # the first line that says a name is retired is a call of it
        firsts = [never if name.first_us is None else name.first_us for name in laid.names]
        last = np.array(firsts, dtype=np.int64)
    np.maximum.at(last, laid.name, laid.calls.time_us)
    origin = read_activity.first_event(scope.connection, scope.cut.as_of_us)
    read_from = spans[-1][0]
    quiet = [place for place, at in enumerate(last.tolist()) if at < read_from]
    if origin is not None and quiet and origin < read_from:
        names = [laid.names[place] for place in quiet]
        before = (origin // DAY_US * DAY_US, read_from)
        found = gather.sums(scope, names, by_client=False, span=before)
        group = gather.name_numbers(names, found.server_id, found.tool_id)
        np.maximum.at(last, np.array(quiet)[group], found.last_us)
    return [None if at == never else at for at in last.tolist()]


def union(first: Span, second: Span) -> tuple[Span, ...]:
    """Two spans, of which *first* may be empty, as spans that do not overlap, in order."""
    if first[0] >= first[1]:
        return (second,)
    if first[1] < second[0] or second[1] < first[0]:
        return tuple(sorted((first, second)))
    return ((min(first[0], second[0]), max(first[1], second[1])),)


def active_days(scope: Scope, laid: Laid) -> Column:
    """By name, the local days of the range that have a call."""
    within = laid.within((scope.start_us, scope.until_us))
    calls = laid.calls.where(within)
    return tallies.local_days(scope, laid.name[within], calls, len(laid.names))
