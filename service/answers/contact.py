"""What to write to whoever runs a client: the retired names that it calls, and a message that asks to stop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.analysis import contact_texts as texts
from service.analysis import cures as analysis
from service.analysis import zones
from service.analysis.evidence import Evidence
from service.analysis.fixed_times import pattern
from service.analysis.stopped import Word
from service.answers import calls as gather
from service.answers.callers import CallerRow
from service.answers.cure_evidence import evidence, gathered
from service.answers.marks import DUE, Status
from service.answers.names import facts
from service.answers.paging import Order, page
from service.answers.query import (
    Collection,
    Instant,
    Moment,
    Query,
    limit_asked,
    one_asked,
)
from service.answers.retired import Name
from service.answers.scope import Scope, scope_of
from service.answers.stopped import words_of
from service.clock import DAY_US, HOUR_US
from service.entries import Facts
from service.errors import BadParameter
from service.store.engine import Connection

ASKED: tuple[Status, ...] = (*DUE, "contacted")
"""Rows that a message asks about."""
Found = tuple[CallerRow, Evidence]
Stopped = Mapping[tuple[str, str], Word]
"""(server, name) → whether the client of a message stopped calling it."""
GONE: tuple[Word, ...] = ("stopped", "probably stopped")
_DAY, _MINUTE = len("2026-10-05"), len("2026-10-05 10:15")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactRow:
    """
    One retired name that the client calls, with what to tell whoever runs it. `replaced_by` is what to call
    instead: in place of a name that is retired itself what replaces that. `retired_at` is since when
    it is retired, as far as is known. `status`, `marked_at`, `open_calls` and `open_days` are those of `callers`,
    `cure` that of `cures`; the message leaves `known` and `resolved` ones out, and those without a call since.
    """

    server: str
    name: str
    replaced_by: tuple[str, ...]
    no_replacement: bool
    stale_calls: int
    open_calls: int
    open_days: int
    callers: int
    active_days: int
    versions: tuple[str, ...]
    version_count: int
    first_call: Instant | None
    last_call: Instant | None
    retired_at: Instant
    last_release: str | None
    cure: str
    status: Status
    marked_at: Instant | None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A name that a message lists."""

    server: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRow:
    """A message to whoever runs a client, as Markdown, whom to write to, and the names that it lists."""

    client: str
    to: str
    subject: str
    text: str
    about: tuple[About, ...]


def contact(connection: Connection, query: Query, moment: Moment) -> Collection[ContactRow]:
    """
    The retired names that one client called in the range, by server and name.

    The answer also holds `client` (its name), `to` (whom to write to), `subject` and `text`, a message
    as Markdown about all of these rows, `about`, the names that it lists, and `excluded_calls`. Of a client that called none they are empty.

    Raises:
        BadParameter: No client is named, or a parameter cannot be used.
    """
    client = one_asked("client", query.client) or ""
    if not client.strip():
        raise BadParameter("client", "missing; name the client to write to, such as claude-code")
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "contact")
    every = list(evidence(gathered(scope))) if scope.names else []
    found = [(row, said) for _, row, said in every]
    if not found:  # nothing to write
        none = MessageRow(client=client, to="", subject="", text="", about=())
        return scope.answer((), None, **_told(none), excluded_calls=gather.left_out(scope))
    packs = Packs(scope)
    words = words_of(scope, {(row.server, row.name) for row, _ in found})
    message = packs.message(found, of_client(words, every[0][0]))
    rows = packs.rows(found)
    kept, last = page(rows, lambda row: ("", row.server, row.name), Order(), scope.after, limit)
    return scope.answer(kept, last, **_told(message), excluded_calls=gather.left_out(scope))


def _told(message: "MessageRow") -> dict[str, object]:
    """The members of the answer beside its rows."""
    return {name: getattr(message, name) for name in ("client", "to", "subject", "text", "about")}


def of_client(words: Mapping[tuple[str, str, str], Word], key: str) -> Stopped:
    """Of these words, by server, name and client key, those of one client."""
    return {(server, name): word for (server, name, mine), word in words.items() if mine == key}


