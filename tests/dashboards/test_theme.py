"""The colours keep what WCAG 2.2 asks for, computed here by its own formula."""

import pytest

from dashboards.theme import COLOURS, SERIES, THEMES, Theme

TEXT = ("ink", "quiet", "accent", "called", "quietly", "unsure")
MARKS = (*SERIES, "nobody", "gap", "sent", "released", "accent")


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_that_of_wcag() -> None:
    """Black on white is 21 : 1; #767676 on white is the well-known grey of 4.54 : 1."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["ground", "raised"])
def test_text_can_be_read_and_marks_be_seen(theme: Theme, ground: str) -> None:
    """4.5 : 1 for text, 3 : 1 for what is drawn."""
    colours = COLOURS[theme]
    assert {n: c for n in TEXT if (c := contrast(colours[n], colours[ground])) < 4.5} == {}
    assert {n: c for n in MARKS if (c := contrast(colours[n], colours[ground])) < 3} == {}


def test_both_themes_name_the_same_colours() -> None:
    """None is forgotten in one of them."""
    assert COLOURS["light"].keys() == COLOURS["dark"].keys()
    assert len({*COLOURS["light"].values()} & {COLOURS["light"][s] for s in SERIES}) == len(SERIES)
