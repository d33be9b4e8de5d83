"""How results become HTML: one environment, everything escaped."""

from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined

from dashboards import theme
from service.errors import NotFound

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain; charset=utf-8",
}
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


def counted(number: int, word: str, plural: str | None = None) -> str:
    """
    Write a number with what it counts.

    >>> counted(1, "stale call"), counted(1200, "stale call")
    ('1 stale call', '1,200 stale calls')
    """
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


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
    found.filters.update(shown=shown, ago=ago, amount=amount)
    found.globals.update(counted=counted)
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
