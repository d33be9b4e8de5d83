"""Has everyone stopped? One row a retired name, or one a name and client."""

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, floor

from service.analysis import stopped as analysis
from service.analysis.stopped import Everyone, Judged, Reason, Word
from service.answers import calls as gather
from service.answers.names import moment_of, sortable
from service.answers.paging import order_asked, page
from service.answers.people import NOBODY, People
from service.answers.query import (
    ABSENT,
    Absent,
    Collection,
    Instant,
    Moment,
    Query,
    choice_asked,
    limit_asked,
)
from service.answers.scope import Scope, scope_of
from service.answers.second_opinions import SecondOpinions, instant_of, second_opinions
from service.answers.silences import Silence, Silences, silences
from service.clock import DAY_US
from service.errors import BadParameter
from service.store.engine import Connection

BY = ("none", "client")
METHODS = ("rule", "all")
SORTS = (
    "server",
    "name",
    "verdict",
    "probability",
    "wait_days",
    "active_days",
    "silent_days",
    "last_call",
    "upper_bound_per_day",
    "stale_calls",
    "seen_since",
    "gap_days",
)
Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakestClient:
    """The client that the word for everyone hangs on; `client` is None for calls that name none."""

    client: str | None
    verdict: Word
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedRow:
    """
    Whether everyone stopped calling one retired name; with `by=client`, whether one client did.

    `probability` that they stopped, and `interval` over four models: None where a client has too few
    calls. `wait_days`: so many more days, heard and without a call, make it "probably stopped".
    `active_days` are UTC days with a call that counts; `silent_days` the whole days since the last of them
    that were heard. `upper_bound_per_day`: with 95 % (one-sided) there are no more calling days a
    day than 3 / `silent_days`. `reason` says why the word is not what the silence alone says: `too_few`,
    `no_calls`, `gap`, `not_heard`, `sessions`, `said_fixed`.

    `seen_since` are sessions that began on days after the last call, `silent_altogether` says that no event
    came since (it may be offline; None where nothing but its stale calls is logged). `longest_pause_days` is
    the longest from one active day of a client to its next, None where none has two. `covered`: every hour
    since the last call was. `gap_days` were not heard since calls could come; `heard_until` is where
    hearing ended.

    Of a name: `weakest`, how many `clients` have each word, `bounds` of the probability however clients
    depend on each other, and `unseen_chance`, that the next call is from a client never seen. Of a client:
    `session_probability`, the same by sessions in place of days, and `second_opinions` where asked for.
    """

    server: str
    name: str
    client: str | Absent | None = ABSENT
    verdict: Word
    reason: Reason | None
    probability: float | None
    interval: Span | None
    wait_days: float | None
    active_days: int
    silent_days: int
    last_call: Instant | None
    upper_bound_per_day: float | None
    stale_calls: int
    seen_since: int
    silent_altogether: bool | None
    longest_pause_days: int | None
    covered: bool
    gap_days: int
    heard_until: Instant
    weakest: WeakestClient | Absent | None = ABSENT
    clients: dict[str, int] | Absent = ABSENT
    bounds: Span | Absent | None = ABSENT
    unseen_chance: float | Absent | None = ABSENT
    session_probability: float | Absent | None = ABSENT
    second_opinions: SecondOpinions | Absent | None = ABSENT


