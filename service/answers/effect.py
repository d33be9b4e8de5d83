"""Did notifications help? One verdict with all that it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from service.analysis import effect_texts
from service.analysis.effect import Effect, LeftOut, Missing, NameEffect, Panel, Placebo, Trend
from service.analysis.effect.results import Strength, Verdict
from service.analysis.effect_texts import Check, Setting, Words
from service.analysis.zones import day_text
from service.answers import calls as gather
from service.answers import retired
from service.answers.effect_found import Findings, findings, of_members
from service.answers.heeded import Heeded, heeded
from service.answers.kept import kept
from service.answers.panels import Aside, Panels, panels_of, whole_days
from service.answers.query import (
    Instant,
    Moment,
    Query,
    Single,
    only,
)
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US
from service.store import read_activity
from service.store.engine import Connection

NAMES = 50
"""So many names with the most stale calls get a verdict of their own."""
LEFT_OUT = 100
"""So many clients that were left out are listed; the others are counted."""

Interval = tuple[float, float | None]
Basis = Literal["others", "before"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One client of one server that was looked at, and when it was first notified."""

    server: str
    client: str
    key: str
    notified_at: Instant | None


@dataclass(frozen=True, slots=True)
class Name:
    """The verdict of one retired name."""

    server: str
    name: str
    found: NameEffect


