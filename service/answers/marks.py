"""What somebody said of a client and a name, and what came since."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from service.answers.aliases import Aliases
from service.clock import DAY_US
from service.told import Mark, MarkKind

Status = Literal["open", "contacted", "unheeded", "known", "resolved", "reopened"]
"""What is to be done about a client's calls to a name: nothing was, or what the last mark says. It is
`unheeded` where somebody wrote to them and they still call two weeks later, `reopened` where it was said to
be resolved and was called since."""
DUE: tuple[Status, ...] = ("open", "unheeded", "reopened")
"""What somebody has to do something about."""
HEED_US = 14 * DAY_US
"""How long whoever was written to has before further calls are due again: they read, release and roll out."""


def status_of(mark: Mark | None, last_us: int | None) -> Status:
    """What the last mark comes to, with the last call that is no earlier than the question's range."""
    if mark is None:
        return "open"
    if mark.kind is MarkKind.CONTACTED and last_us is not None and last_us > mark.at_us + HEED_US:
        return "unheeded"
    if mark.kind is MarkKind.RESOLVED and last_us is not None and last_us > mark.at_us:
        return "reopened"
    return mark.kind.value


@dataclass(frozen=True, slots=True)
class Standing:
    """The marks of one client, server and name together."""

    last: Mark | None
    """The one with the greatest instant; of equal ones the one that was said last."""
    resolved_us: int | None
    """When it was last said to be fixed: only later calls count."""


class Marks:
    """Every mark that stands, found by server, name and client key."""

    def __init__(self, told: Iterable[Mark], aliases: Aliases) -> None:
        """A mark of a client is one of whatever client that is said to be."""
        self._found: dict[tuple[str, str | None, str], list[Mark]] = {}
        for mark in sorted(told, key=lambda mark: (mark.at_us, mark.id)):
            key = (mark.server, mark.name, aliases.canonical(mark.client))
            self._found.setdefault(key, []).append(mark)

    def of(self, server: str, name: str | None, client: str) -> Standing:
        """The marks of one name, and those of all names of the server; of None only these."""
        if not self._found:
            return _NONE
        mine = [
            mark for about in {name, None} for mark in self._found.get((server, about, client), ())
        ]
        if not mine:
            return _NONE
        resolved = [mark.at_us for mark in mine if mark.kind is MarkKind.RESOLVED]
        last = max(mine, key=lambda mark: (mark.at_us, mark.id))
        return Standing(last, max(resolved, default=None))


_NONE = Standing(None, None)
