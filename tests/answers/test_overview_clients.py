"""The overview's clients, filters, and what is said where there is nothing."""

from dataclasses import replace
from typing import Any

import pytest

from service.answers.query import iso
from service.events import Caller, CallerLevel, Kind
from service.store.engine import Engine
from tests.answers.overview_world import DAY, END, HOUR, ask, call, days, store, windows

HOSTILE = ["=cmd|'/c calc'!A1", "‮evil", "🙂" * 60, "a\tb\r\nc", "<script>", "'; DROP TABLE event--"]


def test_the_top_client_may_be_the_calls_that_name_none(engine: Engine) -> None:
    """Most calls win; of equals one with a name, then by text; inferred clients are clients."""
    rows = [call(-DAY + i, None, "nobody") for i in range(3)]
    rows += [call(-DAY + 10 + i, "zed", "nobody") for i in range(2)]
    rows += [call(-DAY + 20 + i, name, "tie") for i, name in enumerate(("zed", "Acme"))]
    rows += [call(-DAY + 30 + i, name, "even") for i, name in enumerate((None, "zed"))]
    rows += [call(-DAY + 40 + i, None, "said", session="s") for i in range(2)]
    rows += [call(-DAY + 50, "zed", "said"), call(-40 * DAY, "zed", "before")]
    hello = call(-2 * DAY, "Cursor/1.0", session="s", kind=Kind.HELLO)
    store(engine, [*rows, replace(hello, tool=None)], days(60, 0))

    found = {row["name"]: row for row in ask(engine, since=iso(END - 10 * DAY))["items"]}

    assert {name: row["top_client"] for name, row in found.items()} == {
        "nobody": {"client": None, "stale_calls": 3},
        "tie": {"client": "Acme", "stale_calls": 1},
        "even": {"client": "zed", "stale_calls": 1},
        "said": {"client": "Cursor", "stale_calls": 2},
        "before": None,
    }
    assert {name: windows(row, "clients")[0] for name, row in found.items()} == {
        "nobody": 1, "tie": 2, "even": 1, "said": 2, "before": 0,
    }  # fmt: skip
    assert found["nobody"]["unattributed_calls"] == 3
    assert found["said"]["unattributed_calls"] == 0


def test_with_a_client_everything_is_about_its_calls(engine: Engine) -> None:
    """What it did not call in the range is left out; state and last call are its own."""
    rows = [call(-20 * DAY, "zed"), call(-DAY, "other"), call(-3 * DAY, "other", "map")]
    rows += [call(-80 * DAY, "zed", "map"), call(-40 * DAY, "ZED (via mcp-remote 1)")]
    store(engine, rows, days(90, 0))

    answer = ask(engine, client="Zed", since=iso(END - 30 * DAY))

    (row,) = answer["items"]
    assert (row["name"], row["stale_calls"], row["clients"]) == ("route", 1, 1)
    assert (row["state"], row["last_call_ever"]) == ("quiet", iso(END - 20 * DAY))
    assert row["quiet_hours"] == row["quiet_covered_hours"] == 480
    assert windows(row, "stale_calls") == [0, 1, 2]
    assert row["change"]["word"] == "equal"
    assert row["retired_at"] == iso(END - 40 * DAY)
    assert row["top_client"] == {"client": "zed", "stale_calls": 1}
    assert (answer["totals"]["names"], answer["totals"]["stale_calls"]) == (1, 1)
    # of the name that is left out, nothing is in the totals
    assert windows(answer["totals"], "stale_calls") == [0, 1, 2]
    none = ask(engine, client="", since=iso(END - 30 * DAY))
    assert (none["items"], none["totals"]["names"]) == ([], 0)


