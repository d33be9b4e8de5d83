"""What the overview's change compares: the hours that were heard in both periods, and no others."""

import random
from collections.abc import Iterable
from typing import Any

import pytest

from service.answers.query import iso
from service.store.engine import Engine
from tests.answers.overview_world import DAY, END, HOUR, ask, call, days, store
from tests.told import Told

HALF = HOUR // 2
TO_EARLIER = -28 * DAY


def without(*silent: Iterable[int]) -> list[int]:
    """The hours of the 80 days before END, and the first after it, that are in none of these."""
    lost = {hour for each in silent for hour in each}
    return [hour for hour in range(-80 * 24, 1) if hour not in lost]


def matched(change: dict[str, Any]) -> list[int]:
    """Hours, calls of the earlier period, calls of the later one."""
    return [change[f"matched_{each}"] for each in ("hours", "calls_before", "calls")]


def both(answer: dict[str, Any]) -> dict[str, Any]:
    """The change of the only row, which is that of the totals too."""
    change: dict[str, Any] = answer["items"][0]["change"]
    totals = answer["totals"]["change"]
    assert {member: totals[member] for member in change} == change
    return change


@pytest.mark.parametrize("silent", [(20, 18), (48, 46)])
def test_hours_that_one_period_lacks_are_dropped_from_the_other_as_well(
    engine: Engine, silent: tuple[int, int]
) -> None:
    """Four calls after five would be fewer; in the hours heard in both they are three after two."""
    rows = [call(-80 * DAY), call(-50 * DAY), call(-31 * DAY)]
    rows += [call(-48 * DAY + hour * HOUR) for hour in (0, 20, 47)]
    rows += [call(-26 * DAY), call(-17 * DAY), call(-DAY), call(-19 * DAY)]
    store(engine, rows, without(days(*silent)))

    change = both(ask(engine, as_of=iso(END)))

    assert matched(change) == [26 * 24, 2, 3]
    assert (change["stale_calls_before"], change["stale_calls"]) == (5, 4)
    assert (change["word"], change["why"], change["pct"]) == ("more", None, None)
    lost = 48 if silent == (20, 18) else 0
    assert (change["covered_hours"], change["hours"]) == (672 - lost, 672)
    assert (change["covered_hours_before"], change["hours_before"]) == (672 - 48 + lost, 672)


def test_a_call_belongs_to_the_hour_that_begins_with_it(engine: Engine) -> None:
    """Calls at the edges of the periods and of what is dropped, and one microsecond before each."""
    edges = [-56 * DAY, -48 * DAY, -46 * DAY, -28 * DAY, -20 * DAY, -18 * DAY, 0]
    rows = [call(-80 * DAY), *(call(edge - early) for edge in edges for early in (0, 1))]
    store(engine, rows, without(days(20, 18)))

    change = both(ask(engine, as_of=iso(END)))

    # earlier: at -56, before -48, at -46, before -28; dropped: at -48, before -46. later alike
    assert matched(change) == [26 * 24, 4, 4]
    assert (change["stale_calls_before"], change["stale_calls"]) == (6, 6)


def test_an_hour_of_a_period_that_begins_within_one_shares_two_of_the_clock(
    engine: Engine,
) -> None:
    """At half past, 48 silent hours of the clock are in 49 hours of the period."""
    first, last = -20 * DAY - HALF, -18 * DAY + HALF
    edges = [first, last, first + TO_EARLIER, last + TO_EARLIER]
    rows = [call(-80 * DAY), *(call(edge - early) for edge in edges for early in (0, 1))]
    rows += [call(TO_EARLIER + HALF - 1), call(HALF - 1), call(2 * TO_EARLIER + HALF)]
    store(engine, rows, without(days(20, 18)))

    change = both(ask(engine, END + HALF, as_of=iso(END + HALF)))

    # of the four at each silence, those before it and at its end; then the edges of the periods
    assert matched(change) == [672 - 49, 2 + 2, 2 + 1]
    assert (change["stale_calls_before"], change["stale_calls"]) == (6, 5)


@pytest.mark.parametrize(("silent", "hours"), [
    ([range(-400, -64)], 336),
    ([range(-400, -63)], 335),
    ([range(-400 - 672, -64 - 672)], 336),
    ([range(-400 - 672, -63 - 672)], 335),
    ([range(-400, -64), range(-400 - 672, -64 - 672)], 336),
    ([range(-400, -232), range(-232 - 672, -64 - 672)], 336),
    ([range(-400, -231), range(-232 - 672, -64 - 672)], 336),
    ([range(-400, -232), range(-232 - 672, -63 - 672)], 335),
])  # fmt: skip
def test_half_of_the_hours_are_compared_and_fewer_are_not(
    engine: Engine, silent: list[range], hours: int
) -> None:
    """Both say how many there are; silence in the same hours of both periods counts once."""
    store(engine, [call(-80 * DAY), call(-HOUR), call(-HOUR - 1)], without(*silent))

    change = both(ask(engine, as_of=iso(END)))

    assert matched(change) == [hours, 0, 2]
    compared = ("more", None) if hours == 336 else ("cannot_compare", "gap")
    assert (change["word"], change["why"]) == compared


