"""
Cures by hand: each row of a table is a client as the log would show it, and the word was written down
before the rules were.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from service.analysis.cures import cure
from service.analysis.evidence import WORDS, Evidence
from service.analysis.fixed_times import Pattern, chance, pattern
from service.analysis.known import load_clients

NIGHTLY = tuple((180 + day % 7, 181 + day % 7) for day in range(90))
"""Ninety days, each with calls between 03:00 and 03:07."""
SPREAD = tuple((480 + 53 * day % 600, 480 + 53 * day % 600 + 20) for day in range(12))
"""Twelve days, each with calls at another time of the working day."""
THREE_DAYS = ((700, 700), (900, 901), (500, 500))


def seen(client: str | None, version: str | None = None, **more: Any) -> Evidence:
    """What the log says of a client; on one day at noon where nothing else is said."""
    given = {"days": ((720, 722),), "others_listings": 40, "replaced_by": ("new",), **more}
    known = load_clients().find(client)
    return Evidence(name="old", client=client, version=version, known=known, **given)


CASES = {
    "no client's name": (seen(None, lone=7, callers=3), "unattributed"),
    "no client's name, at fixed times": (seen(None, lone=90, days=NIGHTLY), "unattributed"),
    "a probe": (seen("preflight", lone=3), "exclude"),
    "a probe that lists": (seen("test-client", again=3, sessions=1, again_sessions=1), "exclude"),
    "a gateway": (seen("docker-mcp-gateway", again=5, sessions=2, again_sessions=2), "gateway"),
    "a schedule that never lists": (seen("mcp", "0.1.0", lone=90, days=NIGHTLY), "hard_coded"),
    "a schedule whose library lists": (
        seen("n8n-like", again=90, sessions=90, again_sessions=90, listings=90, days=NIGHTLY),
        "hard_coded",
    ),
    "never lists, seen from its greeting on": (seen("acme", whole=2, sessions=1), "hard_coded"),
    "never lists, without sessions": (seen("acme", lone=3), "cannot_tell"),
    "never lists, without sessions, on three days": (
        seen("acme", lone=3, days=THREE_DAYS),
        "hard_coded",
    ),
    "a snapshot": (seen("openai-mcp", "1.0.0", lone=28, days=SPREAD), "rescan"),
    "a snapshot, although it lists": (
        seen("openai-mcp", "1.0.0", again=28, sessions=28, again_sessions=28, listings=28),
        "rescan",
    ),
    "a snapshot, at fixed times": (seen("openai-mcp", lone=90, days=NIGHTLY), "rescan"),
    "listed since, and calls": (
        seen("claude-code", "2.1.234", again=4, sessions=3, again_sessions=3, listings=3),
        "client_fault",
    ),
    "listed since by half": (
        seen("acme", again=2, old=2, sessions=2, again_sessions=1, listings=2),
        "client_fault",
    ),
    "goes on with its first list": (seen("acme", old=2, sessions=1, listings=1), "refresh"),
    "mostly goes on with its first list": (
        seen("acme", old=5, again=1, sessions=3, again_sessions=1, listings=3),
        "refresh",
    ),
    "a kept list, without sessions": (seen("acme", lone=2, listings=1), "refresh"),
    "a kept list, in new sessions": (seen("acme", whole=3, sessions=3, listings=2), "refresh"),
    "some of its users list, these do not": (
        seen("acme", whole=3, sessions=3, listings=9, listings_since=4),
        "cannot_tell",
    ),
    "some of its users list, nobody knows who": (
        seen("acme", lone=3, listings=9, listings_since=4),
        "cannot_tell",
    ),
    "a product that keeps its list, in a log without listings": (
        seen("@librechat/api-client", lone=3, others_listings=0),
        "refresh",
    ),
    "a log without listings": (seen("acme", lone=3, others_listings=0), "cannot_tell"),
    "a product of which nobody knows, connected before the log": (
        seen("warp", "1.0", cut=4, sessions=1),
        "cannot_tell",
    ),
    "the same on three days": (
        seen("warp", "1.0", cut=4, sessions=3, days=THREE_DAYS),
        "hard_coded",
    ),
    "nobody's name, connected before the log": (seen("acme", cut=1, sessions=1), "cannot_tell"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_word_is_the_one_that_was_written_down(case: str) -> None:
    evidence, word = CASES[case]
    assert cure(evidence).word == word


def test_every_word_is_met() -> None:
    """No word without a case."""
    assert {word for _, word in CASES.values()} == set(WORDS)


@pytest.mark.parametrize("case", CASES)
def test_each_cure_says_why_in_numbers_and_what_to_do(case: str) -> None:
    """The number of calls and days comes first; what is to be done is a sentence."""
    evidence, _ = CASES[case]
    found = cure(evidence)

    assert found.why[0].startswith(f"{evidence.calls:,} call")
    assert f"{len(evidence.days)} day" in found.why[0]
    assert all(sentence.endswith((".", "!")) for sentence in (*found.why, found.do))


DECIDING = {
    "no client's name, at fixed times": "None of them names a client",
    "a probe that lists": "A probe or test: nobody waits",
    "a gateway": "Docker MCP Gateway: a gateway",
    "a schedule whose library lists": "On 90 of 90 days all of its calls lie between 03:00",
    "never lists, seen from its greeting on": "It never lists, though 40 listings",
    "never lists, without sessions": "It never lists, though 40 listings",
    "a snapshot, although it lists": "ChatGPT: ",
    "listed since, and calls": "4 calls in 3 sessions came after a listing",
    "listed since by half": "2 calls in 1 session came after a listing",
    "mostly goes on with its first list": "5 calls came in sessions whose last listing is from before",
    "a kept list, in new sessions": "It listed 2 times in this range, 0 of them since",
    "some of its users list, these do not": "It listed 9 times in this range, 4 of them since",
    "a product that keeps its list, in a log without listings": "LibreChat: ",
    "a log without listings": "The log holds no listing of anybody",
}


@pytest.mark.parametrize("case", DECIDING)
def test_what_decided_comes_right_after_the_numbers(case: str) -> None:
    """Not what happens to be said of it first, such as the few calls that another rule is about."""
    assert cure(CASES[case][0]).why[1].startswith(DECIDING[case])


def test_a_few_calls_after_a_listing_do_not_go_before_the_many_without_one() -> None:
    """Nor does the bridge it comes through."""
    some: dict[str, Any] = {"again": 2, "again_sessions": 2, "sessions": 20, "listings": 9}
    some |= {"listings_since": 9}
    found = cure(seen("claude-code", whole=39, via=("mcp-remote",), **some))
    assert found.word == "refresh"
    assert found.why[1] == "Public reports disagree whether Claude Code lists again."


def test_hard_coded_names_what_to_write_instead() -> None:
    """The replacement where there is one, and that there is none where there is none."""
    assert cure(seen("acme", whole=3)).do.endswith("names `old`, and write `new` there.")
    nothing = cure(seen("acme", whole=3, replaced_by=()))
    assert nothing.do.endswith("and take it out: nothing is known to replace it.")


def test_the_cure_of_a_product_is_its_own_with_its_sources() -> None:
    """ChatGPT: the connector's Refresh; the reports stand beside it."""
    found = cure(seen("openai-mcp", "1.0.0", lone=28))

    assert "press Refresh" in found.do
    assert "openai/tunnel-client#42" in found.refs
    assert found.reports[0].startswith("Any version: keeps a snapshot of the list until a person")


