"""
Values as a file holds them: with the lines on which they stand, and what cannot be read in its place.

Constants that hold each other share their members, so that a short file can stand for a value without
end. Whoever walks through one spends of an `Allowance`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

ABSENT = object()
"""The value of `undefined`."""
MEMBER = 8
"""What a member of a group costs, in characters."""


class Spent(ValueError):
    """A value, or all of a file together, is too large."""

    def __init__(self) -> None:
        super().__init__("it is too large")


@dataclass(slots=True)
class Allowance:
    """How many characters may still be put together or taken."""

    left: int

    def spend(self, size: int) -> None:
        """Take so many. Raises `Spent` where there are not, and takes none then."""
        if size > self.left:
            raise Spent
        self.left -= size


@dataclass(frozen=True, slots=True)
class Unread:
    """A member whose value cannot be read: where, and why."""

    line: int
    why: str


@dataclass(slots=True)
class Member:
    """A member of an object, or an item of a list: its key (None in a list), line and value."""

    key: str | None
    line: int
    value: Any
    """A scalar, a `Group`, or `Unread`."""


@dataclass(slots=True)
class Group:
    """An object or a list, its members in their order; of several with one key all are there."""

    kind: Literal["object", "list"]
    members: list[Member]
    _last: dict[str | None, Any] | None = field(default=None, repr=False, compare=False)

    def last(self, key: str) -> Any:
        """The value of the last member of that key. Raises `KeyError`."""
        if self._last is None:
            self._last = {member.key: member.value for member in self.members}
        return self._last[key]


def plain(group: Group, keys: Iterable[str], allowance: Allowance) -> dict[str, Any]:
    """
    The members of an object that have these keys, or none, without lines.

    Raises:
        ValueError: One is unread, with the reason; or the allowance does not suffice (`Spent`).
    """
    wanted = {None, *keys}
    allowance.spend(MEMBER * len(group.members))
    ours = [member for member in group.members if member.key in wanted]
    found: dict[str, Any] = _plain(Group("object", ours), allowance)
    return found


def _plain(value: Any, allowance: Allowance) -> Any:
    if isinstance(value, Unread):
        raise ValueError(f"line {value.line}: {value.why}")
    if isinstance(value, str):
        allowance.spend(len(value))
    if not isinstance(value, Group):
        return value
    allowance.spend(MEMBER * len(value.members))
    pairs = [(member.key, _plain(member.value, allowance)) for member in value.members]
    if value.kind == "list":
        return [each for _, each in pairs if each is not ABSENT]
    return {key: each for key, each in pairs if each is not ABSENT}