def stopped(connection: Connection, query: Query, moment: Moment) -> Collection[StoppedRow]:
    """
    Every retired name known as of the cut, by server and name; with `by=client`, every client that called
    one, by server, name and client; with a filter on clients, of those that
    pass, and the names that they called.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    choice_asked("by", query.by, BY)
    choice_asked("methods", query.methods, METHODS)
    by_client = query.by == "client"
    if query.methods == "all" and not by_client:
        raise BadParameter("methods", "all is of single clients; ask with by=client, too")
    order = order_asked(query, (*SORTS, "client") if by_client else SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "stopped", changes=order.changes)
    kept, last = page(
        rows_of(scope),
        lambda pair: (sortable(pair[1], order.column), pair[1].server, pair[1].name, pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer((row for _, row in kept), last, excluded_calls=gather.left_out(scope))


def judged_of(
    scope: Scope, about: Set[tuple[str, str]]
) -> dict[tuple[str, str], tuple[StoppedRow, dict[str, Word]]]:
    """(server, name) of these alone → its row of `stopped`, and the word for each client by its key."""
    names = [name for name in scope.names if (name.server, name.name) in about]
    known, found = silences(scope, names)
    return {
        (each.name.server, each.name.name): (
            row,
            {silence.key: said.word for silence, said in zip(each.clients, judged, strict=True)},
        )
        for each, judged, row in _judged(known, found)
    }


def words_of(scope: Scope, about: Set[tuple[str, str]]) -> dict[tuple[str, str, str], Word]:
    """(server, name, client key) → the word of `by=client` for each client of these (server, name), whenever
    it called before the end of the range."""
    query = replace(scope.query, since=None, cursor=None)
    begun = scope_of(scope.connection, query, scope.moment, "stopped").since_us
    whole = replace(scope, query=query, since_us=begun)
    names = [name for name in whole.names if (name.server, name.name) in about]
    return {
        (each.name.server, each.name.name, silence.key): analysis.judge(silence.history).word
        for each in silences(whole, names)[1]
        for silence in each.clients
    }


def rows_of(scope: Scope) -> Iterator[tuple[str, StoppedRow]]:
    """(client key, row) of all rows, by name; the key is "" where a row is about everyone."""
    known, found = silences(scope, scope.names)
    if scope.client_ids is not None:
        found = [each for each in found if each.clients]
    if scope.query.by == "client":
        return _client_rows(known, found, scope.query.methods)
    return _name_rows(known, found)


def _client_rows(
    known: People, found: list[Silences], methods: str
) -> Iterator[tuple[str, StoppedRow]]:
    """(client key, row) of each client of each name."""
    for each in found:
        for silence in each.clients:
            judged = analysis.judge(silence.history)
            yield silence.key, _client_row(known, each, silence, judged, methods)


def _client_row(
    known: People, found: Silences, silence: Silence, judged: Judged, methods: str
) -> StoppedRow:
    history = silence.history
    opinions = second_opinions(history) if methods == "all" else ABSENT
    return StoppedRow(
        server=found.name.server,
        name=found.name.name,
        client=known.name(silence.key),
        verdict=judged.word,
        reason=judged.reason,
        probability=_chance(judged.probability),
        interval=_span(judged.interval),
        wait_days=_wait(judged.wait_days),
        active_days=judged.active_days,
        silent_days=floor(judged.silent_days),
        last_call=moment_of(silence.total.last_us),
        upper_bound_per_day=_rate(judged.silent_days),
        stale_calls=silence.total.calls,
        seen_since=judged.seen_since,
        silent_altogether=judged.silent_altogether,
        longest_pause_days=_pause([judged]),
        covered=found.hearing.covered(_since(silence.total.last_us, found)),
        gap_days=len(history.unheard),
        heard_until=instant_of(history.heard_until),
        session_probability=_chance(judged.by_sessions),
        second_opinions=opinions,
    )


def _name_rows(known: People, found: list[Silences]) -> Iterator[tuple[str, StoppedRow]]:
    """("", row) of each name."""
    return (("", row) for _, _, row in _judged(known, found))


def _judged(
    known: People, found: list[Silences]
) -> Iterator[tuple[Silences, list[Judged], StoppedRow]]:
    """Each name, its clients as they are judged, and the row about everyone."""
    for each in found:
        judged = [analysis.judge(silence.history) for silence in each.clients]
        everyone = analysis.everyone(judged, len(each.nobody.unheard))
        yield each, judged, _name_row(known, each, judged, everyone)


def _name_row(
    known: People, found: Silences, judged: list[Judged], everyone: Everyone
) -> StoppedRow:
    calling = [each for each in judged if each.reason != "said_fixed"] or judged
    quiet = min((each.silent_days for each in calling), default=found.nobody.silence)
    lasts = [each.total.last_us for each in found.clients if each.total.last_us is not None]
    last_us = max(lasts, default=None)
    named = [
        each.active_days
        for silence, each in zip(found.clients, judged, strict=True)
        if silence.key != NOBODY
    ]
    return StoppedRow(
        server=found.name.server,
        name=found.name.name,
        verdict=everyone.word,
        reason=everyone.reason,
        probability=_chance(everyone.probability),
        interval=_span(everyone.interval),
        wait_days=_wait(everyone.wait_days),
        active_days=len({day for each in judged for day in each.history.days}),
        silent_days=floor(quiet),
        last_call=moment_of(last_us),
        upper_bound_per_day=_rate(quiet),
        stale_calls=sum(each.total.calls for each in found.clients),
        seen_since=sum(each.seen_since for each in judged),
        silent_altogether=_altogether(judged),
        longest_pause_days=_pause(judged),
        covered=found.hearing.covered(_since(last_us, found)),
        gap_days=len(found.nobody.unheard),
        heard_until=instant_of(found.nobody.heard_until),
        weakest=_weakest(known, found, judged, everyone),
        clients=dict(sorted(Counter(each.word for each in judged).items())),
        bounds=_span(everyone.bounds),
        unseen_chance=_chance(analysis.unseen_chance(named)),
    )


def _weakest(
    known: People, found: Silences, judged: list[Judged], everyone: Everyone
) -> WeakestClient | None:
    if everyone.weakest is None:
        return None
    each = judged[everyone.weakest]
    return WeakestClient(
        client=known.name(found.clients[everyone.weakest].key),
        verdict=each.word,
        probability=_chance(each.probability),
    )


def _altogether(judged: list[Judged]) -> bool | None:
    """Whether all of them are silent altogether; None where that is known of none."""
    told = [each.silent_altogether for each in judged if each.silent_altogether is not None]
    return all(told) if told else None


def _pause(judged: list[Judged]) -> int | None:
    """The days between two calls of any of them in a row, at most; None where none called on two days."""
    pauses = (b - a for each in judged for a, b in pairwise(each.history.days))
    longest = max(pauses, default=None)
    return None if longest is None else int(longest)


def _since(last_us: int | None, found: Silences) -> int:
    """From where a silence begins: the last call, else when calls could come."""
    return found.nobody.start * DAY_US if last_us is None else last_us


def _chance(value: float | None) -> float | None:
    """Four decimals, down: what is below a limit is not shown as if it were not."""
    return None if value is None else floor(value * 10_000) / 10_000


def _span(value: Span | None) -> Span | None:
    if value is None:
        return None
    return floor(value[0] * 10_000) / 10_000, floor(value[1] * 10_000) / 10_000


def _wait(days: float | None) -> float | None:
    """One decimal, up: after so long it holds."""
    return None if days is None else ceil(days * 10) / 10


def _rate(quiet_days: float) -> float | None:
    """By whole days, so that it is 3 / `silent_days`; four decimals, up."""
    found = analysis.rate_bound(floor(quiet_days))
    return None if found is None else ceil(found * 10_000) / 10_000
