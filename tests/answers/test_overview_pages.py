"""Pages of the overview: every row once, all of one instant, or the next page is refused."""

from collections import Counter
from typing import Any

import pytest

from service.answers import Query
from service.answers.overview import SORTS
from service.answers.paging import Place, write_cursor
from service.answers.query import iso
from service.errors import BadParameter, Conflict
from service.store.engine import Engine
from tests.answers import world
from tests.answers.overview_world import DAY, END, HOUR, ask, call, days, store, windows


def logs(engine: Engine) -> None:
    world.store(engine, world.random_rows(4, END - 50 * DAY, END, 150))
    store(engine, [], days(40, 0))


@pytest.mark.parametrize("descending", ["", "-"])
@pytest.mark.parametrize("sort", SORTS)
def test_pages_by_any_column_are_the_whole_in_its_order(
    engine: Engine, sort: str, descending: str
) -> None:
    """Also while the clock goes on; once lines have come, only server and name go on."""
    logs(engine)
    asked: dict[str, Any] = {"sort": f"{descending}{sort}"}
    whole = ask(engine, **asked)
    values = [row[sort] for row in whole["items"] if row[sort] is not None]
    assert values == sorted(values, reverse=bool(descending))

    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    first = None
    while cursor is not None:
        now = END + len(found) * 9 * DAY
        page = ask(engine, now, limit=2, cursor=cursor, **asked)
        assert page["totals"] == whole["totals"]
        found += page["items"]
        cursor = page["next_cursor"]
        first = first or cursor
    assert found == whole["items"]

    store(engine, [call(-DAY, "late")])
    if sort in ("server", "name"):
        assert ask(engine, limit=2, cursor=first, **asked)["items"]
    else:
        with pytest.raises(Conflict):
            ask(engine, limit=2, cursor=first, **asked)


def test_the_default_order_neither_skips_nor_repeats_while_lines_arrive(engine: Engine) -> None:
    """By server and name; a page after a write counts the write, in the periods of the first page."""
    store(engine, [call(-DAY, tool=tool) for tool in "bdf"], days(60, 0))
    first = ask(engine, limit=2)
    store(engine, [call(-HOUR, "late", tool) for tool in "abcdefg"], [])

    second = ask(engine, END + 3 * DAY, limit=9, cursor=first["next_cursor"])

    assert [row["name"] for row in first["items"]] == ["b", "d"]
    assert Counter(row["name"] for row in second["items"]) == Counter("efg")
    assert windows(second["items"][1], "stale_calls") == [2, 2, 2]
    assert windows(second["items"][1], "until") == [iso(END)] * 3
    assert second["generated_at"] == iso(END + 3 * DAY)


@pytest.mark.parametrize("key", [
    ("", "maps", "b"),
    ("", "maps", "b", None),
    ("", "maps", "b", True),
    ("", "maps", "b", 1.5),
    ("", "maps", 7, END),
    ("", "maps", "b", END, 1),
    ("", "maps", "b", END + 1),
    ("", "maps", "b", -(10**30)),
    (),
])  # fmt: skip
def test_a_cursor_that_was_put_together_by_hand_is_damaged(engine: Engine, key: Any) -> None:
    """It is refused as what it is, not as a fault."""
    store(engine, [call(-DAY, tool=tool) for tool in "abc"], days(60, 0))
    forged = write_cursor("overview", Query(), Place(END, None, None, key))
    with pytest.raises(BadParameter, match="damaged"):
        ask(engine, cursor=forged)


def test_an_instant_in_a_cursor_may_be_any_before_its_as_of(engine: Engine) -> None:
    """Of long ago, when nothing had been called: periods that can be written, and no fault."""
    store(engine, [call(-DAY, tool=tool) for tool in "abc"], days(60, 0))
    forged = write_cursor("overview", Query(), Place(END, None, None, ("", "maps", "a", -(2**50))))

    rows = ask(engine, cursor=forged)["items"]

    assert [(row["name"], windows(row, "stale_calls")) for row in rows] == [
        ("b", [0, 0, 0]),
        ("c", [0, 0, 0]),
    ]
