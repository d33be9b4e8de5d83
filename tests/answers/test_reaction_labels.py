"""Labels, backgrounds and stale calls in flight from stored rows, against the definitions read literally."""

from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import pytest

from service.answers.query import iso
from service.events import Kind
from service.store.engine import Engine
from tests.answers import world
from tests.answers.test_reactions import HOUR, NOW, REFRESH, START, ask, busy_rows
from tests.answers.world import DAY, Seen
from tests.told import Told

FLIGHT = 120_000_000
ACTIVE = (Kind.CALL, Kind.HELLO, Kind.STALE_CALL, Kind.UNKNOWN_CALL)
Pair = tuple[str, str]
"""Server, and the key of the client or ""."""


class Literally:
    """Episodes, read as the words say, in loops over all rows."""

    def __init__(self, seen: list[Seen], since: int, until: int, end: int) -> None:
        self.seen, self.end = seen, end
        channels: dict[tuple[str, str, str | None], list[int]] = defaultdict(list)
        self.sent: dict[Pair, list[int]] = defaultdict(list)
        for s in seen:
            named = s.key is not None or s.row.session is not None
            if s.row.kind is Kind.NOTIFICATION and since <= s.row.time_us < until and named:
                channels[s.row.server, s.key or "", s.row.session].append(s.row.time_us)
                self.sent[s.row.server, s.key or ""].append(s.row.time_us)
        self.episodes: dict[tuple[str, str, str | None], list[tuple[int, int]]] = {}
        for channel, times in channels.items():
            found: list[tuple[int, int]] = []
            for time in sorted(times):
                if found and time - found[-1][1] <= REFRESH:
                    found[-1] = (found[-1][0], time)
                else:
                    found.append((time, time))
            self.episodes[channel] = found
        self.begins: dict[Pair, list[int]] = defaultdict(list)
        for (server, key, _), each in self.episodes.items():
            self.begins[server, key] += [first for first, _ in each]

    def labels(self) -> dict[Pair, Counter[str]]:
        found: dict[Pair, Counter[str]] = defaultdict(Counter)
        for (server, key, session), each in self.episodes.items():
            for number, (first, last) in enumerate(each):
                following = each[number + 1][0] if number + 1 < len(each) else self.end
                word = self.label(server, key, session, first, last, following)
                found[server, key][word] += 1
        return found

    def label(
        self, server: str, key: str, session: str | None, first: int, last: int, following: int
    ) -> str:
        mine = [s for s in self.seen if s.row.server == server]
        streams = [s for s in mine if s.row.kind is Kind.LISTEN]
        of_session = [s for s in mine if s.row.session == session]
        of_client = [s for s in mine if (s.key or "") == key]
        channel = of_session if session else of_client
        if streams and not any(
            s.row.kind is Kind.LISTEN and s.row.time_us <= first for s in channel
        ):
            return "no_channel"
        lists = [s.row.time_us for s in channel if s.row.kind is Kind.LISTING]
        lists = [time for time in lists if first <= time < following]
        if lists:
            within = min(lists) <= last + REFRESH
            if session:
                return "refreshed" if within else "came_back"
            return "listed_within" if within else "listed_later"
        if last + REFRESH >= self.end:
            return "too_early"
        later = [time for time in self.begins[server, key] if time > last + REFRESH]
        until = min([*later, self.end])
        active = sum(
            s.counted
            and s.row.kind in ACTIVE
            and last + (FLIGHT if s.row.kind in (Kind.STALE_CALL, Kind.UNKNOWN_CALL) else 0)
            < s.row.time_us
            < until
            for s in of_client
        )
        if key and active >= 3:
            return "ignored"
        if key and any(
            s.row.kind is Kind.LISTING
            and s.row.session != session
            and first <= s.row.time_us < until
            for s in of_client
        ):
            return "later_connect"
        if key and active:
            return "too_few"
        if until - last < 7 * DAY:
            return "too_early"
        return "silent" if key else "too_few"

    def in_flight(self) -> Counter[Pair]:
        found: Counter[Pair] = Counter()
        for s in self.seen:
            pair = (s.row.server, s.key or "")
            if s.stale and any(0 < s.row.time_us - time <= FLIGHT for time in self.sent[pair]):
                found[pair] += 1
        return found


def rows_over(seed: int, span: int) -> list[Told]:
    """The busy rows of three hours, stretched over a longer time; pairs of lines stay side by side."""
    longer = span // (3 * HOUR)
    return [replace(row, time_us=START + (row.time_us - START) * longer) for row in busy_rows(seed)]


@pytest.mark.parametrize("span", [3 * HOUR, 30 * DAY], ids=["hours", "weeks"])
@pytest.mark.parametrize("seed", range(3))
def test_each_episode_has_the_label_that_its_definition_gives(
    engine: Engine, seed: int, span: int
) -> None:
    """Inferred clients, calls logged twice, streams that were opened, a range and an as_of that cut."""
    rows = rows_over(seed, span)
    world.store(engine, rows, seed=seed)
    since, until, as_of = START + span // 6, START + 2 * span // 3, START + (8 + seed) * span // 12
    seen = world.read(rows, as_of)

    answer = ask(engine, since=iso(since), until=iso(until), as_of=iso(as_of))

    truth = Literally(seen, since, min(until, as_of), min(as_of, NOW))
    labels, flying = truth.labels(), truth.in_flight()
    found = {
        (row["server"], (row["client"] or "").casefold()): (
            {word: n for word, n in row["shares"]["labels"].items() if n},
            row["in_flight"],
        )
        for row in answer["items"]
    }
    assert found == {pair: (dict(each), flying[pair]) for pair, each in labels.items()}
    total: Counter[str] = Counter()
    for each in labels.values():
        total += each
    assert {w: n for w, n in answer["totals"]["shares"]["labels"].items() if n} == dict(total)


@pytest.mark.parametrize("by", ["version", "era"])
def test_parts_of_a_client_add_up_to_it(engine: Engine, by: str) -> None:
    """Each episode is of one version and one era; what is known of none is a part of its own, the last."""
    world.store(engine, busy_rows(4))
    whole: dict[Any, list[int]] = defaultdict(lambda: [0] * 5)
    words = ("notifications", "episodes", "answered", "in_flight", "listed_elsewhere")
    parts = ask(engine, by=by)["items"]
    for row in parts:
        mine = whole[row["server"], row["client"]]
        whole[row["server"], row["client"]] = [n + row[w] for n, w in zip(mine, words, strict=True)]
    every = ask(engine)["items"]
    assert dict(whole) == {(r["server"], r["client"]): [r[w] for w in words] for r in every}
    split = [row[by] for row in parts if row["client"] == every[0]["client"]]
    assert split == sorted(split, key=lambda text: (text is None, text))


def test_pages_by_version_hold_every_row_once(engine: Engine) -> None:
    """Sorted by share, None last, two a page."""
    world.store(engine, busy_rows(4))
    every = ask(engine, by="version", sort="-share")["items"]
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask(engine, by="version", sort="-share", limit=2, cursor=cursor)
        found += page["items"]
        cursor = page["next_cursor"]
    assert found == every
    assert len({(r["server"], r["client"], r["version"]) for r in every}) == len(every)
