"""Whether callers of a retired name went on to what replaces it: one row a server, name and client."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from service.analysis import catalogue
from service.analysis.counts import Column, codes, count_distinct
from service.analysis.uptake import WINDOW_US, Fate, Made, fates
from service.answers import calls as gather
from service.answers.callers import groups
from service.answers.names import facts, sortable
from service.answers.paging import order_asked, page
from service.answers.people import people
from service.answers.query import (
    ABSENT,
    EVERY,
    Absent,
    Collection,
    Moment,
    Query,
    choice_asked,
    limit_asked,
)
from service.answers.scope import Scope, scope_of
from service.store import read_calls, read_names, read_spans
from service.store.engine import Connection
from service.store.read_calls import Calls

SORTS = (
    "server",
    "name",
    "client",
    "stale_calls",
    "replaced",
    "retried",
    "left",
    "cannot_tell",
    "share",
    "sessions",
    "sessions_replaced",
)
BY = ("none", "message")
NEED = ("caller_id", "session_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class UptakeRow:
    """
    What followed one client's calls to one retired name within ten minutes, in the same session, else
    from the same caller; `client` is None for those that name none.

    Of `stale_calls`, `replaced` were followed by a call to one of `replaced_by`, `retried` by the dead
    name before that, `left` by neither; `too_early` may still be, and of `cannot_tell` nobody knows who
    made them. `share` is that of `replaced` among the first three. `sessions` are the sessions that the calls
    which can be followed were made in, each once, and `sessions_replaced` those of them with a call that was
    replaced. Where a line has no session, its caller stands for one: such a one is a caller's whole range, not
    a session of it.

    Null is never zero: `reason` says why. `no_ordinary_calls`: the server logs none, so nothing can be
    seen to follow. `no_replacement`: no call says what replaces the name. `no_identity`: no call has a
    session or caller. `too_early`: no window is over.
    """

    server: str
    name: str
    client: str | None
    message: str | Absent | None = ABSENT
    replaced_by: tuple[str, ...]
    stale_calls: int
    replaced: int | None
    retried: int | None
    left: int | None
    too_early: int
    cannot_tell: int
    share: float | None
    sessions: int
    sessions_replaced: int | None
    reason: str | None


def uptake(connection: Connection, query: Query, moment: Moment) -> Collection[UptakeRow]:
    """
    What followed the stale calls of the range, by server, name and client, and by message where that is
    asked for.

    The range chooses stale calls; what follows them is read beyond it, up to `as_of`.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    choice_asked("by", query.by, BY)
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "uptake", changes=order.changes)
    kept, last = page(
        _rows(scope),
        lambda pair: (sortable(pair[1], order.column), pair[1].server, pair[1].name, *pair[0]),
        order,
        scope.after,
        limit,
    )
    return scope.answer((row for _, row in kept), last, excluded_calls=gather.left_out(scope))


@dataclass(frozen=True, slots=True)
class _Group:
    """What the calls of one row came to."""

    calls: int
    fates: tuple[int, ...]
    """By the number of the fate."""
    sessions: int
    sessions_replaced: int


