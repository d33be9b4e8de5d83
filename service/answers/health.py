"""How the watching goes: accounts of records, sources, warnings, database."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from service.analysis import warnings
from service.analysis.zones import EPOCH
from service.answers.coverage import silent, spans
from service.answers.lines import Lines, lines
from service.answers.names import sortable
from service.answers.paging import Order, page
from service.answers.query import Collection, Moment, Query, limit_asked
from service.answers.scope import Scope, scope_of
from service.clock import DAY_US
from service.events import Kind
from service.store import read_health, read_words
from service.store.engine import Connection
from service.store.read_health import Account

FATES = ("accepted", "duplicates", "ignored", "rejected")
"""What becomes of a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """
    Records of one source that arrived on one UTC day: `received` is the sum of the four fates.

    `suppressed` and `resend` are among the duplicates: those that may have been calls of their own,
    and those of a delivery that was sent again.
    """

    day: str
    server: str
    source: str
    received: int
    accepted: int
    duplicates: int
    ignored: int
    rejected: int
    reasons: dict[str, int]
    suppressed: int
    resend: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalDay:
    """Records of all sources in question that arrived on one UTC day."""

    day: str
    received: int
    accepted: int
    duplicates: int
    ignored: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of a server's stale calls name no client, over the last 7 UTC days and 28 before."""

    server: str
    recent: float | None
    recent_calls: int
    before: float | None
    before_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """A name whose calls are logged on the same days by lines of two kinds that nothing joins."""

    server: str
    name: str
    kinds: tuple[str, ...]
    days: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something a reader should know before trusting a number."""

    kind: str
    server: str
    detail: str


def health(connection: Connection, query: Query, moment: Moment) -> Collection[HealthRow]:
    """
    One row a source and UTC day of arrival, the newest first; beside them `status` (`warning` where
    there is any warning, a source that is silent now among them, else `ok`), `days` (the rows of all
    pages, added up by day, oldest first), `sources`, `unattributed`, `parallel`, `warnings` and `database`.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "health")
    accounts = _accounts(scope)
    kept, last = page(
        accounts,
        lambda row: (sortable(row, "day"), row.server, row.source),
        Order(descending=True),
        scope.after,
        limit,
    )
    days = lines(scope, _today(scope))
    shares = tuple(_shares(scope, days))
    parallel = tuple(_parallel(days))
    warned = tuple(_warnings(scope, days, parallel))
    kind, revision = read_health.database(connection)
    return scope.answer(
        kept,
        last,
        status="warning" if warned else "ok",
        days=_by_arrival(accounts),
        sources=spans(scope),
        unattributed=shares,
        parallel=parallel,
        warnings=warned,
        database={
            "kind": kind,
            "schema": revision,
            "data_version": read_words.data_version(connection),
        },
    )


def _accounts(scope: Scope) -> list[HealthRow]:
    days = None
    if scope.query.since is not None or scope.query.until is not None:
        days = (scope.start_us // DAY_US, -(-scope.until_us // DAY_US))
    elif scope.query.as_of is not None:  # an arrival is known by its day
        days = (0, -(-scope.cut.as_of_us // DAY_US))
    servers = scope.servers_asked
    found: dict[tuple[int, str, str], list[Account]] = {}
    for account in read_health.accounts(scope.connection, days, servers, scope.query.source):
        found.setdefault((account.day, account.server, account.source), []).append(account)
    return [_account(*key, accounts) for key, accounts in found.items()]


def _account(day: int, server: str, source: str, accounts: Iterable[Account]) -> HealthRow:
    fates: dict[str, int] = {}
    reasons: dict[str, int] = {}
    for account in accounts:
        fates[account.fate] = fates.get(account.fate, 0) + account.records
        if account.fate == "rejected":
            reasons[account.reason] = reasons.get(account.reason, 0) + account.records
    four = [fates.get(fate, 0) for fate in ("accepted", "duplicate", "ignored", "rejected")]
    accepted, duplicates, ignored, rejected = four
    return HealthRow(
        day=(EPOCH + timedelta(days=day)).date().isoformat(),
        server=server,
        source=source,
        received=sum(four),
        accepted=accepted,
        duplicates=duplicates,
        ignored=ignored,
        rejected=rejected,
        reasons=dict(sorted(reasons.items())),
        suppressed=fates.get("suppressed", 0),
        resend=fates.get("resend", 0),
    )


def _by_arrival(rows: Iterable[HealthRow]) -> tuple[ArrivalDay, ...]:
    """The rows of each day as one."""
    days: dict[str, dict[str, int]] = {}
    for row in rows:
        mine = days.setdefault(row.day, dict.fromkeys(FATES, 0))
        for fate in FATES:
            mine[fate] += getattr(row, fate)
    return tuple(
        ArrivalDay(day=day, received=sum(mine.values()), **mine)
        for day, mine in sorted(days.items())
    )


def _by_day(days: dict[tuple[str, str], list[Lines]]) -> dict[str, dict[int, tuple[int, int]]]:
    """Server → UTC day → (unattributed calls, all calls)."""
    servers: dict[str, dict[int, tuple[int, int]]] = {}
    for (server, _), each in days.items():
        mine = servers.setdefault(server, {})
        for day in each:
            nobody, calls = mine.get(day.day, (0, 0))
            mine[day.day] = (nobody + day.unattributed, calls + day.calls)
    return servers


def _today(scope: Scope) -> int:
    return (min(scope.cut.as_of_us, scope.moment.now_us + 1) - 1) // DAY_US


def _shares(scope: Scope, days: dict[tuple[str, str], list[Lines]]) -> Iterable[Share]:
    start = _today(scope) + 1 - warnings.RECENT_DAYS
    for server, mine in sorted(_by_day(days).items()):
        recent, recent_calls = warnings.share(mine, start, start + warnings.RECENT_DAYS)
        before, before_calls = warnings.share(mine, start - warnings.BEFORE_DAYS, start)
        yield Share(
            server=server,
            recent=recent,
            recent_calls=recent_calls,
            before=before,
            before_calls=before_calls,
        )


def _parallel(days: dict[tuple[str, str], list[Lines]]) -> Iterable[Parallel]:
    for (server, name), each in sorted(days.items()):
        kinds: dict[int, set[int]] = {}
        for day in each:
            kinds.setdefault(day.day, set()).add(day.kind)
        both = {day for day, met in kinds.items() if int(Kind.STALE_CALL) in met and len(met) > 1}
        if both:
            mine = [day for day in each if day.day in both]
            words = tuple(Kind(kind).word for kind in sorted({day.kind for day in mine}))
            yield Parallel(
                server=server,
                name=name,
                kinds=words,
                days=len(both),
                calls=sum(day.calls for day in mine),
            )


def _warnings(
    scope: Scope,
    days: dict[tuple[str, str], list[Lines]],
    parallel: Iterable[Parallel],
) -> Iterable[Warned]:
    for server, mine in sorted(_by_day(days).items()):
        if warnings.has_jumped(mine, _today(scope)):
            yield Warned(
                kind="unattributed_jump",
                server=server,
                detail="far more calls than before name no client; "
                "see that the server logs clientInfo.name",
            )
    for found in parallel:
        yield Warned(
            kind="parallel_kinds",
            server=found.server,
            detail=f"calls to {found.name} are logged by lines of {len(found.kinds)} kinds "
            "without a session and request id to join them, so a call may count twice",
        )
    for gap in silent(scope):
        yield Warned(
            kind="silent_source",
            server=gap.server,
            detail=f"source {gap.source} has been silent for {gap.end - gap.start} hours; "
            "look at its shipper",
        )
