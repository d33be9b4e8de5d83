"""
What the effect of notifications is told from: clients by UTC days, gathered from the roll-ups.

A unit is one client of one server, all its spellings together. Whole UTC days only: one that the range
cuts is left out, but not the first day of a range that begins with the first event.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from service.analysis.counts import Column, codes
from service.analysis.effect import LeftOut, Notified, Panel, panel
from service.analysis.effect.panel import Counts, Flags
from service.answers import calls as gather
from service.answers.hearers import Told, told_of
from service.answers.people import NOBODY, People, people
from service.answers.query import EVERY
from service.answers.scope import Scope
from service.clock import DAY_US, HOUR_US, QUARTER_US
from service.events import Kind
from service.store import read_days, read_hearers, read_spans
from service.store.read_calls import Sums
from service.store.read_days import Present

Unit = tuple[int, int]
"""Server and number of the client among those that are known."""

UNITS = 400
"""So many clients with the most stale calls are looked at; the jackknife fits once for each."""
DAYS = 400
"""So many days are looked at, the last ones: a longer past says little of what is to be expected now."""
OWN_US = 5 * 60_000_000
"""A notification so soon after an event of its client follows the client's own activity."""
DAY_H = DAY_US // HOUR_US
_EVER_US = -(1 << 62)
_OWN_KINDS = tuple(kind for kind in Kind if kind is not Kind.NOTIFICATION)
_STAND_FOR_OTHERS = {
    "gateway": "a gateway, which many clients stand behind",
    "sdk_default": "a default name, which many programs bear",
    "probe": "a probe, which uses no tool",
}


@dataclass(frozen=True, slots=True)
class Aside:
    """A client whose calls are not looked at, and why; `client` is None where none is named."""

    server: str
    client: str | None
    why: str
    calls: int


@dataclass(frozen=True)
class Panels:
    """The material of one question. A unit's label is its place in `units`."""

    scope: Scope
    known: People
    days: tuple[int, int]
    """UTC days since 1970-01-01, half-open."""
    sums: Sums
    """Stale calls to the names of the question by server, tool, client and UTC day."""
    excluded: Sums
    """Those that rules leave out."""
    activity: dict[int, Present]
    """By server."""
    told: Told

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The clients that stand for themselves, at most `UNITS`, by server and key."""
        totals = self._totals
        fit = [unit for unit in totals if self._why_not(unit) is None]
        fit.sort(key=lambda unit: (-totals[unit], unit))
        return tuple(sorted(fit[:UNITS]))

    @cached_property
    def aside(self) -> tuple[Aside, ...]:
        """Who is not looked at, those with the most calls first."""
        taken = set(self.units)
        few = f"not among the {UNITS} clients with the most stale calls"
        found = [
            (unit, self._why_not(unit) or few, calls)
            for unit, calls in self._totals.items()
            if unit not in taken
        ]
        found += [(unit, "excluded by a rule", n) for unit, n in self._sum(self.excluded).items()]
        found.sort(key=lambda each: (-each[2], each[0]))
        return tuple(Aside(*self.named(unit), why, calls) for unit, why, calls in found)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """`aside` in the form of the analysis, where labels below 0 are places in it."""
        return tuple(LeftOut(-1 - at, each.why, each.calls) for at, each in enumerate(self.aside))

    def named(self, unit: Unit) -> tuple[str, str | None]:
        """A unit's server and client as they are shown."""
        return self.scope.servers[unit[0]], self.known.name(self.known.keys[unit[1]])

    @cached_property
    def panel(self) -> Panel:
        """The cells, with the calls to every name of the question together."""
        first, last = self.days
        return panel(
            pd.concat([self._calls(self.sums), *self._activity], ignore_index=True).fillna(0),
            self._notified,
            units=range(len(self.units)),
            first_day=first,
            days=last - first,
            covered=self._covered,
            hellos_since=self._hellos_since,
        )

    def calls_of(self, server_id: int, tool_ids: Collection[int]) -> Counts:
        """(C, T): in the cells of `panel`, the calls to one name of that server's clients."""
        sums = self.sums.where(
            (self.sums.server_id == server_id) & np.isin(self.sums.tool_id, sorted(tool_ids))
        )
        place = self.places_of(sums.server_id, sums.client_id)
        kept = place >= 0
        calls = np.zeros_like(self.panel.calls)
        np.add.at(calls, (place[kept], sums.day[kept] - self.days[0]), sums.calls[kept])
        return calls

    @cached_property
    def first_told(self) -> dict[int, int]:
        """Place of a unit → the instant of the first notification that reached it."""
        place = self.places_of(self.told.server_id, self.told.client_id)
        mine = place >= 0
        found: dict[int, int] = {}
        for unit, at in zip(place[mine].tolist(), self.told.time_us[mine].tolist(), strict=True):
            found[unit] = min(at, found.get(unit, at))
        return found

    def places_of(self, server_id: Column, client_id: Column) -> Column:
        """The place of the unit of each server and spelling; -1 where it is none."""
        number = self._numbers(client_id)
        width = len(self.known.keys) + 1
        values, rows = codes(server_id * width + number + 1)
        pairs = (divmod(value, width) for value in values.tolist())
        table = [self._places.get((server, one - 1), -1) for server, one in pairs]
        return np.array(table, dtype=np.int64)[rows] if rows.size else rows

    @cached_property
    def _places(self) -> dict[Unit, int]:
        return {unit: place for place, unit in enumerate(self.units)}

    @cached_property
    def _totals(self) -> dict[Unit, int]:
        return self._sum(self.sums)

    def _sum(self, sums: Sums) -> dict[Unit, int]:
        """Stale calls by unit."""
        width = max(len(self.known.keys), 1)
        pairs, place = codes(sums.server_id * width + self._numbers(sums.client_id))
        calls = np.bincount(place, weights=sums.calls, minlength=pairs.size).astype(np.int64)
        each = zip(pairs.tolist(), calls.tolist(), strict=True)
        return {divmod(pair, width): n for pair, n in each if n}

    def _why_not(self, unit: Unit) -> str | None:
        """Why a client does not stand for itself; None where it does."""
        key = self.known.keys[unit[1]]
        if key == NOBODY:
            return "not named in the log"
        row = self.scope.moment.known.find(key)
        return None if row is None else _STAND_FOR_OTHERS.get(row.kind)

    def _numbers(self, client_ids: Column) -> Column:
        """The number of each id's client; -1 where it is none of those that are known."""
        numbers = {key: number for number, key in enumerate(self.known.keys)}
        values, rows = codes(client_ids)
        table = [numbers.get(self.known.key(id_), -1) for id_ in values.tolist()]
        return np.array(table, dtype=np.int64)[rows] if rows.size else rows

    def _calls(self, sums: Sums) -> pd.DataFrame:
        place = self.places_of(sums.server_id, sums.client_id)
        kept = place >= 0
        return pd.DataFrame({"unit": place[kept], "day": sums.day[kept], "calls": sums.calls[kept]})

    @property
    def _activity(self) -> list[pd.DataFrame]:
        """Sessions and events by unit and day."""
        found = []
        for server_id, days in self.activity.items():
            place = self.places_of(np.full_like(days.client_id, server_id), days.client_id)
            kept = place >= 0
            hellos = np.where(days.kind == int(Kind.HELLO), days.events, 0)
            columns = {"unit": place, "day": days.day, "sessions": hellos, "events": days.events}
            found.append(pd.DataFrame({name: values[kept] for name, values in columns.items()}))
        return found

    @property
    def _hellos_since(self) -> int | None:
        """The UTC day of the first hello that any of the servers logged."""
        quarter = read_days.first_quarter(self.scope.connection, list(self.activity), Kind.HELLO)
        return None if quarter is None else quarter * QUARTER_US // DAY_US

    @property
    def _covered(self) -> Flags:
        """(C, T): days of the unit's server without an hour in a gap."""
        first, last = self.days
        of = {
            server_id: _covered_days(self.scope, server_id, first, last)
            for server_id in self.activity
        }
        rows = [of[server_id] for server_id, _ in self.units]
        return np.array(rows, dtype=bool).reshape(len(self.units), last - first)

    @property
    def _notified(self) -> dict[str | int, Notified]:
        own = self._own()
        return {place: Notified(at / DAY_US, place in own) for place, at in self.first_told.items()}

    def _own(self) -> set[int]:
        """Units whose first notification followed an event of their own, or their hello triggered."""
        told = self.first_told
        at = np.array(sorted(told.values()), dtype=np.int64)
        scope, servers = self.scope, list(self.activity)
        spans = read_spans.few(at - OWN_US, at + 1)
        own: set[int] = set()
        for part in (
            read_hearers.own_events(scope.connection, scope.cut, servers, spans),
            read_hearers.triggered_by(scope.connection, scope.cut, servers, "hello", at.tolist()),
        ):
            place = self.places_of(part.server_id, part.client_id)
            for unit, time_us in zip(place.tolist(), part.time_us.tolist(), strict=True):
                if unit in told and 0 <= told[unit] - time_us <= OWN_US:
                    own.add(unit)
        return own


