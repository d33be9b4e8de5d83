"""What was said each Monday, and the word that stands: one row a Monday, question and subject."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from service.analysis.weekly import Standing, standing
from service.answers.names import moment_of
from service.answers.paging import Key, Order, page
from service.answers.people import NOBODY
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
from service.clock import DAY_US
from service.said import Question, Subject
from service.store import read_display, read_said, read_words
from service.store.engine import Connection

BY = ("none", "client")
QUESTIONS = tuple(str(question) for question in Question)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidRow:
    """
    What was said as of one Monday (`week`, 00:00 UTC) of a server's name, or of all its names (`name` is
    None): of all clients together, or with `by=client` of one, which is None for calls that name none.

    `figures` were shown with the word; which there are depends on the question. `written_at` is when it was
    asked, `late` that this was not on the Monday itself, so that lines which came late are in it. `standing`
    is the word that two looks in a row agreed on, `standing_since` the second of them, both None until
    there are two; `stood_before` is what stood until then. `changed` where another word took its place on
    this very Monday.
    """

    week: Instant
    question: Question
    server: str
    name: str | None
    client: str | Absent | None = ABSENT
    word: str
    strength: str | None
    figures: dict[str, Any]
    standing: str | None
    standing_since: Instant | None
    stood_before: str | None
    changed: bool
    written_at: Instant
    late: bool


@dataclass(frozen=True, slots=True)
class _Look:
    """One word, with what stood once it was said."""

    week_us: int
    question: Question
    subject_id: int
    subject: Subject
    word: str
    stands: Standing

    @property
    def key(self) -> Key:
        """The newest Monday first; what is of all names before each."""
        subject = self.subject
        place = (subject.server, subject.name or "", subject.client or "")
        return (self.week_us, str(self.question), *place)


def said(connection: Connection, query: Query, moment: Moment) -> Collection[SaidRow]:
    """
    The weekly log, the newest Monday first, then by question, server, name and client; `since` and `until`
    are Mondays. With `changed`, only where the standing word changed. With a filter on clients, as with `by=client`,
    of single clients; with one on names, of single names. What was said is not said again: neither lines that came later change it, nor rules.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    by_client = choice_asked("by", query.by, BY) == "client" or query.client.is_set
    question = query.question and Question(choice_asked("question", query.question, QUESTIONS))
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "said")
    found = [
        each
        for each in _looks(scope, question or None, by_client=by_client)
        if each.stands.changed or not query.changed
    ]
    kept, last = page(found, lambda each: each.key, Order(descending=True), scope.after, limit)
    return scope.answer(_rows(scope, kept, by_client=by_client), last)


def _looks(scope: Scope, question: Question | None, *, by_client: bool) -> Iterator[_Look]:
    """Every look in the range; what stands is told by those before it, too."""
    subjects = {
        id_: subject
        for id_, subject in read_said.subjects(
            scope.connection, scope.server_ids, scope.names_asked, by_client=by_client
        ).items()
        if _asked(scope, subject)
    }
    # A default range begins with the first event, but what was said of events that are gone was said.
    since_us = None if scope.query.since is None else scope.start_us
    words = read_said.words(scope.connection, subjects, question, scope.until_us)
    for (id_, asked), looks in words.items():
        for (week_us, word), stands in zip(looks, standing(looks), strict=True):
            if since_us is None or week_us >= since_us:
                yield _Look(week_us, asked, id_, subjects[id_], word, stands)


def _asked(scope: Scope, subject: Subject) -> bool:
    if scope.client_keys is None or subject.client is None:
        return True
    return scope.aliases.canonical(subject.client) in scope.client_keys


def _rows(scope: Scope, looks: tuple[_Look, ...], *, by_client: bool) -> Iterator[SaidRow]:
    weeks = {each.week_us for each in looks}
    shown = read_said.shown(scope.connection, {each.subject_id for each in looks}, weeks)
    written = read_said.looks(scope.connection)
    names = _names(scope, {each.subject.client or NOBODY for each in looks})
    for each in looks:
        mine = shown[each.subject_id, each.question, each.week_us]
        at_us = written[each.question][each.week_us]
        key = each.subject.client
        yield SaidRow(
            week=Instant(each.week_us),
            question=each.question,
            server=each.subject.server,
            name=each.subject.name,
            client=names.get(key or NOBODY, key or None) if by_client else ABSENT,
            word=each.word,
            strength=mine.strength,
            figures=dict(mine.figures),
            standing=each.stands.word,
            standing_since=moment_of(each.stands.since_us),
            stood_before=each.stands.before,
            changed=each.stands.changed,
            written_at=Instant(at_us),
            late=at_us >= each.week_us + DAY_US,
        )


def _names(scope: Scope, keys: set[str]) -> Mapping[str, str]:
    """How clients are shown, by key; one that is an alias by now was said under its own name."""
    groups: dict[str, list[read_words.Spelling]] = {}
    for spelling in read_words.spellings_of(scope.connection, sorted(keys - {NOBODY})).values():
        groups.setdefault(spelling.key, []).append(spelling)
    shown = scope.aliases.shown
    told = {key: shown[key] for key in keys if key in shown}
    return read_display.latest_names(scope.connection, scope.cut, groups) | told
