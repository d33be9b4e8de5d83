"""A program that a test needs and that is missing: skipped on a desk, failed in CI."""

import pytest

from tests.programs import missing


def test_what_is_missing_fails_where_ci_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would miss what was skipped there."""
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match=r"Chromium is missing; `python3 dev\.py test`"):
        missing("Chromium")


def test_what_is_missing_is_skipped_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says what is missing and how to get it."""
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match=r"Chromium is missing; `python3 dev\.py test`"):
        missing("Chromium")