class Packs:
    """Rows and messages about clients, from what `evidence` says of each."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._said = {
            (name.server, name.name): (name, said)
            for name, said in zip(scope.names, facts(scope, scope.names), strict=True)
        }

    def rows(self, found: Sequence[Found]) -> list[ContactRow]:
        """The rows of one client, in the order given."""
        return [_row(row, said, *self._said[row.server, row.name]) for row, said in found]

    def message(self, found: Sequence[Found], words: Stopped) -> MessageRow:
        """What to write to the client that all of these, and there is one, are of; *words* say what it stopped."""
        case = self._case(found, words)
        return MessageRow(
            client=case.client,
            to=texts.recipient(case),
            subject=texts.subject(case),
            text=texts.message(case),
            about=tuple(
                About(server=each.server, name=each.name)
                for each in case.called[: texts.NAMES_SHOWN]
            ),
        )

    def _case(self, found: Sequence[Found], words: Stopped) -> texts.Case:
        """What the message is about: what is called still first, of these most days."""
        scope = self._scope
        asked = [
            (row, said)
            for row, (_, said) in zip(self.rows(found), found, strict=True)
            if row.status in ASKED and row.open_calls
        ]
        gone = {about for about, word in words.items() if word in GONE}
        asked.sort(key=lambda pair: (-pair[0].active_days, -pair[0].stale_calls, pair[0].name))
        asked.sort(key=lambda pair: (pair[0].server, pair[0].name) in gone)
        versions = dict.fromkeys(text for row, _ in asked for text in row.versions)
        last = max((row.last_call or 0 for row, _ in asked), default=0)
        end_us = max(min(scope.until_us, scope.moment.now_us) - 1, scope.start_us)
        servers = sorted({row.server for row, _ in asked})
        return texts.Case(
            client=found[0][0].client or "",
            known=found[0][1].known,
            via=tuple(sorted({via for _, each in asked for via in each.via})),
            versions=tuple(versions),
            called=tuple(
                self._called(row, said, gone=(row.server, row.name) in gone) for row, said in asked
            ),
            heard=tuple(_heard(scope, server) for server in servers),
            first_day=_local(scope, scope.start_us, _DAY),
            last_day=_local(scope, end_us, _DAY),
            last=_local(scope, last, _MINUTE),
            tz=scope.query.tz,
        )

    def _called(self, row: ContactRow, said: Evidence, *, gone: bool) -> texts.Called:
        now_us = min(self._scope.cut.as_of_us, self._scope.moment.now_us)
        name, _ = self._said[row.server, row.name]
        scope = self._scope
        marked = None if row.marked_at is None else _local(scope, row.marked_at, _DAY)
        return texts.Called(
            server=row.server,
            name=row.name,
            word=analysis.word_of(said, pattern(said.days)),
            replaced_by=row.replaced_by,
            no_replacement=row.no_replacement,
            last_release=row.last_release,
            since=_local(scope, row.retired_at, _DAY) if _is_since(row, name) else None,
            told=name.is_told,
            calls=row.open_calls,
            days=row.open_days,
            last=_local(scope, row.last_call or 0, _DAY),
            gone=gone,
            recent=(row.last_call or 0) >= now_us - texts.RECENT_DAYS * DAY_US,
            fixed=marked if row.status == "reopened" else None,
            asked=marked if row.status == "unheeded" else None,
        )


def _row(row: CallerRow, said: Evidence, name: Name, known: Facts) -> ContactRow:
    return ContactRow(
        server=row.server,
        name=row.name,
        replaced_by=said.replaced_by,
        no_replacement=said.no_replacement,
        stale_calls=row.stale_calls,
        open_calls=row.open_calls,
        open_days=row.open_days,
        callers=row.callers,
        active_days=row.active_days,
        versions=row.versions,
        version_count=row.version_count,
        first_call=row.first_call,
        last_call=row.last_call,
        retired_at=Instant(name.retired_us),
        last_release=known.last_release,
        cure=analysis.word_of(said, pattern(said.days)),
        status=row.status,
        marked_at=row.marked_at,
    )


def _is_since(row: ContactRow, name: Name) -> bool:
    """Whether it is known since when a name is retired, and its calls do not contradict that."""
    return name.dated and (row.first_call is None or row.first_call >= name.retired_us)


def _heard(scope: Scope, server: str) -> texts.Heard:
    """Coverage of one server in the range, as far as that has come."""
    until_us = max(min(scope.until_us, scope.moment.now_us), scope.start_us)
    start, end = scope.start_us // HOUR_US, -(-until_us // HOUR_US)
    covered = scope.coverage_of(server)
    met = [gap for gap in covered.gaps if gap.start < end and gap.end > start]
    firsts = (int(h.hours[0]) for h in scope.heard if h.server == server and h.hours.size)
    began = min(firsts, default=start)
    return texts.Heard(
        server=server,
        covered_hours=covered.covered_hours(start, end),
        hours=end - start,
        gaps=tuple(
            (
                _local(scope, gap.start * HOUR_US, _MINUTE),
                _local(scope, gap.end * HOUR_US, _MINUTE),
            )
            for gap in met[-texts.GAPS_SHOWN :]
        ),
        gap_count=len(met),
        began=_local(scope, began * HOUR_US, _MINUTE) if began > start else None,
    )


def _local(scope: Scope, instant_us: int, length: int) -> str:
    return zones.local(zones.hold(instant_us), scope.zone).isoformat(" ")[:length]
