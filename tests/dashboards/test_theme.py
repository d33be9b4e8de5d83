"""The colours keep what WCAG 2.2 asks for, computed here by its own formula."""

import math
from itertools import combinations

import pytest

from dashboards.figures.timeline import Timeline, figure
from dashboards.theme import COLOURS, FONT, SERIES, SPACE, TEXT, TEXT_PX, THEMES, Theme, style_sheet

WRITTEN = ("ink", "quiet", "accent", "called", "quietly", "unsure")
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
    assert {n: c for n in WRITTEN if (c := contrast(colours[n], colours[ground])) < 4.5} == {}
    assert {n: c for n in MARKS if (c := contrast(colours[n], colours[ground])) < 3} == {}


def test_both_themes_name_the_same_colours() -> None:
    """None is forgotten in one of them."""
    assert COLOURS["light"].keys() == COLOURS["dark"].keys()
    assert len({*COLOURS["light"].values()} & {COLOURS["light"][s] for s in SERIES}) == len(SERIES)


SIGHT = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red (protanopia)": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green (deuteranopia)": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue (tritanopia)": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""Machado, Oliveira & Fernandes 2009 (IEEE TVCG 15:1291), severity 1.0: linear RGB as it is seen."""
SIDE_BY_SIDE = {
    "verdicts": ("called", "quietly", "unsure"),
    "series": (*SERIES, "nobody", "other"),
    "marks": ("sent", "released", "gap"),
}
APART = 0.06
"""Of OKLab, in which about 0.02 is just seen."""


def oklab(rgb: tuple[float, ...]) -> tuple[float, ...]:
    """Linear RGB in OKLab (Ottosson 2020)."""
    to_lms = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    to_lab = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    lms = [sum(a * b for a, b in zip(row, rgb, strict=True)) ** (1 / 3) for row in to_lms]
    return tuple(sum(a * b for a, b in zip(row, lms, strict=True)) for row in to_lab)


def seen(colour: str, sight: str) -> tuple[float, ...]:
    """A colour in OKLab, as it is seen with that sight."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    rows = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in SIGHT[sight]]
    return oklab(tuple(min(max(value, 0.0), 1.0) for value in rows))


def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """How far two colours of OKLab are apart."""
    return math.dist(one, other)


def test_red_and_green_are_alike_to_whoever_lacks_a_cone() -> None:
    """The matrices do what they are for: of a dark yellow and a green, little is left without green cones."""
    one, other = "#b58900", "#859900"
    assert distance(seen(one, "all cones"), seen(other, "all cones")) > 0.08
    assert (
        distance(seen(one, "no green (deuteranopia)"), seen(other, "no green (deuteranopia)"))
        < 0.05
    )


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("group", SIDE_BY_SIDE)
def test_colours_side_by_side_are_told_apart_by_everybody(theme: Theme, group: str) -> None:
    """Every two of a group, with every kind of sight."""
    alike = {
        (sight, one, other): found
        for sight in SIGHT
        for one, other in combinations(SIDE_BY_SIDE[group], 2)
        if (found := distance(seen(COLOURS[theme][one], sight), seen(COLOURS[theme][other], sight)))
        < APART
    }
    assert alike == {}


def test_pages_and_figures_use_the_same_tokens() -> None:
    """Type, text size and colours of a figure are custom properties of the style sheet."""
    sheet = style_sheet()
    for step, size in TEXT.items():
        assert f"--text-{step}: {size}rem;" in sheet
    for step, size in SPACE.items():
        assert f"--space-{step}: {size}rem;" in sheet
    assert f"--font: {FONT};" in sheet
    for theme in THEMES:
        made = figure(Timeline((), (), "day", "UTC"), [], theme, unit="stale calls").layout
        assert (made.font.family, made.font.size) == (FONT, TEXT_PX)
        assert made.font.color in COLOURS[theme].values()
        assert made.colorway[0] == COLOURS[theme]["series-1"]
