"""Text in a spreadsheet stays text."""

import pytest

from service.api.table import safe


@pytest.mark.parametrize("before", ["", " ", "\u00a0", "\ufeff", "\u200b", "\u202e", "\x1b", "\n"])
@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d"])
def test_a_formula_is_made_text_whatever_stands_before_it(before: str, sign: str) -> None:
    """A spreadsheet passes over what cannot be seen."""
    text = f"{before}{sign}HYPERLINK(1)"

    assert safe(text) == f"'{text}"


@pytest.mark.parametrize("text", ["claude-code", "a=b", "1.2.3", "'=x", "", "naïve ☃"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Only what could be run is marked."""
    assert safe(text) == text
