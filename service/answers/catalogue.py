"""The catalogue as it was told: one row an entry, or one a version of an entry."""

from dataclasses import dataclass

from service.answers.names import moment_of
from service.answers.paging import Order, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import scope_of
from service.entries import Entry
from service.store import read_catalogue
from service.store.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """
    What the catalogue says of a retired name; None where it says nothing, so that lines may. An empty
    `replaced_by` says that nothing replaces it.

    `versions` is how many there are, this is the last. `source` is how it was told (`rest`, `set`,
    `import`, or `lines` where a name that only lines knew was hidden), `actor` by what (`rest`,
    `command` or `page`), `said_at` when. `hidden` names are in no other answer.
    """

    server: str
    name: str
    last_release: str | None
    replaced_by: tuple[str, ...] | None
    message: str | None
    retired_at: Instant | None
    hidden: bool
    versions: int
    source: str
    actor: str
    said_at: Instant


def catalogue(connection: Connection, query: Query, moment: Moment) -> Collection[EntryRow]:
    """
    Every entry, hidden ones too, by server and name, as it is told now, whatever the range.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "catalogue")
    told = [entry for entry, _ in read_catalogue.entries(connection, scope.server_ids)]
    mine = [entry for entry in told if query.name.takes(entry.name)]
    kept, last = page(mine, lambda e: ("", e.server, e.name), Order(), scope.after, limit)
    return scope.answer(map(entry_row, kept), last)


def history(connection: Connection, query: Query, moment: Moment) -> Collection[EntryRow]:
    """
    Every version of every entry, by server and name, the first version first; `versions` counts up to
    each.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "history")
    found = read_catalogue.versions(connection, scope.server_ids, scope.names_asked)
    kept, last = page(
        found, lambda e: ("", e.server, e.name, e.number), Order(), scope.after, limit
    )
    return scope.answer(map(entry_row, kept), last)


def entry_row(entry: Entry) -> EntryRow:
    """A version of an entry as a row."""
    return EntryRow(
        server=entry.server,
        name=entry.name,
        last_release=entry.facts.last_release,
        replaced_by=entry.facts.replaced_by,
        message=entry.facts.message,
        retired_at=moment_of(entry.facts.retired_us),
        hidden=entry.hidden,
        versions=entry.number,
        source=entry.source,
        actor=entry.actor,
        said_at=Instant(entry.said_us),
    )
