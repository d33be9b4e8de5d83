"""
Colours with a fixed meaning, once for style sheet and figures, in a light and a dark theme.

Text has a contrast of at least 4.5 : 1 to the grounds it stands on, marks of at least 3 : 1 (WCAG 2.2,
1.4.3 and 1.4.11); a test computes both. A colour never says anything alone: a word stands beside it.
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
    "called": "#a8321a",
    "quietly": "#1d6b47",
    "unsure": "#7a4d00",
    "gap": "#8a8f98",
    "sent": "#7a3aa0",
    "released": "#1b2129",
    "nobody": "#333a45",
    "other": "#8d949f",
    "series-1": "#0a66b7",
    "series-2": "#c25700",
    "series-3": "#00806f",
    "series-4": "#8a3fb0",
    "series-5": "#b8255f",
    "series-6": "#7d6300",
}
_DARK = {
    "ground": "#13161a",
    "raised": "#1b1f25",
    "ink": "#e9ebef",
    "quiet": "#a5aebb",
    "line": "#343b45",
    "accent": "#83bdf5",
    "called": "#ff9c80",
    "quietly": "#6fd0a0",
    "unsure": "#eeb968",
    "gap": "#7f8792",
    "sent": "#cfa2ee",
    "released": "#e9ebef",
    "nobody": "#dfe3e9",
    "other": "#767e8a",
    "series-1": "#5ba7f0",
    "series-2": "#f0975a",
    "series-3": "#43bfa9",
    "series-4": "#c48ce6",
    "series-5": "#f080a5",
    "series-6": "#cdb14a",
}
COLOURS: MappingProxyType[Theme, dict[str, str]] = MappingProxyType(
    {"light": _LIGHT, "dark": _DARK}
)
SERIES = tuple(name for name in _LIGHT if name.startswith("series-"))
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'


def style_sheet() -> str:
    """The colours as custom properties, of the theme that the reader's system prefers."""
    return (
        f":root {{ color-scheme: light dark; {_properties('light')} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_properties('dark')} }} }}\n"
    )


def _properties(theme: Theme) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in COLOURS[theme].items())