def test_the_log_goes_before_the_reports() -> None:
    """Zed is known to list again; where it did and called all the same, that is said."""
    found = cure(seen("Zed", "0.214.5", again=3, sessions=2, again_sessions=2, listings=2))

    assert found.word == "client_fault"
    assert "This log shows otherwise, and goes first." in found.why
    assert "Zed Industries" in found.do


def test_who_lists_when_told_is_to_be_told() -> None:
    """A client that honours notifications, and was sent none."""
    told = seen("opencode", "0.15.8", old=3, listings=1, notifications=1, episodes=1)
    untold = seen("opencode", "0.15.8", old=3, listings=1)

    assert cure(untold).do.endswith("no notification was sent to it: send one.")
    assert "send one" not in cure(told).do


def test_what_its_own_log_shows_goes_before_reports_that_disagree() -> None:
    """Whoever listed again after each notification is not said to be one of whom nothing is known."""
    listed = seen(
        "claude-code", whole=3, listings=40, listings_since=40, sessions=3, notifications=40,
        episodes=40, answered=40,
    )  # fmt: skip

    found = cure(listed)

    assert found.word == "refresh"
    assert found.why[1] == (
        "Your log: it listed again after all 40 notifications; 3 calls came in sessions that fetched no "
        "list first."
    )
    assert "Public reports disagree whether Claude Code lists again." in found.why


