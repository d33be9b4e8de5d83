"""How results become HTML: one environment, everything escaped."""

from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined


def shown(instant: str | None, tz: str) -> str:
    """
    Write an instant for people: to the minute, in the zone of the answer.

    >>> shown("2026-10-05T10:15:02.114Z", "Asia/Kolkata")
    '2026-10-05 15:45 IST'
    """
    if instant is None:
        return "–"
    return datetime.fromisoformat(instant).astimezone(ZoneInfo(tz)).strftime("%Y-%m-%d %H:%M %Z")


@cache
def environment() -> Environment:
    """The templates; names that a template misspells are errors."""
    found = Environment(
        loader=PackageLoader("dashboards"), autoescape=True, undefined=StrictUndefined
    )
    found.filters["shown"] = shown
    return found


def render(template: str, **values: Any) -> str:
    """Fill a template. Rows are the JSON of answers, so that pages and REST cannot disagree."""
    return environment().get_template(template).render(**values)


def static_file(name: str) -> bytes:
    """Return a file that pages load, or is put into them."""
    return (files("dashboards") / "static" / name).read_bytes()