def test_the_last_call_ever_is_found_however_long_ago_and_whatever_the_range(
    engine: Engine,
) -> None:
    """Before the windows, after the range, on a day that is cut, of a client, and by a hidden alias."""
    at = [-200 * DAY - 7, -150 * DAY + 5, -90 * DAY - 1]
    rows = [call(at[0], tool="long"), call(at[1], tool="cut"), call(at[1] - 9, "acme", "cut")]
    rows += [call(at[2], tool="edge"), call(-200 * DAY, tool="alias")]
    rows += [call(-199 * DAY, tool="alias", kind=Kind.CALL)]
    rows += [call(-201 * DAY, tool="alias", kind=Kind.CALL)]
    store(engine, rows, days(250, 0))

    ranges: tuple[dict[str, Any], ...] = (
        {}, {"since": iso(END - DAY)}, {"until": iso(END - 170 * DAY)},
    )  # fmt: skip
    for asked in ranges:
        found = {row["name"]: row["last_call_ever"] for row in ask(engine, **asked)["items"]}
        assert found == {
            "long": iso(END + at[0]),
            "cut": iso(END + at[1]),
            "edge": iso(END + at[2]),
            "alias": iso(END - 199 * DAY),
        }
    (acme,) = ask(engine, client="acme")["items"]
    assert acme["last_call_ever"] == iso(END + at[1] - 9)
    cut = ask(engine, as_of=iso(END + at[1]))["items"]
    assert {row["name"]: row["last_call_ever"] for row in cut}["cut"] == iso(END + at[1] - 9)


@pytest.mark.parametrize("asked", [{}, {"server": "maps"}, {"client": ""}, {"as_of": "0001-01-01"}])
def test_without_any_data_all_is_nothing_and_nothing_is_compared(
    engine: Engine, asked: dict[str, Any]
) -> None:
    """No row, no covered hour; a word that claims nothing."""
    answer = ask(engine, **asked)

    totals = answer["totals"]
    assert (answer["items"], answer["bucket"], totals["names"]) == ([], "day", 0)
    assert windows(totals, "stale_calls") == windows(totals, "covered_hours") == [0, 0, 0]
    assert totals["state"] == {"called": 0, "quiet": 0, "not_heard": 0}
    assert (totals["change"]["word"], totals["change"]["why"]) == (
        "cannot_compare",
        "short_history",
    )


def test_without_a_retired_name_the_log_was_heard_and_nothing_was_called(engine: Engine) -> None:
    """Only ordinary calls, for 80 days: none and none, in hours that were heard."""
    store(engine, [call(-79 * DAY, kind=Kind.CALL)], days(80, 0))

    totals = ask(engine)["totals"]

    assert (totals["names"], totals["stale_calls"]) == (0, 0)
    assert windows(totals, "covered_hours") == [7 * 24, 30 * 24, 80 * 24]
    assert (totals["change"]["word"], totals["change"]["why"]) == ("none", None)


def test_any_text_is_a_name_and_a_client(engine: Engine) -> None:
    """Each comes back as it was logged."""
    store(engine, [call(-HOUR, text, text) for text in HOSTILE], days(60, 0))

    rows = ask(engine)["items"]

    assert sorted(row["name"] for row in rows) == sorted(HOSTILE)
    assert all(row["top_client"]["stale_calls"] == 1 for row in rows)
    assert all(windows(row, "clients") == [1, 1, 1] for row in rows)


def test_a_caller_of_two_names_counts_once_over_all(engine: Engine) -> None:
    """One stored caller and one client over two names are two callers and two clients in all."""
    who = Caller(level=CallerLevel.ADDRESS, digest="ab")
    rows = [call(-HOUR, "zed", tool, caller=who) for tool in ("a", "b")]
    rows += [call(-HOUR + 5, "acme", tool) for tool in ("a", "b")]
    store(engine, rows, days(60, 0))

    answer = ask(engine)

    assert [windows(row, "callers") for row in answer["items"]] == [[2, 2, 2]] * 2
    assert (answer["totals"]["clients"], answer["totals"]["callers"]) == (2, 2)
    assert windows(answer["totals"], "callers") == windows(answer["totals"], "clients") == [2, 2, 2]
    assert windows(answer["totals"], "names") == [2, 2, 2]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("gw (via inner) (via outer)", "gw (via inner)"),
        ("a/1.0/2.0", "a/1.0"),
        ("B" * 300, None),
        ("Gw (via inner)", "Gw"),
    ],
)
def test_a_client_is_found_by_the_name_that_it_is_shown_by(
    engine: Engine, raw: str, shown: str | None
) -> None:
    """Whatever was cut from its spelling once is not cut a second time."""
    rows = [call(-DAY, "gw"), call(-DAY + 1, raw), call(-DAY + 2, raw)]
    store(engine, rows, days(60, 0))
    top = ask(engine)["items"][0]["top_client"]
    wanted = top["client"]
    assert shown in (None, wanted)
    expected = 3 if shown == "Gw" else 2
    found = ask(engine, client=wanted)["items"]
    assert sum(row["stale_calls"] for row in found) == expected
