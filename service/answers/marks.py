"""What somebody said of a client and a name, and what came since."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from service.answers.aliases import Aliases
from service.told import Mark, MarkKind

Status = Literal["open", "contacted", "known", "resolved", "reopened"]
"""What is to be done about a client's calls to a name: nothing was, or what the last mark says;
`reopened` where it was said to be resolved and was called since."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The marks of one client, server and name together."""

    last: Mark | None
    """The one with the greatest instant; of equal ones the one that was said last."""
    resolved_us: int | None
    """When it was last said to be fixed: only later calls count."""

    def status(self, open_calls: int) -> Status:
        """What they come to, with this many calls that count."""
        if self.resolved_us is not None and open_calls:
            return "reopened"
        return "open" if self.last is None else self.last.kind.value


class Marks:
    """Every mark that stands, found by server, name and client key."""

    def __init__(self, told: Iterable[Mark], aliases: Aliases) -> None:
        """A mark of a client is one of whatever client that is said to be."""
        self._found: dict[tuple[str, str | None, str], list[Mark]] = {}
        for mark in sorted(told, key=lambda mark: (mark.at_us, mark.id)):
            key = (mark.server, mark.name, aliases.canonical(mark.client))
            self._found.setdefault(key, []).append(mark)

    def of(self, server: str, name: str, client: str) -> Standing:
        """The marks of one name, and those of all names of the server."""
        mine = [
            *self._found.get((server, name, client), ()),
            *self._found.get((server, None, client), ()),
        ]
        if not mine:
            return _NONE
        resolved = [mark.at_us for mark in mine if mark.kind is MarkKind.RESOLVED]
        last = max(mine, key=lambda mark: (mark.at_us, mark.id))
        return Standing(last, max(resolved, default=None))


_NONE = Standing(None, None)