@pytest.mark.parametrize(("before", "dropped", "after", "word", "pct"), [
    (30, 15, 40, "more", 33.3),  # of all 45 there are fewer
    (29, 10, 40, "more", None),
    (40, 7, 40, "equal", 0.0),
    (0, 60, 0, "none", None),
])  # fmt: skip
def test_word_and_percentage_are_of_the_hours_that_match(
    engine: Engine, before: int, dropped: int, after: int, word: str, pct: float | None
) -> None:
    """Calls in the dropped hours decide nothing, but are in the count of their period."""
    rows = [call(-80 * DAY)]
    rows += [call(-40 * DAY + i) for i in range(before)]
    rows += [call(-47 * DAY + i) for i in range(dropped)]
    rows += [call(-10 * DAY + i) for i in range(after)]
    store(engine, rows, without(days(20, 18)))

    change = both(ask(engine))

    assert (change["word"], change["why"], change["pct"]) == (word, None, pct)
    assert (change["stale_calls_before"], change["stale_calls"]) == (before + dropped, after)


def test_totals_compare_the_hours_in_which_all_servers_were_heard(engine: Engine) -> None:
    """Two servers were silent at different times: each row lacks its own hours, the totals both."""
    maps = [call(-80 * DAY), call(-38 * DAY), call(-10 * DAY), call(-9 * DAY)]
    maps += [call(-47 * DAY), call(-17 * DAY + HOUR)]
    shop = [call(-80 * DAY, server="shop"), call(-37 * DAY, server="shop")]
    shop += [call(-19 * DAY, server="shop"), call(-17 * DAY + HOUR, server="shop")]
    store(engine, maps, without(days(20, 18)))
    store(engine, shop, without(days(45, 44)), server="shop")

    answer = ask(engine)

    first, second = (row["change"] for row in answer["items"])
    # maps: not the call 47 days ago. shop: not the one 17 days ago, as it was silent 45 days ago
    assert (matched(first), first["word"]) == ([672 - 48, 1, 3], "more")
    assert (matched(second), second["word"]) == ([672 - 24, 1, 1], "equal")
    totals = answer["totals"]["change"]
    assert (matched(totals), totals["word"]) == ([672 - 72, 2, 2], "equal")
    assert (totals["stale_calls_before"], totals["stale_calls"]) == (3, 5)
    for server, row in (("maps", first), ("shop", second)):
        only = ask(engine, server=server)["totals"]["change"]
        assert {member: only[member] for member in row} == row


def silences(rng: random.Random) -> list[range]:
    """Four silences of seven hours or more, each a gap, a day or more apart."""
    starts = sorted(rng.sample(range(-60 * 24, -5 * 24, 4 * 24), 4))
    return [range(at, at + rng.randrange(7, 72)) for at in starts]


@pytest.mark.parametrize("seed", range(6))
def test_a_change_counts_what_its_definition_counts(engine: Engine, seed: int) -> None:
    """Each hour of both periods gone through, one after the other, at any time of the day."""
    rng = random.Random(seed)
    now = rng.choice([0, -rng.randrange(3 * DAY)])
    rows: dict[str, list[Told]] = {}
    watched: dict[str, set[int]] = {}
    for server in ("maps", "shop"):
        rows[server] = [call(-80 * DAY, server=server, tool=tool) for tool in "abc"]
        rows[server] += [
            call(-rng.randrange(62 * DAY), rng.choice("xy"), rng.choice("abc"), server=server)
            for _ in range(300)
        ]
        heard = without(*silences(rng))
        watched[server] = set(heard)
        store(engine, rows[server], heard, server=server)

    def counted(servers: Iterable[str], tools: str, clients: str) -> list[int]:
        calls = [row for server in servers for row in rows[server]]
        calls = [row for row in calls if row.tool in set(tools) and row.client in set(clients)]
        found = [0, 0, 0]
        for k in range(672):
            later = now + k * HOUR - 28 * DAY
            starts = [later - 28 * DAY, later]
            shared = [h for at in starts for h in range(at // HOUR, -(-(at + HOUR) // HOUR))]
            if all(hour in watched[server] for server in servers for hour in shared):
                found[0] += 1
                for place, at in enumerate(starts, start=1):
                    found[place] += sum(at <= row.time_us - END < at + HOUR for row in calls)
        return found

    for clients in ("xy", "x"):
        asked = {"client": clients} if clients == "x" else {}
        answer = ask(engine, END + now, as_of=iso(END + now), since=iso(END - 60 * DAY), **asked)
        assert len(answer["items"]) == 6
        for row in answer["items"]:
            mine = counted([row["server"]], row["name"], clients)
            assert matched(row["change"]) == mine
        assert matched(answer["totals"]["change"]) == counted(rows, "abc", clients)
