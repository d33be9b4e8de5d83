"""The collection of releases: its order, its range, and its pages."""

from typing import Any

import pytest

from service.answers.query import iso
from service.errors import BadParameter, Conflict
from service.events import Release
from service.store import releases
from service.store.engine import Engine, driver_of, writing
from tests.answers import world
from tests.answers.test_against_definitions import FALL, NOW, ask
from tests.answers.test_cuts import row
from tests.answers.test_pages import pages
from tests.answers.world import DAY

HOUR = 3_600_000_000


def record(engine: Engine, server: str, version: str, at_us: int) -> None:
    with writing(engine) as connection:
        release = Release(server=server, version=version, at_us=at_us, source="rest")
        releases.record(driver_of(connection), release, now_us=0, actor="rest")


def versions(engine: Engine, **asked: Any) -> list[str]:
    return [r["version"] for r in ask(engine, "releases", **asked)["items"]]


def test_releases_come_by_time_then_server_and_version(engine: Engine) -> None:
    """By text, so 1.10 before 1.9 where both came at once; with the instant as it is written."""
    for server, version, at in (
        ("shop", "1", FALL),
        ("maps", "1.9", FALL),
        ("maps", "1.10", FALL),
        ("maps", "0.1", FALL + 1),
    ):
        record(engine, server, version, at)

    found = ask(engine, "releases")

    assert found["items"] == [
        {"server": server, "version": version, "at": at, "source": "rest"}
        for server, version, at in (
            ("maps", "1.10", "2026-10-30T00:00:00.000Z"),
            ("maps", "1.9", "2026-10-30T00:00:00.000Z"),
            ("shop", "1", "2026-10-30T00:00:00.000Z"),
            ("maps", "0.1", "2026-10-30T00:00:00.000001Z"),
        )
    ]
    assert found["next_cursor"] is None


def test_a_range_holds_its_start_and_not_its_end_and_as_of_cuts(engine: Engine) -> None:
    """Local dates are days of the zone: in Kolkata, 2026-11-01 begins at 18:30 UTC of the day before."""
    eve = FALL + DAY + 18 * HOUR + HOUR // 2
    for version, at in (("before", eve - 1), ("start", eve), ("end", eve + DAY)):
        record(engine, "maps", version, at)
    local = {"tz": "Asia/Kolkata", "since": "2026-11-01", "until": "2026-11-02"}

    assert versions(engine, **local) == ["start"]
    assert versions(engine, since=iso(FALL)) == ["before", "start", "end"]
    assert versions(engine, as_of=iso(eve)) == ["before"]
    assert versions(engine, since=iso(FALL), as_of=iso(eve)) == ["before"]
    assert versions(engine, as_of=iso(FALL)) == []
    assert versions(engine, server="shop") == []


def test_a_release_ahead_of_the_clock_shows_when_its_time_comes(engine: Engine) -> None:
    """As events, up to the future skew."""
    record(engine, "maps", "soon", NOW + HOUR)
    record(engine, "maps", "later", NOW + 2 * DAY)
    assert versions(engine) == ["soon"]


def test_a_range_that_is_not_given_begins_with_the_first_event(engine: Engine) -> None:
    """What came before it is asked for by `since`."""
    world.store(engine, [row(FALL, 1), row(FALL + DAY, 2)])
    record(engine, "maps", "old", FALL - DAY)
    record(engine, "maps", "new", FALL + HOUR)

    found = ask(engine, "releases")
    assert [r["version"] for r in found["items"]] == ["new"]
    assert found["range"]["since"] == iso(FALL)
    assert versions(engine, since=iso(FALL - DAY)) == ["old", "new"]


def test_a_server_with_releases_and_no_event_begins_with_its_first_release(engine: Engine) -> None:
    """It is not told as watched, and changes no answer about the others."""
    world.store(engine, [row(FALL, 1), row(FALL + DAY, 2)])
    asked = ("servers", "names", "series", "coverage", "health")
    before = {noun: ask(engine, noun) for noun in asked}
    record(engine, "new", "1.0", FALL - 9 * DAY)
    record(engine, "new", "1.1", FALL - 2 * DAY)
    record(engine, "elder", "0.1", FALL - 30 * DAY)

    found = ask(engine, "releases", server="new")
    assert [r["version"] for r in found["items"]] == ["1.0", "1.1"]
    assert found["range"]["since"] == iso(FALL - 9 * DAY)
    early = ask(engine, "releases", server="new", until=iso(FALL - 10 * DAY))
    assert (early["items"], early["range"]["since"]) == ([], None)
    for noun in asked:
        after = ask(engine, noun)
        for answer in (before[noun], after):
            answer.get("database", {}).pop("data_version", None)
            for member in ("servers", "server_count"):  # which say who was not watched
                answer["coverage"].pop(member)
        assert after == before[noun]
    for noun in ("servers", "names", "callers", "clients", "events", "series", "health"):
        assert ask(engine, noun, server="new")["items"] == []


def test_with_no_event_at_all_the_range_begins_with_the_first_release(engine: Engine) -> None:
    """Nothing known is no range; one release is one."""
    assert ask(engine, "releases")["range"]["since"] is None
    record(engine, "b", "2", FALL + DAY)
    record(engine, "a", "1", FALL)
    found = ask(engine, "releases")
    assert [r["version"] for r in found["items"]] == ["1", "2"]
    assert found["range"] == {"since": iso(FALL), "until": found["as_of"], "tz": "UTC"}


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_pages_hold_every_release_once_while_lines_and_releases_arrive(
    engine: Engine, limit: int
) -> None:
    """Five of one instant and two servers, cut anywhere; the range stays that of the first page."""
    for server in ("b", "a"):
        for version in ("2", "1", "3"):
            record(engine, server, version, FALL)

    def between() -> None:
        world.store(engine, world.random_rows(9, FALL - DAY, FALL + DAY, 30))
        record(engine, "a", "0", FALL)
        record(engine, "c", "0", FALL + 1)
        record(engine, "a", "older", FALL - DAY)

    found = pages(engine, "releases", between, limit=limit)

    order = [(r["server"], r["version"]) for r in found]
    there = [(server, version) for server in "ab" for version in "123"]
    assert [each for each in order if each in there] == there
    assert order[-1] == ("c", "0")
    assert ("a", "older") not in order


def test_a_page_after_a_move_is_refused_and_says_what_to_do(engine: Engine) -> None:
    """A release that crosses the border of two pages would be skipped, or come twice."""
    for hour in range(4):
        record(engine, "maps", str(hour), FALL + hour * HOUR)

    with pytest.raises(Conflict, match=r"moved.* without cursor.* larger limit"):
        pages(engine, "releases", lambda: record(engine, "maps", "3", FALL), limit=2)
    assert [r["version"] for r in pages(engine, "releases", limit=2)] == ["0", "3", "1", "2"]


def test_a_cursor_of_another_question_is_refused(engine: Engine) -> None:
    """As everywhere; and one that has been tampered with, too."""
    for version in ("1", "2"):
        record(engine, "maps", version, FALL)
    cursor = ask(engine, "releases", limit=1)["next_cursor"]
    with pytest.raises(BadParameter, match="another question"):
        ask(engine, "releases", limit=1, server="maps", cursor=cursor)
    with pytest.raises(BadParameter, match="cursor"):
        ask(engine, "releases", limit=1, cursor=cursor[:-4])
