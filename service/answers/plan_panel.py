"""The days of a plan's clients before and between its waves, as `service.analysis.rollout` reads them."""

import numpy as np
import pandas as pd

from service.analysis.effect.panel import Flags, Notified, Panel, panel
from service.analysis.waves import BASELINE_DAYS
from service.answers import calls as gather
from service.answers.hearers import told_of
from service.answers.people import people
from service.answers.scope import Scope
from service.clock import DAY_US, HOUR_US, QUARTER_US
from service.events import Kind
from service.store import read_activity, read_calls, read_signals
from service.store.engine import Connection
from service.told import Plan

_QUARTERS = DAY_US // QUARTER_US


def panel_of(scope: Scope, plan: Plan, units: tuple[str, ...]) -> Panel:
    """
    Stale calls and sessions of these clients (keys as they are read) by UTC day: from four weeks before
    the first wave up to the day of the second, as far as whole days have come. `notified` is the first
    notification since the plan was made; one to everybody that no open stream is known to have carried may
    have reached each of them.
    """
    end_us = min(scope.cut.as_of_us, scope.moment.now_us)
    first = plan.wave_1_us // DAY_US - BASELINE_DAYS
    last = max(min(plan.wave_2_us, end_us) // DAY_US, first)
    span = (first * DAY_US, last * DAY_US)
    calls = gather.rows(scope, scope.names, (span,), read_calls.CLIENT)
    hellos = _hellos(scope, first, last)
    until_us = max(min(plan.wave_2_us, end_us), plan.made_us)
    sent = told_of(scope, scope.server_ids, (plan.made_us, until_us))
    known = people(
        scope, np.unique(np.concatenate([calls.client_id, hellos["client"], sent.client_id]))
    )
    keys = np.array([*known.keys, ""], dtype=object)
    stale = pd.DataFrame(
        {"unit": keys[known.groups(calls.client_id)], "day": calls.time_us // DAY_US, "calls": 1.0}
    )
    begun = pd.DataFrame(
        {
            "unit": keys[known.groups(hellos["client"].to_numpy())],
            "day": hellos["day"],
            "sessions": hellos["sessions"],
        }
    )
    frame = pd.concat([stale, begun]).fillna({"calls": 0.0, "sessions": 0.0})
    told = pd.Series(sent.time_us / DAY_US).groupby(keys[known.groups(sent.client_id)]).min()
    firsts = {str(unit): float(at) for unit, at in told.items()}
    if sent.unheard_us.size:  # it may have reached any of them
        at = float(sent.unheard_us.min()) / DAY_US
        firsts = {unit: min(at, firsts.get(unit, at)) for unit in (*units, *firsts)}
    return panel(
        frame,
        {unit: Notified(at=each, own=False) for unit, each in firsts.items()},
        units=units,
        first_day=first,
        days=last - first,
        covered=_covered(scope, plan.server, first, last),
    )


def _covered(scope: Scope, server: str, first: int, last: int) -> Flags:
    """Days each hour of which was covered."""
    day_hours = DAY_US // HOUR_US
    hours = scope.coverage_of(server).each(first * day_hours, last * day_hours)
    result: Flags = np.all(hours.reshape(last - first, day_hours), axis=1)
    return result


def _hellos(scope: Scope, first: int, last: int) -> pd.DataFrame:
    """Sessions begun, by client id and UTC day: from the roll-up as far as it holds for the cut."""
    solid = max(min(scope.cut.solid_us // DAY_US, last), first)
    cells = read_signals.cells(
        scope.connection,
        scope.server_ids,
        Kind.HELLO,
        (first * _QUARTERS, solid * _QUARTERS),
        by_client=True,
    )
    parts = [
        pd.DataFrame(
            {"client": cells.client_id, "day": cells.quarter // _QUARTERS, "sessions": cells.events}
        )
    ]
    parts += [
        _day(scope, scope.connection, server_id, day)
        for server_id in scope.server_ids
        for day in range(solid, last)
    ]
    return pd.concat(parts)


def _day(scope: Scope, connection: Connection, server_id: int, day: int) -> pd.DataFrame:
    """The same of one day that the roll-up does not hold as it was at the cut."""
    found = read_activity.counts(
        connection, scope.cut, server_id, (Kind.HELLO,), day * DAY_US, (day + 1) * DAY_US
    )[Kind.HELLO]
    return pd.DataFrame(
        {"client": list(found), "day": day, "sessions": list(found.values())}, dtype=np.int64
    )
