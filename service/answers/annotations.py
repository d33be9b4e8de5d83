"""What happened beside the calls, by time: releases, changes of the catalogue, lists of tools, people's notes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from service.answers.paging import Key, Order, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import Scope, chosen, scope_of
from service.store import read_catalogue, read_releases, read_told
from service.store.engine import Connection
from service.store.read_spans import Span
from service.told import Note

Kind = Literal["release", "catalogue", "tools", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """
    What somebody wrote beside an instant: of one server, or (None) of all. `actor` is the way in which it was
    said.
    """

    id: int
    server: str | None
    at: Instant
    text: str
    said_at: Instant
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationRow:
    """
    One thing that happened: a `release` (`text` is its version), a change of the `catalogue` (a retired name that
    was entered, changed or hidden; names that were told together are one row), a list of `tools` that was kept, or
    a `note`. `server` is None for a note about all servers; `number` is how many names or tools it is about, else
    None. `actor` is None for whoever came by a link.
    """

    at: Instant
    kind: Kind
    server: str | None
    text: str
    number: int | None
    actor: str | None


def notes(connection: Connection, query: Query, moment: Moment) -> Collection[NoteRow]:
    """
    Notes about instants in the range, by time; with `server`, those of it and those of all servers. A range that
    is not given begins with the first of them.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "notes")
    found = _notes(scope, scope.asked_since_us)
    kept, last = page(found, lambda note: (note.at_us, note.id), Order(), scope.after, limit)
    return scope.answer(
        (
            NoteRow(
                id=note.id,
                server=note.server,
                at=Instant(note.at_us),
                text=note.text,
                said_at=Instant(note.said_us),
                actor=note.actor,
            )
            for note in kept
        ),
        last,
    )


def annotations(connection: Connection, query: Query, moment: Moment) -> Collection[AnnotationRow]:
    """
    All that happened in the range to the servers that the question is about, by time. With `name`, of the
    catalogue only what was said of it.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "annotations")
    kept, last = page(_every(scope), _key, Order(), scope.after, limit)
    return scope.answer(kept, last)


def _key(row: AnnotationRow) -> Key:
    return (row.at, row.kind, row.server or "", row.text)


def _notes(scope: Scope, since_us: int | None) -> list[Note]:
    """Those of the servers that are asked for; of all, where none is."""
    servers = chosen(scope.query.server)
    return read_told.notes(scope.connection, servers, since_us, scope.until_us)


def _every(scope: Scope) -> list[AnnotationRow]:
    ids = frozenset(id_ for id_ in scope.server_ids if scope.servers[id_] in scope.about)
    span = (scope.start_us, scope.until_us)
    bound = scope.moment.bound
    if (
        bound is not None
    ):  # notes are for whoever writes them; one name, or client, has no part in the others
        is_whole = bound.name is None and bound.client is None
        others = [*_changed(scope, ids, span), *_listed(scope, ids, span)] if is_whole else []
        return [replace(row, actor=None) for row in (*_released(scope, ids, span), *others)]
    return [
        *_released(scope, ids, span),
        *_changed(scope, ids, span),
        *_listed(scope, ids, span),
        *_noted(scope),
    ]


def _released(scope: Scope, ids: frozenset[int], span: Span) -> Iterator[AnnotationRow]:
    for release in read_releases.releases(scope.connection, ids, *span):
        yield _row(release.at_us, "release", release.server, release.version, release.source)


def _changed(scope: Scope, ids: frozenset[int], span: Span) -> Iterator[AnnotationRow]:
    for change in read_catalogue.changes(scope.connection, ids, chosen(scope.query.name), span):
        said, number = _said(change), change.names
        yield _row(change.said_us, "catalogue", change.server, said, change.actor, number)


def _listed(scope: Scope, ids: frozenset[int], span: Span) -> Iterator[AnnotationRow]:
    every = read_catalogue.snapshots(scope.connection, ids)
    found = [each for each in every if span[0] <= each.at_us < span[1]]
    counts = read_catalogue.tool_counts(scope.connection, [each.id for each in found])
    for each in found:
        number = counts[each.id]
        version = "" if each.version is None else f", version {each.version}"
        said = f"{number:,} tool{'' if number == 1 else 's'} listed{version}"
        yield _row(each.at_us, "tools", each.server, said, each.actor, number)


def _noted(scope: Scope) -> Iterator[AnnotationRow]:
    about = {None, *scope.about}
    for note in _notes(scope, scope.start_us):
        if note.server in about:
            yield _row(note.at_us, "note", note.server, note.text, note.actor)


def _row(
    at_us: int, kind: Kind, server: str | None, text: str, actor: str, number: int | None = None
) -> AnnotationRow:
    return AnnotationRow(
        at=Instant(at_us), kind=kind, server=server, text=text, number=number, actor=actor
    )


def _said(change: read_catalogue.Change) -> str:
    """What was done to which names; of several the first is named."""
    done = "hidden" if change.hidden else "changed" if change.known else "entered"
    if change.names == 1:
        return f"{change.name} {done}"
    others = change.names - 1
    return f"{change.name} and {others:,} other name{'' if others == 1 else 's'} {done}"
