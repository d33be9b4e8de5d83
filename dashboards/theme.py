"""
Colours with a fixed meaning, and scales of text and space, once for style sheet and figures; colours in a light
and a dark theme.

Text has a contrast of at least 4.5 : 1 to the grounds it stands on, marks of at least 3 : 1 (WCAG 2.2,
1.4.3 and 1.4.11). Colours that stand side by side (verdicts; series, with those of nobody and of others) are told
apart by people who see no red, no green or no blue, too. A test computes all of that. A colour never says anything
alone: a word stands beside it. `called`, `quietly` and `unsure` are those of verdicts, `gap`, `sent` and `released`
those of what is drawn beside calls; series have the meaning that their legend gives them.
"""

from types import MappingProxyType
from typing import Literal, get_args

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = get_args(Theme)

_LIGHT = {
    "ground": "#f7f7f5",
    "raised": "#ffffff",
    "ink": "#1b2129",
    "quiet": "#545e6d",
    "line": "#dadde3",
    "accent": "#0a58a3",
    "called": "#c8300e",
    "quietly": "#067a62",
    "unsure": "#5f3b00",
    "gap": "#8a8f98",
    "sent": "#7a3aa0",
    "released": "#1b2129",
    "nobody": "#333a45",
    "other": "#8d949f",
    "series-1": "#6089f5",
    "series-2": "#6d1604",
    "series-3": "#17693d",
    "series-4": "#6a098c",
    "series-5": "#b93f81",
    "series-6": "#b7872b",
}
_DARK = {
    "ground": "#13161a",
    "raised": "#1b1f25",
    "ink": "#e9ebef",
    "quiet": "#a5aebb",
    "line": "#343b45",
    "accent": "#83bdf5",
    "called": "#f8694e",
    "quietly": "#62e3cd",
    "unsure": "#f7c85f",
    "gap": "#7f8792",
    "sent": "#cfa2ee",
    "released": "#e9ebef",
    "nobody": "#dfe3e9",
    "other": "#767e8a",
    "series-1": "#1267d8",
    "series-2": "#fd7910",
    "series-3": "#3dcba3",
    "series-4": "#c38df7",
    "series-5": "#cc2936",
    "series-6": "#ecdc3d",
}
COLOURS: MappingProxyType[Theme, dict[str, str]] = MappingProxyType(
    {"light": _LIGHT, "dark": _DARK}
)
SERIES = tuple(name for name in _LIGHT if name.startswith("series-"))
TEXT = {"1": 0.85, "2": 0.93, "3": 1.0, "4": 1.12, "5": 1.25, "6": 1.4, "7": 1.75}
"""The scale of text, in rem: labels, notes and tables, text, lead, headings of sections, of pages on a phone, of pages."""
SPACE = {"1": 0.25, "2": 0.5, "3": 0.75, "4": 1.25, "5": 2.25}
"""The scale of space, in rem."""
TEXT_PX = 16 * TEXT["1"]
"""Text of figures, in pixels where a rem has 16; the page scales it where a rem has more."""
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'


def style_sheet() -> str:
    """Scales and colours as custom properties; the colours of the theme that the reader chose, else of the system's."""
    dark = _properties("dark")
    scales = f"{_scale('text', TEXT)} {_scale('space', SPACE)} --font: {FONT};"
    return (
        f":root {{ {scales} }}\n"
        f":root {{ color-scheme: light dark; {_properties('light')} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
        ":root[data-theme=light] { color-scheme: light; }\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
        # Paper is light; a figure that is still drawn in dark has its ground, and its legend with it.
        f"@media print {{ :root:root:root {{ color-scheme: light; {_properties('light')} }}\n"
        f".figure:has([data-drawn=dark]) :is(.plot, .legend) {{ {dark} }} }}\n"
    )


def _scale(name: str, sizes: dict[str, float]) -> str:
    return " ".join(f"--{name}-{step}: {size}rem;" for step, size in sizes.items())


def _properties(theme: Theme) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in COLOURS[theme].items())
