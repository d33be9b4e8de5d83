"""What gathered calls come to, by group: totals, callers, versions, local days."""

from dataclasses import dataclass

import numpy as np

from service.analysis.counts import Column, codes, count_distinct
from service.analysis.zones import buckets, is_utc
from service.answers.calls import as_sums
from service.answers.people import NOBODY, People
from service.answers.scope import Scope
from service.clock import DAY_US
from service.store import read_words
from service.store.read_calls import Calls, Sums


@dataclass(frozen=True, slots=True)
class Total:
    """What the calls of one group came to. Instants are None where there is no call."""

    calls: int
    first_us: int | None
    last_us: int | None


def totals(group: Column, found: Sums, groups: int) -> list[Total]:
    """Add up sums by the number of their group."""
    calls = np.zeros(groups, dtype=np.int64)
    np.add.at(calls, group, found.calls)
    first = np.full(groups, np.iinfo(np.int64).max)
    np.minimum.at(first, group, found.first_us)
    last = np.full(groups, np.iinfo(np.int64).min)
    np.maximum.at(last, group, found.last_us)
    return [
        Total(int(n), int(a), int(b)) if n else Total(0, None, None)
        for n, a, b in zip(calls, first, last, strict=True)
    ]


def caller_numbers(calls: Calls, people: People) -> Column:
    """
    Who made each call: a stored caller's id, else minus one and below for the client, else 0.

    A call without a stored caller counts its client as the caller; without either it counts none.
    """
    group = people.groups(calls.client_id)
    nobody = people.keys.index(NOBODY) if NOBODY in people.keys else -1
    by_client = np.where(group == nobody, 0, -1 - group)
    return np.where(calls.caller_id > 0, calls.caller_id, by_client)


def count_callers(group: Column, calls: Calls, people: People, groups: int) -> Column:
    """How many distinct callers each group of calls has."""
    caller = caller_numbers(calls, people)
    known = caller != 0
    return count_distinct(group[known], caller[known], groups)


def version_texts(scope: Scope, calls: Calls, people: People) -> tuple[list[str | None], Column]:
    """The distinct versions of calls (their line's, else the one in the client's name), and each's."""
    own, own_row = codes(calls.version_id)
    words = read_words.version_names(scope.connection, [int(i) for i in own if i])
    named, named_row = codes(calls.client_id)
    in_name = [people.spellings[int(i)].version if i else None for i in named]
    texts: dict[str | None, int] = {}

    def place(text: str | None) -> int:
        return texts.setdefault(text, len(texts))

    by_name = np.array([place(text) for text in in_name], dtype=np.int64)
    by_line = np.array([place(words[int(i)]) if i else -1 for i in own], dtype=np.int64)
    if not calls.time_us.size:
        return [], calls.time_us
    chosen = by_line[own_row]
    return list(texts), np.where(chosen >= 0, chosen, by_name[named_row])


def versions_by_group(
    scope: Scope, group: Column, calls: Calls, people: People, groups: int
) -> list[list[str]]:
    """The distinct versions of each group's calls, the one with the latest call first; ties by text."""
    texts, version = version_texts(scope, calls, people)
    found: list[dict[str, int]] = [{} for _ in range(groups)]
    pairs, place = codes(group * max(len(texts), 1) + version)
    last = np.full(pairs.size, np.iinfo(np.int64).min)
    np.maximum.at(last, place, calls.time_us)
    for pair, time_us in zip(pairs, last, strict=True):
        text = texts[int(pair) % len(texts)]
        if text is not None:
            found[int(pair) // len(texts)][text] = int(time_us)
    return [sorted(each, key=lambda text: (-each[text], text)) for each in found]


def local_days(scope: Scope, group: Column, calls: Calls, groups: int) -> Column:
    """How many local days have a call, by group."""
    if is_utc(scope.query.tz) or not calls.time_us.size:
        return count_distinct(group, calls.time_us // DAY_US, groups)
    first, last = int(calls.time_us.min()), int(calls.time_us.max())
    starts = [bucket.start_us for bucket in buckets(first, last + 1, scope.zone, "day")]
    day = np.searchsorted(np.array(starts), calls.time_us, side="right")
    return count_distinct(group, day.astype(np.int64), groups)


@dataclass(frozen=True, slots=True)
class Tally:
    """What the calls of each group came to."""

    totals: list[Total]
    callers: Column
    versions: list[list[str]]
    """The one with the latest call first."""
    inferred: Column
    """Calls whose client is that of their session's hello."""


def tally(scope: Scope, group: Column, calls: Calls, people: People, groups: int) -> Tally:
    """Count calls by the number of their group."""
    return Tally(
        totals=totals(group, as_sums(calls), groups),
        callers=count_callers(group, calls, people, groups),
        versions=versions_by_group(scope, group, calls, people, groups),
        inferred=np.bincount(group, weights=calls.inferred, minlength=groups),
    )
