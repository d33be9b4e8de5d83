"""Roll-outs that were planned: what was planned, and what the logs say came of it."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from service.analysis import rollout
from service.analysis.waves import BASELINE_DAYS, Wave
from service.analysis.waves.snippets import Language, snippet
from service.answers import calls as gather
from service.answers.paging import Order, page
from service.answers.people import NOBODY, people
from service.answers.query import (
    Collection,
    Instant,
    Moment,
    Query,
    iso,
    limit_asked,
    one_asked,
    only,
)
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US
from service.errors import BadParameter, NotFound
from service.store import read_calls, read_plans
from service.store.engine import Connection
from service.told import Plan

CLIENTS_MAX = 2_000
"""Clients that a plan lists, those with the most calls; the others get their wave from the key alone."""
LATELY_US = BASELINE_DAYS * DAY_US
"""Clients that made a stale call within this time before a plan is made are split by it."""

Status = Literal["planned", "running", "over", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """
    One plan. `clients` are those that it split, `wave_1` and `wave_2` how many of them each wave has.
    `status` is as of the question: `planned` before the first instant, `running` between the two,
    `over` after, or `withdrawn`.
    """

    id: int
    server: str
    wave_1_at: Instant
    wave_2_at: Instant
    note: str
    made_at: Instant
    actor: str
    status: Status
    clients: int
    wave_1: int
    wave_2: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedClient:
    """A client (its key) and its wave."""

    client: str
    wave: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTo:
    """
    How a wave kept to the plan, in clients that came between the two instants: first told between them,
    told before the first, or not told before the second. `share` kept to the plan.
    """

    clients: int
    told: int
    early: int
    untold: int
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReading:
    """
    What came of a plan: see `service.analysis.rollout.Reading`. `because` says that the difference is
    an effect of the notifications, and `sentence` says all of it in words. `left_out` are clients that
    are one with a client of the other wave, as somebody said since.
    """

    verdict: rollout.Verdict
    because: bool
    reason: rollout.Reason | None
    sentence: str
    rate_ratio: float | None
    interval: tuple[float | None, ...] | None
    p_value: float | None
    splits: int
    exact: bool
    observed: int
    expected: float | None
    avoided: float | None
    clients_used: tuple[int, ...]
    no_baseline: int
    left_out: tuple[str, ...]
    wave_1: KeptTo
    wave_2: KeptTo
    exposure: Literal["sessions", "calendar"]
    covered_days: int
    days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRead:
    """A plan with its clients and what came of it; `reading` is None where it was withdrawn."""

    plan: PlanRow
    key: str
    clients: tuple[PlannedClient, ...]
    reading: PlanReading | None
    as_of: Instant
    generated_at: Instant


def plans(connection: Connection, query: Query, moment: Moment) -> Collection[PlanRow]:
    """
    Every plan, the oldest first, withdrawn ones too; whatever the range.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "plans")
    told = [plan for plan in read_plans.plans(connection) if query.server.takes(plan.server)]
    kept, last = page(told, lambda plan: ("", plan.id), Order(), scope.after, limit)
    return scope.answer((_row(scope, plan) for plan in kept), last)


def plan(connection: Connection, query: Query, moment: Moment, id_: int) -> PlanRead:
    """
    One plan, and what can be read of it as of the question.

    Raises:
        BadParameter: A parameter cannot be used.
        NotFound: There is no such plan.
    """
    kept = _kept(connection, id_)
    scope = scope_of(connection, replace(query, server=only(kept.server)), moment, "plan")
    return PlanRead(
        plan=_row(scope, kept),
        key=kept.key.hex(),
        clients=tuple(
            PlannedClient(client=client, wave=wave) for client, wave in kept.waves.items()
        ),
        reading=None if kept.withdrawn_us is not None else _reading(scope, kept),
        as_of=Instant(scope.cut.as_of_us),
        generated_at=Instant(moment.now_us),
    )


def plan_snippet(
    connection: Connection, query: Query, moment: Moment, id_: int, language: Language
) -> str:
    """
    The code that tells a client's wave and instant, for whoever sends notifications.

    Raises:
        NotFound: There is no such plan.
    """
    kept = _kept(connection, id_)
    aliases = scope_of(connection, query, moment, "plan").aliases
    # a client that was split keeps its own wave, whoever it is said to be since
    same = {key: target for key, target in aliases.targets.items() if key not in kept.waves}
    return snippet(language, kept.key, (kept.wave_1_us, kept.wave_2_us), same)


def to_split(connection: Connection, query: Query, moment: Moment) -> list[str]:
    """
    The keys of the clients of a server (`query.server`) that made stale calls in the 28 days before now.

    Raises:
        BadParameter: The server is not named, or nothing is known of it.
    """
    if one_asked("server", query.server) is None:
        raise BadParameter("server", "missing; name the MCP server, such as maps")
    now_us = moment.now_us
    scope = scope_of(connection, Query(server=query.server), moment, "plan")
    if not scope.server_ids:
        raise BadParameter("server", "unknown; /api/v1/servers lists them")
    calls = gather.rows(scope, scope.names, ((now_us - LATELY_US, now_us),), read_calls.CLIENT)
    known = people(scope, np.unique(calls.client_id))
    counts = np.bincount(known.groups(calls.client_id), minlength=len(known.keys))
    found = sorted(zip((-counts).tolist(), known.keys, strict=True))
    return [key for _, key in found if key != NOBODY][:CLIENTS_MAX]