def panels_of(scope: Scope) -> Panels:
    """Gather the material of a question, of all clients, whichever is asked for."""
    scope = replace(scope, query=replace(scope.query, client=EVERY))
    days = whole_days(scope)
    span = (days[0] * DAY_US, days[1] * DAY_US)
    sums = gather.sums(scope, scope.names, by_day=True, span=span)
    excluded = _excluded(scope, span)
    servers = sorted({*sums.server_id.tolist(), *excluded.server_id.tolist()})
    activity = {
        server_id: read_days.present(
            scope.connection, scope.cut, server_id, _OWN_KINDS, None, *span
        )
        for server_id in servers
    }
    told = told_of(scope, servers, (_EVER_US, span[1]))
    ids = [sums.client_id, excluded.client_id, *(each.client_id for each in activity.values())]
    return Panels(
        scope, people(scope, np.unique(np.concatenate(ids))), days, sums, excluded, activity, told
    )


def whole_days(scope: Scope) -> tuple[int, int]:
    """The UTC days [first, last) of a question that are over, the last `DAYS` of them."""
    end = min(scope.until_us, scope.moment.now_us) // DAY_US
    given = scope.query.since is not None
    start = -(-scope.start_us // DAY_US) if given else scope.start_us // DAY_US
    return min(max(start, end - DAYS), end), end


def _excluded(scope: Scope, span: tuple[int, int]) -> Sums:
    """The stale calls that rules leave out, where they are to be left out."""
    if scope.query.excluded != "hide" or not scope.exclusions.any:
        return Sums.join(())
    only = replace(scope, query=replace(scope.query, excluded="only"))
    return gather.sums(only, only.names, by_day=True, span=span)


def _covered_days(scope: Scope, server_id: int, first: int, last: int) -> Flags:
    """
    Of each day whether the server was watched in every hour of it that belongs to its record, of which
    the hours before its first line are none.
    """
    coverage = scope.coverage_of(scope.servers[server_id])
    days = np.arange(first, last, dtype=np.int64)
    starts, ends = np.maximum(days * DAY_H, coverage.first), (days + 1) * DAY_H
    hours = map(coverage.covered_hours, starts.tolist(), ends.tolist())
    whole: Flags = np.array(list(hours), dtype=np.int64) == ends - starts
    return whole & (ends > starts)
