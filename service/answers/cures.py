"""What would make each client stop calling each retired name: one row a server, name and client."""

from dataclasses import dataclass

from service.analysis.cures import cure
from service.analysis.evidence import Evidence
from service.analysis.stopped import Word
from service.answers import calls as gather
from service.answers.callers import CallerRow
from service.answers.cure_evidence import evidence, gathered
from service.answers.marks import Status
from service.answers.names import sortable
from service.answers.paging import order_asked, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import scope_of
from service.answers.stopped import words_of
from service.store.engine import Connection

SORTS = (
    "server",
    "name",
    "client",
    "cure",
    "product",
    "behaviour",
    "stale_calls",
    "callers",
    "active_days",
    "sessions",
    "first_call",
    "last_call",
    "status",
    "open_calls",
    "open_days",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CureRow:
    """
    What would make one client stop calling one retired name, and what that rests on; `client` is None
    for the calls that name none.

    `via` are the bridges that its calls came through. `cure` is one word, `do` what to do about it, `why` sentences with numbers from the log. `product`,
    `vendor` and `kind` are those of a known client, `behaviour` what it is known to do about a changed
    list at its last version, with `reports` and `refs` as the sources.

    `again_calls` came after a listing of their session that was fetched since the name is known as
    retired, `old_calls` after an older one, `unlisted_calls` after none. `listings` and `notifications`
    are the client's at that server in the range. `status`, `marked_at`, `open_calls` and `open_days` are those of
    `callers`. `verdict` is whether it stopped: the word of `stopped`, of all its calls before the end of the
    range. Of one that stopped nothing is to be asked, unless it calls again.
    """

    server: str
    name: str
    client: str | None
    via: tuple[str, ...]
    cure: str
    do: str
    why: tuple[str, ...]
    product: str | None
    vendor: str | None
    kind: str | None
    behaviour: str
    reports: tuple[str, ...]
    refs: tuple[str, ...]
    stale_calls: int
    again_calls: int
    old_calls: int
    unlisted_calls: int
    callers: int
    active_days: int
    sessions: int
    listings: int
    notifications: int
    versions: tuple[str, ...]
    version_count: int
    first_call: Instant | None
    last_call: Instant | None
    inferred_calls: int
    status: Status
    marked_at: Instant | None
    open_calls: int
    open_days: int
    verdict: Word


def cures(connection: Connection, query: Query, moment: Moment) -> Collection[CureRow]:
    """
    What would make every client stop that called a retired name in the range, by server, name and
    client.

    The range chooses the calls, and the listings and notifications that are counted; which listing came
    before a call is looked for from the beginning of its session.

    Raises:
        BadParameter: A parameter cannot be used.
        Conflict: The rows are sorted by a value that changes, and the data did since the first page.
    """
    order = order_asked(query, SORTS)
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "cures", changes=order.changes)
    found = list(evidence(gathered(scope))) if scope.names else []
    kept, last = page(
        found,
        lambda each: (_sortable(*each[1:], order.column), each[1].server, each[1].name, each[0]),
        order,
        scope.after,
        limit,
    )
    words = words_of(scope, {(row.server, row.name) for _, row, _ in kept})
    rows = (row_of(row, shown, words[row.server, row.name, key]) for key, row, shown in kept)
    return scope.answer(rows, last, excluded_calls=gather.left_out(scope))


def _sortable(row: CallerRow, shown: Evidence, column: str | None) -> object:
    """The value to sort by. Sentences are written for the rows of a page only."""
    if column in ("cure", "product", "behaviour"):
        return getattr(row_of(row, shown, "cannot tell"), column)
    return shown.sessions if column == "sessions" else sortable(row, column)


def row_of(row: CallerRow, shown: Evidence, verdict: Word) -> CureRow:
    """A row of callers with what would end it, and whether it ended; this writes the sentences."""
    found, known = cure(shown), shown.known
    return CureRow(
        server=row.server,
        name=row.name,
        client=row.client,
        via=shown.via,
        cure=found.word,
        do=found.do,
        why=found.why,
        product=known.product if known else None,
        vendor=known.vendor if known else None,
        kind=known.kind if known else None,
        behaviour=shown.expected.does,
        reports=found.reports,
        refs=found.refs,
        stale_calls=row.stale_calls,
        again_calls=shown.again,
        old_calls=shown.old,
        unlisted_calls=shown.unlisted,
        callers=row.callers,
        active_days=row.active_days,
        sessions=shown.sessions,
        listings=shown.listings,
        notifications=shown.notifications,
        versions=row.versions,
        version_count=row.version_count,
        first_call=row.first_call,
        last_call=row.last_call,
        inferred_calls=row.inferred_calls,
        status=row.status,
        marked_at=row.marked_at,
        open_calls=row.open_calls,
        open_days=row.open_days,
        verdict=verdict,
    )
