"""What was told, changed or taken back, by whom, and when."""

from dataclasses import dataclass
from typing import Any

from service.answers.paging import Key, Order, bad_cursor, page, whole_number
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import chosen, scope_of
from service.store import read_audit
from service.store.engine import Connection
from service.store.read_audit import Done


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One line: `actor` is the way it was said, `rest`, `command`, `page` or `demo`."""

    at: Instant
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


def audit(connection: Connection, query: Query, moment: Moment) -> Collection[AuditRow]:
    """
    Lines of the audit, the newest first; `since` and `until` are when it was done.

    Raises:
        BadParameter: A parameter cannot be used.
    """
    limit = limit_asked(query)
    scope = scope_of(connection, query, moment, "audit")
    span = (scope.asked_since_us, scope.until_us)
    servers = chosen(query.server)
    found = read_audit.lines(connection, *span, servers, _before(scope.after), limit + 1)
    kept, last = page(found, _key, Order(descending=True), scope.after, limit)
    rows = (
        AuditRow(
            at=Instant(line.at_us),
            actor=line.actor,
            action=line.action,
            subject=line.subject,
            detail=line.detail,
        )
        for line in kept
    )
    return scope.answer(rows, last)


def _key(line: Done) -> Key:
    """The later of two lines of one instant comes first, too."""
    return (line.at_us, -line.id)


def _before(after: Key | None) -> tuple[int, int] | None:
    if after is None:
        return None
    if len(after) != 2:
        raise bad_cursor()
    at_us, id_ = map(whole_number, after)
    return at_us, -id_
