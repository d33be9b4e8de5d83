"""Versions in order, as releases follow each other."""

import pytest

from service.analysis.versions import before, comparable, sort_text


@pytest.mark.parametrize("ordered", [
    ["1.6.10", "1.9", "1.10"],
    ["0.9", "1", "1.0", "1.0.1", "1.2", "1.10", "2", "10"],
    ["1.10-alpha", "1.10-rc.1", "1.10-rc.2", "1.10", "1.10.1"],
    ["2025.12.18", "2026.1.14", "2026.1.26"],
    ["v1.2", "v1.10"],
    ["1.2", "beta", "nightly"],
])  # fmt: skip
def test_releases_stand_in_the_order_of_versions(ordered: list[str]) -> None:
    """Written down by hand, from numbers, dates, pre-releases and words."""
    backwards = ordered[::-1]
    assert sorted(backwards, key=sort_text) == ordered


@pytest.mark.parametrize(("one", "other", "is_before"), [
    ("1.9", "1.10", True),
    ("1.10", "1.9", False),
    ("2.1", "2.1.0", False),
    ("2.1.0-rc.1", "2.1", True),
    ("v2.0.9", "2.1.0", True),
    ("0.148.0-alpha.9", "0.144", False),
])  # fmt: skip
def test_comparable_versions_compare_by_number(one: str, other: str, is_before: bool) -> None:
    assert before(one, other) is is_before


@pytest.mark.parametrize(
    "text", [None, "", "nightly", "2026-07-28", "1.x", "1..2", "1" * 70, "１.2"]
)
def test_other_texts_compare_with_none(text: str | None) -> None:
    assert not comparable(text)
