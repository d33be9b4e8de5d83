"""What a message says of names that are called still, and of those that are not: pure texts."""

from dataclasses import replace

from service.analysis.contact_texts import Called, Case, message, subject

ROUTE = Called(
    server="maps",
    name="route",
    word="hard_coded",
    replaced_by=("route-2",),
    no_replacement=False,
    last_release=None,
    since=None,
    told=False,
    calls=3,
    days=2,
    last="2026-10-03",
    fixed=None,
    recent=True,
)
GONE = replace(ROUTE, name="search", word="refresh", last="2026-08-09", gone=True, recent=False)


def case(*called: Called) -> Case:
    """A message about these."""
    return Case(
        client="zed",
        known=None,
        via=(),
        versions=(),
        called=called,
        heard=(),
        first_day="2026-08-01",
        last_day="2026-10-31",
        last="2026-10-03 10:00",
        tz="UTC",
    )


def test_what_was_not_called_since_stands_apart_and_asks_for_nothing() -> None:
    """The advice is about what is called still."""
    text = message(case(ROUTE, GONE))
    assert (
        "your MCP client `zed` called 2 retired tools of our server `maps` between 2026-08-01 and "
        "2026-10-31 (UTC), 1 of them in the last 30 days." in text
    )
    before, after = text.split("Not seen since, so that it may have stopped:")
    assert "- `route`" in before
    assert "- `search`" in after
    assert "About `search`" not in text
    assert "goes on with a list" not in text


def test_of_what_all_stopped_nothing_is_asked() -> None:
    """No message claims that it is called still."""
    text = message(case(GONE))
    assert "As far as we can tell it has stopped." in text
    assert "in the last 30 days" not in text
    assert "still" not in text + subject(case(GONE))


def test_an_old_list_is_a_guess() -> None:
    """A message says what seems to be, not what is."""
    assert "It seems that your client goes on with a list" in message(
        case(replace(GONE, gone=False))
    )
