"""What has arrived of a server's log, and what would make right what cannot be used."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from service.answers.arrivals import REMEDIES
from service.events import Reason
from service.settings import Settings
from tests.acceptance.service import Running, running

NOW = "2026-10-06T00:00:00Z"
CALL = '{"time":"2026-10-05T10:15:02.114Z","msg":"Retired tool called","data":{"tool":"a","client":"c"}}'
NAMELESS = '{"time":"2026-10-05T10:15:03Z","msg":"Retired tool called","data":{"client":"c"}}'
CUT = '{"time":"2026-10-05T10:15:04Z","msg":"Retired to'
OTHER = '{"time":"2026-10-05T10:15:05Z","msg":"Server started"}'
FATES = ("received", "accepted", "duplicates", "ignored", "rejected")


@pytest.fixture
def service(database_url: str) -> Iterator[Running]:
    with running(Settings(database_url=database_url), now=NOW) as served:
        yield served


def send(service: Running, *lines: str, server: str = "maps", source: str = "http") -> None:
    answer = service.client.post(
        f"/to/{server}/ingest", params={"source": source}, content="\n".join(lines).encode() + b"\n"
    )
    assert answer.status_code == 200, answer.text


def ask(service: Running, **params: Any) -> dict[str, Any]:
    answer = service.get("/api/v1/arrivals", **params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.text, parse_constant=pytest.fail)
    return found


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[fate] for fate in FATES)


def test_the_feed_of_what_arrived_is_said(service: Running) -> None:
    """One, or each that it may have been; of many the first five."""
    assert ask(service, server="maps")["came"] is None
    for number in range(7):
        send(service, f'{{"msg":"Server started","n":{number}}}', source=f"feed-{number}")
        if number == 0:
            assert ask(service, server="maps")["came"] == "It came from the feed feed-0."
    came = ask(service, server="maps")["came"]
    assert (
        came == "It came from one of the feeds feed-0, feed-1, feed-2, feed-3, feed-4 and 2 more."
    )
    assert ask(service, server="maps", source="feed-6")["came"] == "It came from the feed feed-6."


def test_nothing_has_arrived_of_a_server_that_nobody_knows(service: Running) -> None:
    """It is waited for, and no error."""
    found = ask(service, server="maps")

    assert (found["word"], counts(found), found["wrong"]) == ("waiting", (0, 0, 0, 0, 0), [])


@pytest.mark.parametrize(
    ("lines", "word", "told"),
    [
        ([CALL, OTHER, NAMELESS], "stored", (3, 1, 0, 1, 1)),
        ([OTHER, "plain"], "ignored", (2, 0, 0, 2, 0)),
        ([OTHER, NAMELESS], "rejected", (2, 0, 0, 1, 1)),
    ],
)
def test_the_first_lines_are_told_in_a_word(
    lines: list[str], word: str, told: tuple[int, ...], service: Running
) -> None:
    """What is stored goes before what is wrong, and that before what is not ours."""
    send(service, *lines)
    found = ask(service, server="maps")

    assert (found["word"], counts(found)) == (word, told)
    assert ask(service, server="other")["word"] == "waiting"
    assert ask(service, server="maps", source="other")["word"] == "waiting"
    assert ask(service, server="maps", source="http")["word"] == word


def test_what_was_seen_before_is_no_first_line(service: Running) -> None:
    """Sent again it is known, and what is new is told alone."""
    send(service, CALL, OTHER)
    assert ask(service, server="maps", seen="1,0,1,0")["word"] == "waiting"
    send(service, CALL)
    again = ask(service, server="maps", seen="1,0,1,0")
    assert (again["word"], counts(again)) == ("known", (1, 0, 1, 0, 0))
    send(service, CALL.replace("02.114", "09.114"))

    assert counts(ask(service, server="maps", seen="1,1,1,0")) == (1, 1, 0, 0, 0)
    assert ask(service, server="maps", seen="90,90,90,90")["word"] == "waiting"


def test_each_reason_comes_with_what_would_make_it_right(service: Running) -> None:
    """The most frequent first."""
    send(service, NAMELESS, CUT, NAMELESS)
    wrong = ask(service, server="maps")["wrong"]

    assert [(each["reason"], each["records"]) for each in wrong] == [
        ("missing_tool", 2),
        ("invalid_json", 1),
    ]
    assert "tool" in wrong[0]["remedy"]
    assert "whole" in wrong[1]["remedy"]


def test_no_reason_is_without_a_remedy() -> None:
    """And none of them is a text that a page would have to mend."""
    assert set(REMEDIES) == set(Reason)
    assert [text for text in REMEDIES.values() if "`" in text or not text.endswith(".")] == []


@pytest.mark.parametrize("seen", ["1", "a,b,c,d", "1,2,3,4,5", "-1,0,0,0", "²,0,0,0", "1,,0,0"])
def test_what_was_seen_is_four_numbers(seen: str, service: Running) -> None:
    """Anything else is refused, and the refusal says how it is written."""
    answer = service.get("/api/v1/arrivals", server="maps", seen=seen)

    assert answer.status_code == 422
    assert answer.json()["parameter"] == "seen"
    assert "12,0,3,1" in answer.json()["detail"]


def new(service: Running, **params: Any) -> tuple[int, int]:
    answer = service.get("/api/v1/arrivals/new", **params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found["accepted"], found["new"]


def test_new_lines_are_counted_by_server_each_once_and_never_taken_off(service: Running) -> None:
    """Not what was stored before, is ignored or rejected; a batch that is taken back was new all the same."""
    assert new(service) == (0, 0)
    second = CALL.replace("15:02", "16:02")
    send(service, CALL, OTHER, CUT)
    send(service, CALL, second)
    send(service, CALL, server="other")
    assert new(service) == (3, 3)
    assert new(service, server="maps") == (2, 2)
    assert new(service, server="maps", seen=1) == (2, 1)
    assert new(service, server="nobody", seen=1) == (0, 0)
    batch = service.client.get("/api/v1/batches?server=maps").json()["items"][0]["batch"]
    assert service.client.post(f"/api/v1/batches/{batch}/undo").status_code == 200
    assert new(service, seen=2) == (3, 1)


@pytest.mark.parametrize("seen", ["-1", "1.5", "many", str(2**53 + 1), "1,0"])
def test_a_number_of_lines_is_a_number(service: Running, seen: str) -> None:
    answer = service.get("/api/v1/arrivals/new", seen=seen)
    assert answer.status_code == 422
    assert "seen" in answer.json()["detail"]
