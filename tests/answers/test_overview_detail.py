"""The overview in detail: the verdict on each name, what its top client needs, and the order of what needs doing."""

from typing import Any

import pytest

from service.analysis.stopped import WORDS
from service.errors import BadParameter, Conflict
from service.events import Kind
from service.store.engine import Engine
from tests.answers import world
from tests.answers.overview_world import DAY, END, HOUR, ask, call, days, store
from tests.told import Told

RANGES: tuple[dict[str, Any], ...] = (
    {},
    {"since": "2026-09-05", "until": "2026-09-30", "tz": "Asia/Kolkata"},
    {"client": "zed"},
    {"server": "maps", "excluded": "count"},
)


def logs(engine: Engine, seed: int = 4) -> None:
    """Two servers, of which calls, listings and notifications are logged, heard for forty days."""
    world.store(engine, world.random_rows(seed, END - 50 * DAY, END, 400))
    store(engine, [], days(40, 0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("asked", RANGES)
def test_each_verdict_is_that_of_stopped_of_the_same_clients_in_all_time(
    engine: Engine, asked: dict[str, Any]
) -> None:
    """And the totals say how many names have each, in the order from still calling to stopped."""
    logs(engine)
    found = ask(engine, detail=True, **asked)
    whole = {
        name: asked[name]
        for name in ("server", "client", "until", "tz", "excluded")
        if name in asked
    }
    wanted = {
        (row["server"], row["name"]): row
        for row in ask(engine, collection="stopped", **whole)["items"]
    }
    assert found["items"]
    for row in found["items"]:
        said = wanted[row["server"], row["name"]]
        shared = ("reason", "probability", "interval", "wait_days")
        assert row["verdict"]["word"] == said["verdict"]
        assert {name: row["verdict"][name] for name in shared} == {n: said[n] for n in shared}
        assert row["verdict"]["because"].endswith(".")
    words = [row["verdict"]["word"] for row in found["items"]]
    assert list(found["totals"]["verdict"].items()) == [(word, words.count(word)) for word in WORDS]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("asked", RANGES)
def test_what_the_top_client_needs_is_what_cures_say(engine: Engine, asked: dict[str, Any]) -> None:
    """Of that client and name, in the same range."""
    logs(engine)
    said = {
        (row["server"], row["name"], row["client"]): row
        for row in ask(engine, collection="cures", **asked)["items"]
    }
    tops = [row for row in ask(engine, detail=True, **asked)["items"] if row["top_client"]]
    assert tops
    for row in tops:
        wanted = said[row["server"], row["name"], row["top_client"]["client"]]
        cure = {"word": wanted["cure"], "do": wanted["do"], "verdict": wanted["verdict"]}
        assert row["top_client"]["cure"] == cure


def test_small_pictures_hold_the_notifications_of_their_server(engine: Engine) -> None:
    """Those of another server are not among them."""
    shop = Told(time_us=END - 2 * DAY, key=5, kind=Kind.STALE_CALL, server="shop", tool="cart")
    logs(engine, 7)
    world.store(engine, [shop])
    found = ask(engine, detail=True, since="2026-09-01")
    assert found["bucket"] == "day"
    rung = 0
    for row in found["items"]:
        asked = {"server": row["server"], "metric": "notifications", "since": "2026-09-01"}
        series = ask(engine, collection="series", **asked)["items"]
        wanted = [bucket["value"] for bucket in series]
        assert [point["notifications"] for point in row["spark"]] == wanted
        rung += sum(wanted)
    assert rung


def test_what_needs_doing_comes_first(engine: Engine) -> None:
    """By verdict, then days before calls, so that no loud stranger is on top; then by name."""
    daily = [call(-day * DAY - HOUR, "cron", "daily") for day in range(40)]
    loud = [call(-DAY - number * 1_000_000, "loud", "flood") for number in range(200)]
    weekly = [call(-day * DAY - HOUR, "cron", "weekly") for day in range(0, 40, 7)]
    gone = [call(-day * DAY, "gone", "left") for day in range(60, 80)]
    once = [call(-3 * DAY, "once", name) for name in ("b", "a")]
    store(engine, [*daily, *loud, *weekly, *gone, *once], days(90, 0))

    found = ask(engine, detail=True, sort="need")["items"]
    assert [row["name"] for row in found] == ["daily", "weekly", "flood", "a", "b", "left"]
    assert [row["name"] for row in ask(engine, detail=True, sort="-need")["items"]] == [
        "left",
        "a",
        "b",
        "flood",
        "weekly",
        "daily",
    ]

    seen: list[Any] = []
    cursor: str | None = ""
    first = None
    while cursor is not None:
        part = ask(engine, detail=True, sort="need", limit=2, cursor=cursor)
        seen += part["items"]
        cursor = part["next_cursor"]
        first = first or cursor
    assert seen == found
    store(engine, [call(-DAY, "late")])
    with pytest.raises(Conflict):
        ask(engine, detail=True, sort="need", limit=2, cursor=first)


def test_without_detail_nothing_is_judged(engine: Engine) -> None:
    """The members are left out, and the order that needs them is refused with what would succeed."""
    logs(engine)
    found = ask(engine)
    assert "verdict" not in found["totals"]
    for row in found["items"]:
        assert "verdict" not in row
        assert "notifications" not in row["spark"][0]
        assert "cure" not in (row["top_client"] or {})
    with pytest.raises(BadParameter, match="detail=true"):
        ask(engine, sort="need")