def test_a_bridge_is_named() -> None:
    """It passes the client's name on, so that the cure stays the client's."""
    found = cure(seen("openai-mcp", "1.0.0", lone=28, via=("mcp-remote",)))

    assert found.word == "rescan"
    assert found.why[2].startswith("It comes through mcp-remote, which passes its name on")


def test_a_version_that_compares_with_nothing_is_said() -> None:
    """Copilot CLI sends 1.0.0 before and after its change: both reports are shown, and the reason."""
    found = cure(seen("github-copilot-developer", "1.0.0", old=3, listings=1))

    assert len(found.reports) == 2
    assert any("version 1.0.0, which compares with none" in sentence for sentence in found.why)


def test_gaps_are_named_where_a_listing_in_them_would_matter() -> None:
    """Not for a probe, whatever it lists."""
    gap: dict[str, Any] = {"hours": 240, "gap_hours": 60}
    sentence = "The server was not heard in 60 of 240 hours: a listing in them is not known."

    assert sentence in cure(seen("acme", lone=3, **gap)).why
    assert sentence not in cure(seen("probe", lone=3, **gap)).why


def test_no_evidence_is_called_so() -> None:
    """Two days are too few for the clock; a log without listings says nothing of lists."""
    few = cure(seen("acme", lone=2, days=((60, 60), (61, 61)))).why
    assert "2 days with calls: too few for fixed times to show; the clock is no evidence." in few
    spread = cure(seen("acme", lone=12, days=SPREAD)).why
    assert any(sentence.endswith("no evidence of fixed times.") for sentence in spread)
    silent = cure(seen("acme", lone=2, others_listings=0)).why
    assert "The log holds no listing of anybody: no evidence of who fetches the list." in silent


@pytest.mark.parametrize(("days", "inside", "bound"), [
    (1, 1, Fraction(1)),
    (2, 2, Fraction(2, 16)),
    (3, 3, Fraction(3, 256)),
    (4, 4, Fraction(4, 4096)),
    (5, 5, Fraction(5, 65536)),
    (6, 5, Fraction(30, 65536)),
    (7, 6, Fraction(42, 1048576)),
    (10, 8, Fraction(45 * 8, 16**7)),
])  # fmt: skip
def test_the_chance_of_a_window_is_the_one_worked_out_by_hand(
    days: int, inside: int, bound: Fraction
) -> None:
    """
    N over k, times k, times one sixteenth to the power of k - 1: half an hour is one sixteenth of eight.
    It is a bound: of two random minutes 31/256 lie within a window, 12.1 in 100, not 12.5.
    """
    assert chance(days, inside) == pytest.approx(float(bound))


@pytest.mark.parametrize(("days", "is_evidence"), [
    ([(180, 181)] * 4, False),
    ([(180, 181)] * 5, True),
    ([(180, 181)] * 5 + [(600, 600)], False),
    ([(180, 181)] * 6 + [(600, 600)], True),
    ([(180, 181)] * 40 + [(600, 600)] * 50, False),  # as much besides: no schedule alone
    ([(180, 181)] * 5 + [(180, 1100)], False),  # a day that goes on till evening is outside
    ([(5, 1435)] * 90, False),  # calls all day long: first calls alone would look like a schedule
    ([(180 + 29, 180 + 29)] * 3 + [(180, 180)] * 3, True),
    ([(180 + 30, 180 + 30)] * 3 + [(180, 180)] * 3, False),
])  # fmt: skip
def test_fixed_times_need_days_enough(days: Sequence[tuple[int, int]], is_evidence: bool) -> None:
    """Five of five, or six of seven; all calls of a day in the half-hour; four days in five at least."""
    assert pattern(days).is_evidence is is_evidence


def test_no_day_is_no_pattern() -> None:
    assert pattern([]) == Pattern(0, 0, 0)
    assert not pattern([]).is_evidence