def _rows(scope: Scope) -> Iterator[tuple[tuple[str, str], UptakeRow]]:
    """((client key, message's key), row) of each group."""
    names = scope.names
    span = (scope.start_us, scope.until_us)
    by_message = scope.query.by == "message"
    need = read_calls.FACTS if by_message else ("time_us", "client_id", *NEED)
    calls = gather.rows(scope, names, (span,), need)
    known = people(scope, codes(calls.client_id)[0])
    pairs, pair = groups(scope, calls, known)
    texts, text = _messages(scope, calls, by_message=by_message)
    found, place = codes(pair * len(texts) + text)
    said = [each.replaced_by or () for each in facts(scope, names)]
    counted = _counted(scope, calls, place, found.size, said)
    logs = {
        name.server_id: read_calls.logs_ordinary_calls(
            scope.connection, scope.cut, name.server_id, scope.start_us, _end(scope)
        )
        for name in names
    }
    for each, group in zip(found.tolist(), counted, strict=True):
        number, client = divmod(int(pairs[each // len(texts)]), max(len(known.keys), 1))
        message = texts[each % len(texts)]
        name, key = names[number], known.keys[client]
        row = _row(
            name.server,
            name.name,
            known.name(key),
            said[number],
            group,
            ordinary=logs[name.server_id],
            message=message if by_message else ABSENT,
        )
        yield (key, "" if message is None else f"={message}"), row


def _messages(scope: Scope, calls: Calls, *, by_message: bool) -> tuple[list[str | None], Column]:
    """The distinct messages, none first and the others by text, and each call's."""
    if not by_message:
        return [None], np.zeros(calls.time_us.size, dtype=np.int64)
    ids, row = codes(calls.fact_id)
    said = read_names.messages(scope.connection, [int(id_) for id_ in ids if id_])
    each = [said.get(int(id_)) for id_ in ids]
    texts: list[str | None] = [None, *sorted({text for text in each if text is not None})]
    places = {text: place for place, text in enumerate(texts)}
    return texts, np.array([places[text] for text in each], dtype=np.int64)[row]


def _end(scope: Scope) -> int:
    """Up to where what follows a call of the range is read."""
    return min(scope.until_us + WINDOW_US + 1, scope.cut.as_of_us)


def _counted(
    scope: Scope, calls: Calls, group: Column, size: int, said: list[tuple[str, ...]]
) -> list[_Group]:
    """What the calls of each group came to."""
    # whoever is asked for, a retry decides that is of the same session and names another client or none
    wide = replace(scope, query=replace(scope.query, client=EVERY))
    again = gather.rows(wide, scope.names, ((scope.start_us, _end(scope)),), ("time_us", *NEED))
    stale = _made(scope, calls)
    end_us = min(scope.cut.as_of_us, scope.moment.now_us)
    fate = fates(stale, _made(scope, again), _replacements(scope, calls, said), end_us=end_us)
    who = np.where(calls.session_id > 0, 2 * calls.session_id, 2 * calls.caller_id + 1)
    judged, taken = fate != Fate.CANNOT_TELL, fate == Fate.REPLACED
    sessions = count_distinct(group[judged], who[judged], size)
    replaced = count_distinct(group[taken], who[taken], size)
    table = np.zeros((size, len(Fate)), dtype=np.int64)
    np.add.at(table, (group, fate), 1)
    return [
        _Group(int(row.sum()), tuple(row.tolist()), int(sessions[i]), int(replaced[i]))
        for i, row in enumerate(table)
    ]


def _made(scope: Scope, calls: Calls) -> Made:
    number = gather.name_numbers(scope.names, calls.server_id, calls.tool_id)
    return Made(number, calls.session_id, calls.caller_id, calls.time_us)


def _replacements(scope: Scope, calls: Calls, said: list[tuple[str, ...]]) -> Made:
    """Ordinary calls, in any spelling, to what replaces the names, near enough to a stale call."""
    parts = [Made(*(np.empty(0, dtype=np.int64) for _ in Made.__slots__))]
    spans = read_spans.few(calls.time_us, calls.time_us + WINDOW_US + 1)
    spans = read_spans.clip(spans, (scope.start_us, _end(scope)))
    for server_id in sorted({name.server_id for name in scope.names}):
        mine = [i for i, name in enumerate(scope.names) if name.server_id == server_id]
        wanted = {text for number in mine for text in said[number]}
        logged = read_names.logged_names(scope.connection, scope.cut, server_id) if wanted else []
        stands_for = catalogue.resolve((row.name for row in logged), wanted)
        ids: dict[str, list[int]] = {}
        for row in logged:
            if row.name in stands_for:
                ids.setdefault(stands_for[row.name], []).append(row.tool_id)
        every = [id_ for listed in ids.values() for id_ in listed]
        if not every or not spans:
            continue
        made = read_calls.succeeded_calls(
            scope.connection, scope.cut, server_id, every, spans, None, NEED
        )
        for number in mine:
            its = [id_ for text in said[number] for id_ in ids.get(text, ())]
            own = made.where(np.isin(made.tool_id, its))
            name = np.full(own.time_us.size, number, dtype=np.int64)
            parts.append(Made(name, own.session_id, own.caller_id, own.time_us))
    return Made(*(np.concatenate([getattr(p, f) for p in parts]) for f in Made.__slots__))


def _row(
    server: str,
    name: str,
    client: str | None,
    replaced_by: tuple[str, ...],
    group: _Group,
    *,
    ordinary: bool,
    message: str | Absent | None,
) -> UptakeRow:
    replaced, retried, left, early, unknown = group.fates
    judged = replaced + retried + left
    reason = _reason(group, replaced_by, ordinary=ordinary)
    seen = reason in (None, "no_replacement")
    return UptakeRow(
        server=server,
        name=name,
        client=client,
        message=message,
        replaced_by=replaced_by,
        stale_calls=group.calls,
        replaced=replaced if reason is None else None,
        retried=retried if seen else None,
        left=left if seen else None,
        too_early=early,
        cannot_tell=unknown,
        share=round(replaced / judged, 4) if reason is None else None,
        sessions=group.sessions,
        sessions_replaced=group.sessions_replaced if reason is None else None,
        reason=reason,
    )


def _reason(group: _Group, replaced_by: tuple[str, ...], *, ordinary: bool) -> str | None:
    """Why nothing can be said; None where something can."""
    if not ordinary:
        return "no_ordinary_calls"
    if group.fates[Fate.CANNOT_TELL] == group.calls:
        return "no_identity"
    if group.fates[Fate.CANNOT_TELL] + group.fates[Fate.TOO_EARLY] == group.calls:
        return "too_early"
    return None if replaced_by else "no_replacement"
