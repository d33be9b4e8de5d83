"""Clients as people know them: one group for all spellings of a key, and one for none."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.analysis.counts import Column, codes
from service.answers.scope import Scope
from service.store import read_display, read_words
from service.store.read_words import Spelling

NOBODY = ""
"""The key of the group of calls that name no client; no client has it."""


@dataclass(frozen=True)
class People:
    """The clients behind some ids. Groups are numbered in the order of their keys."""

    scope: Scope
    spellings: dict[int, Spelling]
    keys: tuple[str, ...]

    @cached_property
    def _shown(self) -> dict[str, str]:
        """Key → name, looked up when the first is shown: counting needs none."""
        return self.scope.moment.once(("shown", self.scope.cut, self.keys), self._find_shown)

    def _find_shown(self) -> dict[str, str]:
        aliases = self.scope.aliases
        told = {key: aliases.shown[key] for key in self.keys if key in aliases.shown}
        groups: dict[str, list[Spelling]] = {
            key: [] for key in self.keys if key != NOBODY and key not in told
        }
        for spelling in read_words.spellings_of(self.scope.connection, sorted(groups)).values():
            groups[spelling.key].append(spelling)
        return read_display.latest_names(self.scope.connection, self.scope.cut, groups) | told

    def name(self, key: str) -> str | None:
        """How to show a group; None for the calls that name no client."""
        return None if key == NOBODY else self._shown[key]

    def key(self, client_id: int) -> str:
        """The key of the group that a client's id belongs to."""
        if client_id not in self.spellings:
            return NOBODY
        return self.scope.aliases.canonical(self.spellings[client_id].key)

    def groups(self, client_ids: Column) -> Column:
        """The number of each id's group."""
        places = {key: place for place, key in enumerate(self.keys)}
        values, rows = codes(client_ids)
        table = np.array([places[self.key(int(id_))] for id_ in values], dtype=np.int64)
        return table[rows] if rows.size else rows


def people(scope: Scope, client_ids: Iterable[int]) -> People:
    """Look up the clients with these ids, 0 among them for none."""
    ids = {int(id_) for id_ in client_ids}
    spellings = read_words.spellings(scope.connection, ids - {0})
    keys = {scope.aliases.canonical(spelling.key) for spelling in spellings.values()}
    every = keys | ({NOBODY} if any(id_ not in spellings for id_ in ids) else set())
    return People(scope, spellings, tuple(sorted(every)))
