"""What an overview says of each name where it is asked for detail: the verdict, and what the top client needs."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from service.analysis.counts import Column
from service.analysis.cures import cure
from service.analysis.stopped import WORDS, Word
from service.analysis.stopped_texts import Rested, because
from service.answers.cure_evidence import evidence, gathered
from service.answers.notifications import sent
from service.answers.overview_rows import TopCure, Verdict
from service.answers.query import Query, only
from service.answers.retired import Name
from service.answers.scope import Scope, scope_of
from service.answers.stopped import StoppedRow, judged_of

Need = list[int]
"""By what names are in order: [place of the verdict, active days, calls], the last two below 0."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What is said of each name, in the order of the names."""

    rows: tuple[StoppedRow, ...]
    clients: tuple[Mapping[str, Word], ...]
    """Client key → the verdict on that client alone."""

    @property
    def counts(self) -> dict[Word, int]:
        """How many names have each verdict, from the one most surely called."""
        said = [row.verdict for row in self.rows]
        return {word: said.count(word) for word in WORDS}

    def of(self, place: int) -> Verdict:
        """The verdict on one name."""
        row = self.rows[place]
        rested = Rested(
            verdict=row.verdict,
            reason=row.reason,
            active_days=row.active_days,
            silent_days=row.silent_days,
            longest_pause_days=row.longest_pause_days,
            gap_days=row.gap_days,
        )
        return Verdict(
            word=row.verdict,
            reason=row.reason,
            because=because(rested),
            probability=row.probability,
            interval=row.interval,
            wait_days=row.wait_days,
        )

    def need(self, active_days: Sequence[int], calls: Sequence[int]) -> list[Need]:
        """What needs doing first has the least."""
        return [
            [WORDS.index(row.verdict), -days, -number]
            for row, days, number in zip(self.rows, active_days, calls, strict=True)
        ]


def verdicts_of(scope: Scope, names: Sequence[Name]) -> Verdicts:
    """The verdict on each of these names: of the clients asked for, in all time up to the end of the range."""
    asked, bound = scope.query, scope.moment.bound
    query = Query(
        server=asked.server,
        client=asked.client,
        until=asked.until,
        tz=asked.tz,
        as_of=asked.as_of,
    )
    if bound is not None:
        query = replace(query, name=only(bound.name))
    whole = scope_of(
        scope.connection, replace(query, excluded=asked.excluded), scope.moment, "stopped"
    )
    found = judged_of(whole, {(name.server, name.name) for name in names})
    each = [found[name.server, name.name] for name in names]
    return Verdicts(tuple(row for row, _ in each), tuple(words for _, words in each))


def top_cures(
    scope: Scope, verdicts: Verdicts, names: Sequence[Name], tops: Mapping[int, tuple[str, int]]
) -> dict[int, TopCure]:
    """By the place of a name, what would make the client stop that calls it most in the range."""
    wanted = {
        (names[place].server, names[place].name, key): place for place, (key, _) in tops.items()
    }
    if not wanted:
        return {}
    found: dict[int, TopCure] = {}
    for key, row, shown in evidence(gathered(scope, of=wanted.keys())):
        place = wanted.get((row.server, row.name, key))
        if place is not None:
            said = cure(shown)
            word = verdicts.clients[place].get(key, "cannot tell")
            found[place] = TopCure(verdict=word, word=said.word, do=said.do)
    return found


def notified(scope: Scope, servers: AbstractSet[str], starts: Sequence[int]) -> dict[str, Column]:
    """By server, the notifications sent in each of the buckets that begin at *starts*."""
    edges = np.array(starts, dtype=np.int64)
    found: dict[str, Column] = {}
    for id_, server in scope.servers.items():
        if server in servers and edges.size:
            each = sent(replace(scope, server_ids=frozenset({id_})), edges, by_client=False)
            place = np.searchsorted(edges, each.at_us, side="right") - 1
            kept = place >= 0
            counted = np.bincount(place[kept], weights=each.number[kept], minlength=edges.size)
            found[server] = counted.astype(np.int64)
    return found
