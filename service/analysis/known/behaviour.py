"""What a product is known to do about a changed list, at one version of it or at any."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from service.analysis.versions import before, comparable

Word = Literal["honours", "ignores", "frozen", "cached", "unreliable", "unknown"]
WORDS: Final[tuple[Word, ...]] = get_args(Word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """
    What is known of a product, from the version `since` to below the version `before`, at `where` (a
    transport or place); None: of all.
    """

    does: Word
    since: str | None = None
    before: str | None = None
    where: str | None = None
    said: str = ""
    seen: str | None = None
    refs: tuple[str, ...] = ()

    def holds(self, version: str) -> bool:
        """Whether a comparable version is among those that this is said of."""
        early = self.since is not None and before(version, self.since)
        late = self.before is not None and not before(version, self.before)
        return not early and not late

    def sentence(self) -> str:
        """
        All of it in one line.

        >>> Behaviour(does="ignores", before="2.1", said="It drops it.", seen="2025-12").sentence()
        'Before 2.1: ignores a changed list. It drops it. (2025-12)'
        """
        since = f"from {self.since}" if self.since else ""
        until = f"before {self.before}" if self.before else ""
        lead = " ".join(filter(None, [since, until])) or "any version"
        lead += f" ({self.where})" if self.where else ""
        seen = f" ({self.seen})" if self.seen else ""
        return f"{lead[0].upper()}{lead[1:]}: {SAID[self.does]}. {self.said}{seen}".strip()


SAID: Final[dict[Word, str]] = {
    "honours": "lists again when the list changes",
    "ignores": "ignores a changed list",
    "frozen": "keeps a snapshot of the list until a person rescans it",
    "cached": "keeps its list until it reconnects or restarts",
    "unreliable": "reports disagree about it",
    "unknown": "nothing sure is known",
}
"""Each word in a reader's words."""


@dataclass(frozen=True, slots=True)
class Expected:
    """
    What to expect of a client. `rows` are what it rests on; `compared` is False where the version could
    not be compared, so that all that is known of the product is shown.
    """

    does: Word
    rows: tuple[Behaviour, ...] = ()
    compared: bool = True

    @property
    def refs(self) -> tuple[str, ...]:
        """Every reference once, in order."""
        return tuple(dict.fromkeys(ref for row in self.rows for ref in row.refs))


def expected(
    rows: Sequence[Behaviour], version: str | None, constants: Sequence[str] = ()
) -> Expected:
    """
    What a product does at a version.

    A version that is missing, is no numbers between dots, or is one of the *constants* that a client
    sends whatever its real one is, can be compared with no range: all rows are shown then. Where rows
    that hold disagree, as they do for a product that is several, it is `unreliable`; where some of them
    know nothing, or the ranges leave some version out, and the version is not compared, `unknown`.

    >>> old, new = Behaviour(does="ignores", before="2.1"), Behaviour(does="honours", since="2.1")
    >>> expected([old, new], "2.0.9").does, expected([old, new], "2.1.0-rc.1").does
    ('ignores', 'ignores')
    >>> expected([old, new], "nightly").does, expected([new], None).does, expected([], "1.0").does
    ('unreliable', 'unknown', 'unknown')
    """
    compared = version is not None and comparable(version) and version not in constants
    bounded = any(row.since or row.before for row in rows)
    if compared and version is not None:
        rows = [row for row in rows if row.holds(version)]
    words = {row.does for row in rows}
    sure = words - {"unknown"}
    if len(sure) > 1:
        return Expected("unreliable", tuple(rows), compared or not bounded)
    certain = bool(sure) and sure == words
    if not compared and certain:
        certain = any(not row.since and not row.before for row in rows)
    word: Word = next(iter(sure)) if certain else "unknown"
    return Expected(word, tuple(rows), compared or not bounded)
