"""
The whole chain: example server, example clients, the server's log, both ways in, REST and pages. The
counts are those that the clients kept on their side of the wire.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.service import Running
from tests.chain.checks import SERVER, check, heard, totals
from tests.chain.deliver import a_day_after, from_file, over_http
from tests.chain.pages import check_pages
from tests.chain.stories import Story

# What the five clients do by README of the examples, counted by hand. Four of them stay connected, and on
# stdio each of these retires the names at its own server.
FIVE = {"call": 7, "hello": 10, "listing": 6, "notification": 4, "stale_call": 9, "unknown_call": 1}
MODERN = {"hello": 9, "notification": 1, "listen": 1}
ON_STDIO = {"call": 11}


def told_by(service: Running) -> dict[str, Any]:
    """Every row that REST has about the story."""
    collections = ("names", "callers", "clients", "reactions", "events", "series")
    return {each: service.rows(each, server=SERVER) for each in collections}


@pytest.mark.sampled(3)
def test_the_clients_do_what_readme_says(story: Story) -> None:
    """The story is the one that was counted by hand. Over HTTP a sixth client calls the tool that retires."""
    stdio, modern = story.setting.transport == "stdio", story.setting.modern
    sixth = dict(story.did.get("retire", {}))
    told_of_it = sixth.pop("notification", 0)  # only if its own GET stream was open by then

    five = {who: did for who, did in story.did.items() if who != "retire"}
    assert totals(story, five) == {
        **FIVE,
        **(MODERN if modern else {}),
        **(ON_STDIO if stdio else {}),
    }
    assert sixth == ({} if stdio else {"call": 1} if modern else {"call": 1, "hello": 1})
    assert told_of_it in ({0} if stdio or modern else {0, 1})


@pytest.mark.sampled(3)
def test_what_the_clients_did_stands_in_rest_whatever_way_the_log_came(
    story: Story, new_database: Callable[[], str]
) -> None:
    """Every line of the log is taken, by `lastcall ingest` and by `POST /ingest`, and counted right."""
    lines = len(story.log.read_bytes().splitlines())
    found = []
    for deliver in (from_file, over_http):
        with a_day_after(story.ended, new_database()) as service:
            receipt = deliver(service, story.log)
            assert heard(story, receipt["events"]) == totals(story, story.did)
            assert (receipt["received"], receipt["accepted"]) == (lines, lines)
            check(service, story)
            found.append(told_by(service))

    assert found[0] == found[1]


@pytest.mark.sampled(3)
def test_what_the_clients_did_stands_on_the_pages(story: Story, database_url: str) -> None:
    """A reader of the pages sees the same rows, without JavaScript."""
    with a_day_after(story.ended, database_url) as service:
        over_http(service, story.log)
        check_pages(service, story)