@dataclass(frozen=True, slots=True)
class Study:
    """All that is found out from one question's material; it holds no connection."""

    server: str | None
    """The one that was looked at; None where there is none."""
    panel: Panel
    units: tuple[Unit, ...]
    aside: tuple[Aside, ...]
    """Clients that were not looked at; of all others the label is their place among the units."""
    found: Findings
    heeded: Heeded
    names: tuple[Name, ...]
    other_names: int
    """Names that were not looked at one by one."""
    unheard: int

    def named(self, left_out: LeftOut) -> Aside:
        """Who was left out, by name."""
        label = int(left_out.unit)
        if label < 0:
            return self.aside[-1 - label]
        unit = self.units[label]
        return Aside(unit.server, unit.client, left_out.why, left_out.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """
    The same question of some of the notified clients, against the same others. `why` says in words why the
    verdict claims nothing, where it does not; `reason` the check that failed, as of the whole.
    """

    clients: int
    verdict: Verdict
    reason: str | None
    why: str | None
    rate_ratio: float | None
    interval: Interval | None
    observed: int | None
    expected: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRow:
    """
    Did stale calls become fewer after notifications than they would have without?

    `rate_ratio` is `observed` stale calls of notified clients per session, against those `expected` from
    clients that were not notified yet in the same weeks; `interval` holds it with 95 %. Where there is
    none, `reason` names the check that failed, and `missing` what would make an answer. `strength` says
    whether a change also holds with a trend of the clients notified early. `support` is the share of what
    notified clients did that had others to compare with. `placebo` is the same two weeks before the real
    notifications: it ought to hold 1. `naive_ratio` is calls per day after over before, adjusted for
    nothing, and no answer.

    It is about one `server`: where none is asked for, the one with the most stale calls, and
    `other_servers` are as many others. `first_day` and `last_day` are the whole UTC days that were looked at, both included, None where
    there is none; `uncovered` is the share of clients' days that lie in a gap of the log and were
    left out. `unheard_notifications` name no client, and no open stream is known to have carried them.
    """

    server: str | None
    other_servers: int
    verdict: Verdict
    strength: Strength | None
    words: Words
    reason: str | None
    rate_ratio: float | None
    interval: Interval | None
    p_value: float | None
    observed: int | None
    expected: float | None
    avoided: float | None
    clients_notified: int
    clients_used: int
    clients_left_out: tuple[Aside, ...]
    clients_left_out_count: int
    left_out_share: float | None
    much_left_out: bool
    support: float | None
    placebo: Placebo
    trend: Trend
    exposure: Literal["sessions", "calendar"]
    missing: Missing | None
    naive_ratio: float | None
    uncovered: float | None
    guards: tuple[Check, ...]
    refreshed: PartRow | None
    ignored: PartRow | None
    neither_refreshed_nor_ignored: int
    unheard_notifications: int
    first_day: str | None
    last_day: str | None


def effect(connection: Connection, query: Query, moment: Moment) -> Single[EffectRow]:
    """
    The verdict over all notified clients; with a filter on clients, over those of them that pass, against
    the same others that were not notified yet, whether they pass or not.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    scope = scope_of(connection, query, moment, "effect")
    return Single.of(scope.answer([_row(scope, study_of(scope))]))


def study_of(scope: Scope) -> Study:
    """
    What the data say to a question, of all clients, kept until they change.

    Of one server: where none is asked for, the one with the most stale calls. Another server's clients are
    none to compare with: what happens to a server in a week happens to its clients alone.
    """
    one = _one_server(scope)
    return kept(one, ("effect", whole_days(one)), lambda: _study(panels_of(one)))


def _one_server(scope: Scope) -> Scope:
    if len(scope.server_ids) < 2:
        return scope
    calls = gather.sums(scope, scope.names, by_client=False)
    ids = sorted(scope.server_ids, key=lambda id_: scope.servers[id_])
    most = max(ids, key=lambda id_: int(calls.calls[calls.server_id == id_].sum()))
    query = replace(scope.query, server=only(scope.servers[most]))
    return replace(scope, query=query, server_ids=frozenset({most}))


def asked(scope: Scope, study: Study) -> Sequence[int] | None:
    """The places of the units of the clients that are asked for; None for all."""
    if scope.client_keys is None:
        return None
    return [at for at, unit in enumerate(study.units) if unit.key in scope.client_keys]


def _study(panels: Panels) -> Study:
    panel = panels.panel
    listed = heeded(panels)
    names, other_names = _names(panels)
    found = findings(
        panel,
        panels.left_out,
        listed.refreshed,
        listed.ignored,
        tuple(panels.calls_of(name.server_id, name.tool_ids) for name in names),
    )
    return Study(
        server=_server(panels.scope),
        panel=panel,
        units=_units(panels),
        aside=panels.aside,
        found=found,
        heeded=listed,
        names=tuple(
            Name(name.server, name.name, each)
            for name, each in zip(names, found.names, strict=True)
        ),
        other_names=other_names,
        unheard=panels.told.unheard_us.size,
    )


def _server(scope: Scope) -> str | None:
    """The server of a question about one of them at most; one that nobody knows yet is that, too."""
    known = next((scope.servers[id_] for id_ in scope.server_ids), None)
    return scope.query.server.one if known is None else known


def _units(panels: Panels) -> tuple[Unit, ...]:
    found = []
    for place, unit in enumerate(panels.units):
        server, client = panels.named(unit)
        at = panels.first_told.get(place)
        notified = None if at is None else Instant(at)
        found.append(Unit(server, client or "", panels.known.keys[unit[1]], notified))
    return tuple(found)


def _names(panels: Panels) -> tuple[list[retired.Name], int]:
    """The names with the most calls, and how many others have some."""
    by_tool: dict[tuple[int, int], int] = {}
    sums = panels.sums
    for server, tool, n in zip(
        sums.server_id.tolist(), sums.tool_id.tolist(), sums.calls.tolist(), strict=True
    ):
        by_tool[server, tool] = by_tool.get((server, tool), 0) + n
    calls = {
        name: sum(by_tool.get((name.server_id, tool), 0) for tool in name.tool_ids)
        for name in panels.scope.names
    }
    called = sorted((name for name in calls if calls[name]), key=lambda name: -calls[name])
    if len(called) < 2:
        return [], 0
    return called[:NAMES], len(called) - len(called[:NAMES])


def _row(scope: Scope, study: Study) -> EffectRow:
    wanted, found = asked(scope, study), study.found.effect
    if wanted is not None:
        found = of_members(study.panel, tuple(wanted))
    left_out = [study.named(each) for each in found.left_out]
    first, days = study.panel.first_day, study.panel.days
    return EffectRow(
        server=study.server,
        other_servers=max(len({name.server for name in scope.retired}) - 1, 0),
        verdict=found.verdict,
        strength=found.strength,
        words=effect_texts.words(found, _setting(scope, study)),
        reason=found.reason,
        rate_ratio=found.rate_ratio,
        interval=found.interval,
        p_value=found.p_value,
        observed=found.observed,
        expected=found.expected,
        avoided=found.avoided,
        clients_notified=found.clients_notified,
        clients_used=found.clients_used,
        clients_left_out=tuple(left_out[:LEFT_OUT]),
        clients_left_out_count=len(left_out),
        left_out_share=found.left_out_share,
        much_left_out=found.much_left_out,
        support=found.support,
        placebo=found.placebo,
        trend=found.trend,
        exposure=found.exposure,
        missing=found.missing,
        naive_ratio=found.naive_ratio,
        uncovered=found.uncovered,
        guards=effect_texts.checks(found),
        refreshed=_part_row(study.found.refreshed, study.heeded.refreshed),
        ignored=_part_row(study.found.ignored, study.heeded.ignored),
        neither_refreshed_nor_ignored=len(study.heeded.neither),
        unheard_notifications=study.unheard,
        first_day=day_text(first) if days else None,
        last_day=day_text(first + days - 1) if days else None,
    )


def _setting(scope: Scope, study: Study) -> Setting:
    """What is known beside the effect."""
    listed = study.heeded
    return Setting(
        goes_back=_goes_back(scope, study.server),
        all_told=bool(study.units) and all(unit.notified_at is not None for unit in study.units),
        all_list=bool(listed.refreshed) and not listed.ignored and not listed.neither,
    )


def _goes_back(scope: Scope, server: str | None) -> str | None:
    """The UTC day of a server's first event, where the range begins on a later one."""
    ids = [id_ for id_, name in scope.servers.items() if name == server]
    if scope.query.since is None or not ids:
        return None
    first_us = read_activity.first_event(scope.connection, scope.cut.as_of_us, ids[0])
    if first_us is None or first_us // DAY_US >= scope.start_us // DAY_US:
        return None
    return day_text(first_us // DAY_US)


def _part_row(found: Effect | None, members: Sequence[int]) -> PartRow | None:
    if found is None:
        return None
    return PartRow(
        clients=len(members),
        verdict=found.verdict,
        reason=found.reason,
        why=effect_texts.why(found),
        rate_ratio=found.rate_ratio,
        interval=found.interval,
        observed=found.observed,
        expected=found.expected,
    )