def _kept(connection: Connection, id_: int) -> Plan:
    found = read_plans.plans(connection, id_)
    if not found:
        raise NotFound(f"no plan {id_}; they are listed at /api/v1/plans")
    return found[0]


def _row(scope: Scope, kept: Plan) -> PlanRow:
    first = sum(wave == 1 for wave in kept.waves.values())
    return PlanRow(
        id=kept.id,
        server=kept.server,
        wave_1_at=Instant(kept.wave_1_us),
        wave_2_at=Instant(kept.wave_2_us),
        note=kept.note,
        made_at=Instant(kept.made_us),
        actor=kept.actor,
        status=_status(kept, min(scope.cut.as_of_us, scope.moment.now_us)),
        clients=len(kept.waves),
        wave_1=first,
        wave_2=len(kept.waves) - first,
    )


def _status(kept: Plan, now_us: int) -> Status:
    if kept.withdrawn_us is not None:
        return "withdrawn"
    if now_us < kept.wave_1_us:
        return "planned"
    return "running" if now_us < kept.wave_2_us else "over"


def _reading(scope: Scope, kept: Plan) -> PlanReading:
    from service.answers import plan_panel  # pandas is slow to import, and most answers need none

    waves, left_out = _units(scope, kept)
    panel = plan_panel.panel_of(scope, kept, tuple(waves))
    found = rollout.read(
        panel,
        list(waves.values()),
        (kept.wave_1_us / DAY_US, kept.wave_2_us / DAY_US),
        until=min(scope.cut.as_of_us, scope.moment.now_us) / DAY_US,
        seed=int.from_bytes(kept.key[:8]),
    )
    avoided = None if found.expected is None else found.expected - found.observed
    days = panel.covered.any(axis=0) if panel.units else np.zeros(panel.days, dtype=np.bool_)
    return PlanReading(
        verdict=found.verdict,
        because=found.because,
        reason=found.reason,
        sentence=_sentence(kept, found),
        rate_ratio=found.rate_ratio,
        interval=found.interval,
        p_value=found.p_value,
        splits=found.splits,
        exact=found.exact,
        observed=found.observed,
        expected=found.expected,
        avoided=avoided,
        clients_used=found.used,
        no_baseline=len(found.no_baseline),
        left_out=left_out,
        wave_1=_kept_to(found.first),
        wave_2=_kept_to(found.second),
        exposure=found.exposure,
        covered_days=int(days.sum()),
        days=panel.days,
    )


def _units(scope: Scope, kept: Plan) -> tuple[dict[str, Wave], tuple[str, ...]]:
    """The clients as they are read now, with their wave; and those that are in both."""
    read: dict[str, set[Wave]] = {}
    for client, wave in kept.waves.items():
        read.setdefault(scope.aliases.canonical(client), set()).add(1 if wave == 1 else 2)
    single = {client: min(waves) for client, waves in read.items() if len(waves) == 1}
    return single, tuple(sorted(client for client, waves in read.items() if len(waves) > 1))


def _kept_to(wave: rollout.Kept) -> KeptTo:
    return KeptTo(
        clients=wave.clients,
        told=wave.told,
        early=wave.early,
        untold=wave.untold,
        share=wave.share,
    )


_LACKS: dict[rollout.Reason, str] = {
    "clients": f"fewer than {rollout.LEAST_A_WAVE} clients of a wave made stale calls before it",
    "calls": f"fewer than {rollout.LEAST_EXPECTED} stale calls were to be expected",
    "interval": "the interval holds both a halving and no change, or a doubling; more clients would narrow it",
    "not over": "",
}


def _sentence(kept: Plan, found: rollout.Reading) -> str:
    """What may be said, and no more."""
    if found.reason == "not over":
        return f"Not over: this is read from {iso(kept.wave_2_us)} on, and says nothing before."
    if found.verdict == "not enough data":
        return f"Not enough data: {_LACKS[found.reason or 'interval']}."
    assert found.interval is not None and found.expected is not None  # noqa: S101, PT018 - there is a verdict
    calls = f"the first wave made {found.observed:,} stale calls where {found.expected:,.0f} were expected"
    change = f"{calls} ({_percent(found.rate_ratio)}, 95 % interval {_ends(found.interval)})"
    if found.verdict == "no detectable change":
        return f"No detectable change: {change}."
    if found.because:
        return f"Because they were told, clients changed: {change}."
    return f"After the first wave was due, clients changed, but the waves did not keep to the plan, so this may have another cause: {change}."


def _ends(interval: tuple[float, float | None]) -> str:
    low, high = interval
    return f"{_percent(low)} to {_percent(high)}"


def _percent(ratio: float | None) -> str:
    return "any increase" if ratio is None else f"{100 * (ratio - 1):+.0f} %"
