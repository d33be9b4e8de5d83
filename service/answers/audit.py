"""What was told, changed or taken back, by whom, and when."""

from dataclasses import dataclass
from typing import Any

from service.answers.paging import Key, Order, bad_cursor, page
from service.answers.query import Collection, Instant, Moment, Query, limit_asked
from service.answers.scope import scope_of
from service.store import read_audit
from service.store.engine import Connection
from service.store.read_audit import Done


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One line: `actor` is the way it was said, `rest`, `command` or `page`."""

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
    # a default range begins with the first event, but something can be done without any
    since_us = None if query.since is None else scope.start_us
    found = read_audit.lines(
        connection, since_us, scope.until_us, query.server, _before(scope.after), limit + 1
    )
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
    if len(after) != 2 or any(type(each) is not int or abs(each) > 2**61 for each in after):
        raise bad_cursor()
    return after[0], -after[1]
