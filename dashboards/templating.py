"""How results become HTML: one environment, everything escaped."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined

from dashboards import theme
from service.answers.query import iso
from service.entries import FACTS
from service.errors import NotFound

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain; charset=utf-8",
}
DETAIL = 200
"""Characters of one text in a line of the audit."""
_STEPS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def shown(instant: str | None, tz: str) -> str:
    """
    Write an instant for people: to the minute, in the zone of the answer.

    >>> shown("2026-10-05T10:15:02.114Z", "Asia/Kolkata")
    '2026-10-05 15:45 IST'
    """
    if instant is None:
        return "–"
    return datetime.fromisoformat(instant).astimezone(ZoneInfo(tz)).strftime("%Y-%m-%d %H:%M %Z")


def ago(instant: str, now: str) -> str:
    """
    Write how long ago an instant was, in the greatest unit that fits.

    >>> ago("2026-10-05T10:15:02.114Z", "2026-10-07T10:15:00Z")
    '1 day ago'
    >>> ago("2026-10-05T10:15:00Z", "2026-10-05T10:15:20Z")
    'just now'
    >>> ago("2026-10-05T10:15:00Z", "2026-10-05T10:10:00Z")
    'ahead of the clock'
    """
    passed = datetime.fromisoformat(now) - datetime.fromisoformat(instant)
    if passed < timedelta(minutes=-1):
        return "ahead of the clock"
    for word, step in _STEPS:
        if passed >= step:
            number = passed // step
            return f"{number:,} {word}{'' if number == 1 else 's'} ago"
    return "just now"


def amount(number: float) -> str:
    """
    Write a number with its thousands set apart.

    >>> amount(19642)
    '19,642'
    """
    return f"{number:,}"


def runs(cells: Sequence[Mapping[str, Any]]) -> list[tuple[bool, tuple[int, int]]]:
    """
    Cells side by side that were covered, or were not: each with its first place and its length.

    >>> runs([{"covered": True}, {"covered": False}, {"covered": False}])
    [(True, (0, 1)), (False, (1, 2))]
    """
    found, place = [], 0
    for covered, group in groupby(cells, key=lambda cell: bool(cell["covered"])):
        length = len(list(group))
        found.append((covered, (place, length)))
        place += length
    return found


def counted(number: int, word: str, plural: str | None = None) -> str:
    """
    Write a number with what it counts.

    >>> counted(1, "stale call"), counted(1200, "stale call")
    ('1 stale call', '1,200 stale calls')
    """
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def told(detail: Mapping[str, Any], tz: str) -> str:
    """
    Write the detail of a line of the audit: instants as such, what changed as before and after.

    >>> told({"at_us": 0, "name": None, "note": "", "replaced_by": [None, ["a", "b"]]}, "UTC")
    'at: 1970-01-01 00:00 UTC; replaced by: – → a, b'
    """
    parts = []
    for key, value in detail.items():
        pair = value if isinstance(value, list) and len(value) == 2 else None
        if (pair is not None and key in FACTS) or key == "hidden":
            text = " → ".join(_word(key, each, tz) for each in pair or [value])
        elif value is None or value == "":
            continue
        else:
            text = _word(key, value, tz)
        parts.append(f"{key.removesuffix('_us').replace('_', ' ')}: {text}")
    return "; ".join(parts) or "–"


def _word(key: str, value: Any, tz: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_us") and isinstance(value, int):
        return shown(iso(value), tz)
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {each}" for name, each in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    text = str(value)
    return text if len(text) <= DETAIL else f"{text[:DETAIL]}…"


@cache
def environment() -> Environment:
    """The templates; names that a template misspells are errors."""
    found = Environment(
        loader=PackageLoader("dashboards"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(shown=shown, ago=ago, amount=amount, told=told)
    found.globals.update(counted=counted, runs=runs)
    return found


def render(template: str, **values: Any) -> str:
    """Fill a template. Rows are the JSON of answers, so that pages and REST cannot disagree."""
    return environment().get_template(template).render(**values)


def style() -> bytes:
    """The style sheet: the colours of the theme, and what uses them."""
    return theme.style_sheet().encode() + (files("dashboards") / "static/site.css").read_bytes()


@cache
def asset(path: str) -> tuple[bytes, str]:
    """
    The bytes and media type of a file that pages load, by its path below `static`.

    Raises:
        NotFound: There is none.
    """
    if path == "site.css":
        return style(), _TYPES["css"]
    kind = path.rpartition(".")[2]
    if kind in _TYPES and path in _assets():
        return (files("dashboards") / "static" / path).read_bytes(), _TYPES[kind]
    raise NotFound(f"there is no static file {path!r}")


@cache
def _assets() -> frozenset[str]:
    root = files("dashboards") / "static"
    found = {entry.name for entry in root.iterdir() if entry.is_file()}
    found |= {f"vendor/{entry.name}" for entry in (root / "vendor").iterdir() if entry.is_file()}
    return frozenset(found)
