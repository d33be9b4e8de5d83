"""What an effect looks like by client, by name, by week, and by weeks since notification."""

from dataclasses import dataclass

from service.analysis import effect_texts
from service.analysis.effect.results import NameEffect, Strength, Verdict
from service.analysis.zones import day_text
from service.answers.effect import Basis, Study, asked, study_of
from service.answers.names import sortable
from service.answers.paging import Order, order_asked, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import scope_of
from service.store.engine import Connection

CLIENT_SORTS = (
    "server",
    "client",
    "notified_at",
    "before",
    "observed",
    "expected",
    "rate_ratio",
    "p_value",
    "verdict",
)
NAME_SORTS = ("server", "name", "verdict", "rate_ratio", "observed", "expected", "p_value")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectClientRow:
    """
    One notified client, by an exact interval (`low` to `high`, 95 %; a `high` of None has no bound) from
    its own calls `before`, and `observed` after against `expected`.

    `basis` is `others` where clients not yet notified say what was to be expected, and `before` where
    there were none: then it is before and after only, and no verdict. `verdict` is None where the client
    is not judged (fewer than 20 calls, too few cells). `significant` is whether it is kept when one false
    discovery in ten is allowed among all clients. Counts are divided by `dispersion` for the interval.
    """

    server: str
    client: str
    notified_at: Instant | None
    basis: Basis
    before: int
    observed: int
    expected: float | None
    rate_ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    significant: bool | None
    verdict: Verdict | None
    dispersion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectNameRow:
    """
    The same question for the calls to one name. A change claims its word only where it is kept when one
    false discovery in ten is allowed among all names (`significant`). `why` says in words why the verdict
    claims nothing, where it does not.

    Names do not add up to the whole: of each only those clients count that called it before they were
    notified, and only the weeks in which others that called it were not notified yet.
    """

    server: str
    name: str
    verdict: Verdict
    strength: Strength | None
    why: str | None
    observed: int | None
    expected: float | None
    rate_ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    significant: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectWeekRow:
    """
    One week from Monday (UTC). `notified` are the stale calls of notified clients where others were there
    to compare with, `expected` what was to be expected of them; outside of `low` to `high` the week alone
    would exclude no change. `others` are those of clients not yet notified, `fitted` what the model makes
    of them. None where there is nothing to compare. `covered` is the share of clients' days with a whole log.
    """

    week: str
    notified: int | None
    expected: float | None
    low: float | None
    high: float | None
    others: int | None
    fitted: float | None
    notified_clients: int
    other_clients: int
    covered: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSinceRow:
    """
    One week since notification: 0 is the first seven days after its day, -1 the last seven before it.
    Weeks before are fitted, so their ratios lie about 1; a slope in them says that clients were on a
    trend of their own.
    """

    week: int
    clients: int
    observed: int
    expected: float
    rate_ratio: float
    low: float | None
    high: float | None


def effect_clients(
    connection: Connection, query: Query, moment: Moment
) -> Collection[EffectClientRow]:
    """
    Every notified client, by server and client.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, CLIENT_SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "effect_clients", changes=order.changes)
    study = study_of(scope)
    wanted = asked(scope, study)
    rows = [row for at, row in _clients(study) if wanted is None or at in wanted]
    kept, last = page(
        rows,
        lambda row: (sortable(row, order.column), row.server, row.client),
        order,
        scope.after,
        limit,
    )
    return scope.answer(kept, last)


def _clients(study: Study) -> list[tuple[int, EffectClientRow]]:
    found = []
    for each in study.found.clients:
        place = int(each.unit)
        unit = study.units[place]
        low, high = each.interval or (None, None)
        row = EffectClientRow(
            server=unit.server,
            client=unit.client,
            notified_at=unit.notified_at,
            basis=each.basis,
            before=each.before,
            observed=each.observed,
            expected=each.expected,
            rate_ratio=each.rate_ratio,
            low=low,
            high=high,
            p_value=each.p_value,
            significant=each.significant,
            verdict=each.verdict,
            dispersion=each.dispersion,
        )
        found.append((place, row))
    return found


def effect_names(connection: Connection, query: Query, moment: Moment) -> Collection[EffectNameRow]:
    """
    The names with the most stale calls, by server and name, where there are two at least; beside them,
    as `other_names`, how many others have some.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, NAME_SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "effect_names", changes=order.changes)
    study = study_of(scope)
    kept, last = page(
        _names(study),
        lambda row: (sortable(row, order.column), row.server, row.name),
        order,
        scope.after,
        limit,
    )
    return scope.answer(kept, last, other_names=study.other_names)


def _names(study: Study) -> list[EffectNameRow]:
    found = []
    for each in study.names:
        effect = each.found.effect
        low, high = effect.interval or (None, None)
        row = EffectNameRow(
            server=each.server,
            name=each.name,
            verdict=each.found.verdict,
            strength=effect.strength if each.found.verdict == effect.verdict else None,
            why=_why(each.found),
            observed=effect.observed,
            expected=effect.expected,
            rate_ratio=effect.rate_ratio,
            low=low,
            high=high,
            p_value=effect.p_value,
            significant=each.found.significant,
        )
        found.append(row)
    return found


def _why(found: NameEffect) -> str | None:
    if found.verdict != found.effect.verdict:
        return "Among so many names, chance alone may make such a change."
    return effect_texts.why(found.effect)


def effect_weeks(connection: Connection, query: Query, moment: Moment) -> Collection[EffectWeekRow]:
    """
    Stale calls observed and expected, by weeks from Monday, of all clients.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "effect_weeks")
    rows = [
        EffectWeekRow(
            week=day_text(each.start),
            notified=each.notified,
            expected=each.expected,
            low=None if each.band is None else each.band[0],
            high=None if each.band is None else each.band[1],
            others=each.others,
            fitted=each.fitted,
            notified_clients=each.notified_clients,
            other_clients=each.other_clients,
            covered=each.covered,
        )
        for each in study_of(scope).found.weeks
    ]
    kept, last = page(rows, lambda row: ("", row.week), Order(), scope.after, limit)
    return scope.answer(kept, last)


def effect_since(
    connection: Connection, query: Query, moment: Moment
) -> Collection[EffectSinceRow]:
    """
    Stale calls observed and expected, by weeks since notification, of all clients.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "effect_since")
    rows = [
        EffectSinceRow(
            week=each.week,
            clients=each.clients,
            observed=each.observed,
            expected=each.expected,
            rate_ratio=each.rate_ratio,
            low=None if each.interval is None else each.interval[0],
            high=None if each.interval is None else each.interval[1],
        )
        for each in study_of(scope).found.since
    ]
    kept, last = page(rows, lambda row: ("", row.week), Order(), scope.after, limit)
    return scope.answer(kept, last)
