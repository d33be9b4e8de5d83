"""The weekly log, read."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from service.said import Question, Subject
from service.store.engine import Connection
from service.store.read_sets import Chosen, among, text_among
from service.store.read_words import chunks
from service.store.schema import look, said, server, subject


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown with a word."""

    strength: str | None
    figures: Mapping[str, Any]


def looks(connection: Connection) -> dict[Question, dict[int, int]]:
    """Question → Monday as of which it was asked → when that was done."""
    found: dict[Question, dict[int, int]] = {question: {} for question in Question}
    for question, week_us, written_us in connection.execute(sa.select(look)):
        found[Question(question)][week_us] = written_us
    return found


def subjects(
    connection: Connection,
    server_ids: Collection[int],
    names: Chosen[str] | None,
    *,
    by_client: bool,
) -> dict[int, Subject]:
    """
    Whom words of these servers were about, by id: single clients, or all together. With *names*, those of
    them, and not of all names together.
    """
    query = (
        sa.select(subject.c.id, server.c.name, subject.c.name, subject.c.client)
        .join(server, server.c.id == subject.c.server_id)
        .where(among(connection, subject.c.server_id, server_ids))
        .where(subject.c.everyone == int(not by_client))
    )
    if names is not None:
        query = query.where(subject.c.name != "", text_among(subject.c.name, names))
    return {
        id_: Subject(server_name, retired or None, client if by_client else None)
        for id_, server_name, retired, client in connection.execute(query)
    }


def words(
    connection: Connection, subject_ids: Collection[int], question: Question | None, before_us: int
) -> dict[tuple[int, Question], list[tuple[int, str]]]:
    """(subject, question) → (Monday, word) of each Monday before an instant, ascending."""
    query = sa.select(said.c.subject_id, said.c.question, said.c.week_us, said.c.word)
    query = query.where(said.c.week_us < before_us)
    if question is not None:
        query = query.where(said.c.question == str(question))
    order = (said.c.subject_id, said.c.question, said.c.week_us)
    found: dict[tuple[int, Question], list[tuple[int, str]]] = {}
    for part in chunks(sorted(subject_ids)):
        rows = connection.execute(query.where(said.c.subject_id.in_(part)).order_by(*order))
        for subject_id, asked, week_us, word in rows:
            found.setdefault((subject_id, Question(asked)), []).append((week_us, word))
    return found


def shown(
    connection: Connection, subject_ids: Collection[int], weeks: Collection[int]
) -> dict[tuple[int, Question, int], Shown]:
    """(subject, question, Monday) → what was shown with the word."""
    columns = (said.c.subject_id, said.c.question, said.c.week_us, said.c.strength, said.c.figures)
    query = sa.select(*columns).where(said.c.week_us.in_(sorted(weeks)))
    found: dict[tuple[int, Question, int], Shown] = {}
    for part in chunks(sorted(subject_ids)):
        for row in connection.execute(query.where(said.c.subject_id.in_(part))):
            key = (row.subject_id, Question(row.question), row.week_us)
            found[key] = Shown(row.strength, json.loads(row.figures))
    return found
