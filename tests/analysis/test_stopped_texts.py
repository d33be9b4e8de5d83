"""The reason for a verdict in a sentence: its numbers, and nothing that is not so."""

import re
from itertools import product
from typing import Any, get_args

from service.analysis.stopped import WORDS, Reason
from service.analysis.stopped_texts import Rested, because


def test_it_is_one_line_of_sentences() -> None:
    """Whatever the numbers, with singular and plural, and thousands set apart."""
    reasons: tuple[Reason | None, ...] = (None, *get_args(Reason))
    for verdict, reason, number, pause in product(WORDS, reasons, (0, 1, 1234), (None, 1, 30)):
        found = because(
            Rested(
                verdict=verdict,
                reason=reason,
                active_days=number,
                silent_days=number,
                longest_pause_days=pause,
                gap_days=number,
            )
        )
        assert found.endswith(".")
        assert "None" not in found
        assert not re.search(r"\b1 days|1234", found)
        assert len(found) < 140


def test_days_that_were_not_heard_are_named_where_they_matter() -> None:
    """Of a name that still is called they change nothing."""
    numbers: dict[str, Any] = {
        "active_days": 9,
        "silent_days": 20,
        "longest_pause_days": 4,
        "gap_days": 3,
    }
    assert "3 days were not heard" in because(
        Rested(verdict="cannot tell", reason="gap", **numbers)
    )
    assert "not heard" not in because(Rested(verdict="still calling", reason=None, **numbers))
