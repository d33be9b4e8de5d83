"""What each question says as of an instant, in the form in which the weekly log keeps it."""

from collections.abc import Callable, Iterable, Mapping

from service.analysis.effect import Effect
from service.answers.effect import study_of
from service.answers.query import (
    Moment,
    Query,
    iso,
    only,
    plain,
)
from service.answers.scope import scope_of
from service.answers.stopped import StoppedRow
from service.answers.stopped import rows_of as stopped_rows
from service.said import Question, Saying, Subject
from service.store import read_words
from service.store.engine import Connection

Asked = Callable[[Connection, int, Moment], Iterable[Saying]]
"""Asks a question as of an instant (µs), exactly: a function of what lies before it."""

CLIENTS_SAID = 1_000
"""Words about single clients that one look at a question keeps: the clients with the most stale calls. What a
stranger makes up by the thousand has no history that a word a week would add to."""
_STOPPED_FIGURES = (
    "reason",
    "probability",
    "interval",
    "wait_days",
    "active_days",
    "silent_days",
    "stale_calls",
)
_EFFECT_FIGURES = (
    "reason",
    "rate_ratio",
    "interval",
    "observed",
    "expected",
    "clients_used",
    "support",
)


def stopped(connection: Connection, as_of_us: int, moment: Moment) -> Iterable[Saying]:
    """Whether everyone has stopped calling each name, and whether each client has."""
    for by in ("none", "client"):
        query = Query(as_of=iso(as_of_us), by=by)
        scope = scope_of(connection, query, moment, "stopped")
        rows = list(stopped_rows(scope))
        if by == "client":
            rows = sorted(rows, key=lambda pair: (-pair[1].stale_calls, *_place(*pair)))
            rows = rows[:CLIENTS_SAID]
        for key, row in rows:
            yield _saying(row, key if by == "client" else None)


def _place(key: str, row: StoppedRow) -> tuple[str, str, str]:
    return row.server, row.name, key


def _saying(row: StoppedRow, client: str | None) -> Saying:
    return Saying(
        subject=Subject(row.server, row.name, client),
        word=row.verdict,
        strength=None,
        figures={name: plain(getattr(row, name)) for name in _STOPPED_FIGURES},
    )


def effect(connection: Connection, as_of_us: int, moment: Moment) -> Iterable[Saying]:
    """Whether notifications helped, over all names of each server, and for each of them."""
    for server in sorted(read_words.servers(connection).values()):
        query = Query(server=only(server), as_of=iso(as_of_us))
        scope = scope_of(connection, query, moment, "effect")
        if not scope.retired:
            continue
        study = study_of(scope)
        yield _effect(Subject(server, None, None), study.found.effect.verdict, study.found.effect)
        for each in study.names:
            yield _effect(Subject(server, each.name, None), each.found.verdict, each.found.effect)


def _effect(subject: Subject, word: str, found: Effect) -> Saying:
    return Saying(
        subject=subject,
        word=word,
        strength=found.strength if word == found.verdict else None,
        figures={name: plain(getattr(found, name)) for name in _EFFECT_FIGURES},
    )


QUESTIONS: Mapping[Question, Asked] = {
    Question.EFFECT: effect,
    Question.STOPPED: stopped,
}
"""The questions that are asked each Monday."""
