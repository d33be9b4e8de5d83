"""How results become HTML: one environment, everything escaped."""

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from itertools import groupby
from math import ceil
from typing import Any, Literal
from unicodedata import combining
from zoneinfo import ZoneInfo

import cramjam
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dashboards import theme
from dashboards.figures.safe import TURNS
from service.analysis.effect_texts import change
from service.analysis.reaction_texts import did
from service.answers.query import iso
from service.entries import FACTS
from service.errors import NotFound

_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain; charset=utf-8",
}
_BROTLI = 9
"""Of 11: a tenth of a second for all of Plotly; the last tenth of its size would take over one."""
DETAIL = 200
"""Characters of one text in a line of the audit."""
SHOWN_WHOLE, HEAD, TAIL = 60, 34, 20
"""Names of more characters are cut in the middle: so many of them stay in front of it, and so many behind."""
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
    local = datetime.fromisoformat(instant).astimezone(ZoneInfo(tz))
    return f"{local.date().isoformat()} {local:%H:%M %Z}"  # %Y writes the year 1 as 1


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


def whole(text: str) -> Markup:
    """
    Write a stranger's name, kept apart from the direction of the text around it. A long one loses its middle to
    the eye until it is asked for (`.cut`); to search, copying and screen readers it is whole. Characters that would
    turn the text around are named instead of obeyed.

    >>> whole("<b>")
    Markup('<bdi>&lt;b&gt;</bdi>')
    """
    if len(text) <= SHOWN_WHOLE:
        return Markup("<bdi>{}</bdi>").format(named(text))
    head, tail = _letter(text, HEAD), _letter(text, len(text) - TAIL)
    return Markup('<bdi class="cut">{}<span>{}</span>{}</bdi>').format(
        named(text[:head]), named(text[head:tail]), named(text[tail:])
    )


def named(text: str) -> Markup:
    r"""
    Text in which what turns its direction is hidden, with its number in its place.

    >>> named("\u202e<")
    Markup('<span class="turn" data-code="U+202E"><span hidden>\u202e</span></span>&lt;')
    """
    found = TURNS.sub(
        lambda turn: (
            f'<span class="turn" data-code="U+{ord(turn[0]):04X}"><span hidden>{turn[0]}</span></span>'
        ),
        str(escape(text)),
    )
    return Markup(found)  # noqa: S704 - escaped


def nobreak(text: str) -> str:
    r"""
    Keep a number with its per cent, and both ends of an interval, on one line.

    >>> nobreak("54–86 % fewer")
    '54–\u206086\xa0% fewer'
    """
    return re.sub(r"(?<=\d) %", "\xa0%", re.sub(r"(?<=\d)–(?=\d)", "–\u2060", text))


def _letter(text: str, place: int) -> int:
    """The place from which on a letter begins: what is put on a letter stays with it."""
    while place < len(text) and (combining(text[place]) or text[place - 1] == "\u200d"):
        place += 1
    return place


def chance(share: float) -> str:
    """
    Write a probability, never as certain.

    >>> chance(0.95), chance(0.9999), chance(0.0001), chance(0.998)
    ('95 %', 'over 99.9 %', 'under 0.1 %', '99.8 %')
    """
    if share > 0.999:
        return "over 99.9 %"
    if share < 0.001:
        return "under 0.1 %"
    decimals = 1 if share > 0.99 or share < 0.01 else 0
    # down: 94.6 % is not shown as the 95 % that a word asks for
    scale = 10**decimals
    return f"{int(100 * share * scale + 1e-9) / scale:.{decimals}f} %"


def chances(interval: Sequence[float]) -> str:
    r"""
    Write both ends of an interval of a probability; the sign once where both have it alike.

    >>> chances((0.04, 0.06)), chances((0.0, 0.5)), chances((0.98, 1.0))
    ('4–\u20606\xa0%', 'under 0.1\xa0% to 50\xa0%', '98\xa0% to over 99.9\xa0%')
    """
    low, high = (chance(share) for share in interval)
    is_plain = low[0].isdigit() and high[0].isdigit()
    return nobreak(f"{low.removesuffix(' %')}–{high}" if is_plain else f"{low} to {high}")


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


REASONS: Mapping[str, str] = {
    "too_few": "called on fewer than four days, so there is no habit to hold the silence against",
    "no_calls": "no call that counts",
    "gap": "some of the silence was not heard",
    "not_heard": "the log was not heard at the end",
    "sessions": "by its sessions it is less sure",
    "said_fixed": "somebody said that it is fixed",
    "notified clients": "no client that calls an old name was notified",
    "stale calls of notified clients": "notified clients made too few stale calls",
    "support": "hardly anybody was left to compare with",
    "clients to compare with": "too few clients to compare with",
    "usable notified clients": "too few notified clients called both before and after",
    "calls before": "too few stale calls before",
    "expected calls": "too few calls were to be expected after",
    "interval": "too few clients for an interval",
    "own activity": "notifications came right after their client's own activity",
    "placebo": "an effect two weeks before the notifications already",
    "trend": "clients notified early were on a trend of their own",
    "precision": "the interval is too wide",
}
"""The `reason` of a verdict in words."""


_FIGURES: Mapping[str, Callable[[Any], str]] = {
    "probability": lambda value: f"{chance(value)} sure that it stopped",
    "rate_ratio": lambda value: f"observed ÷ expected {value:.2f}",
    "wait_days": lambda value: f"wait about {counted(ceil(value), 'more day')}" if value else "",
    "active_days": lambda value: f"called on {counted(value, 'day')}",
    "silent_days": lambda value: f"silent for {counted(value, 'day')}",
    "stale_calls": lambda value: counted(value, "stale call"),
    "observed": lambda value: f"{counted(value, 'call')} after notification",
    "expected": lambda value: f"{value:,.0f} expected",
    "clients_used": lambda value: f"{counted(value, 'client')} used",
    "support": lambda value: f"{100 * value:.0f} % of it with others to compare with",
    "reason": lambda value: REASONS.get(value, value.replace("_", " ")),
}


def figures(shown: Mapping[str, Any]) -> str:
    """
    Write the figures of the weekly log in the words of the pages; what there was not is left out.

    >>> figures({"probability": 0.9612, "interval": [0.82, 1.0], "active_days": 1204, "wait_days": None})
    '96 % sure that it stopped (82 % to over 99.9 %), called on 1,204 days'
    >>> figures({"rate_ratio": 0.387, "interval": [0.253, None], "observed": 1, "expected": 2038.1})
    'observed ÷ expected 0.39 (95 %: 0.25 to no bound), 1 call after notification, 2,038 expected'
    >>> figures({"reason": "too_few", "active_days": 1})
    'called on fewer than four days, so there is no habit to hold the silence against, called on 1 day'
    """
    known = {name: value for name, value in shown.items() if value is not None}
    interval = known.pop("interval", None)
    parts = {
        name: _FIGURES[name](value) if name in _FIGURES else f"{name.replace('_', ' ')} {value}"
        for name, value in known.items()
    }
    if interval is not None and "probability" in parts:
        parts["probability"] += f" ({' to '.join(chance(end) for end in interval)})"
    elif interval is not None:
        ends = " to ".join("no bound" if end is None else f"{end:.2f}" for end in interval)
        parts["rate_ratio"] = f"{parts.get('rate_ratio', '')} (95 %: {ends})".strip()
    return ", ".join(part for part in parts.values() if part) or "–"


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


def coded(text: str) -> Markup:
    """
    Write what stands between backticks as code.

    >>> coded("run `a<b`")
    Markup('run <code>a&lt;b</code>')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def linked(text: str, places: Mapping[str, str]) -> Markup:
    """
    Write what stands between backticks as code, and each of these words as a link.

    >>> linked("see `a<b` on To do", {"To do": "/todo?a=1&b=2"})
    Markup('see <code>a&lt;b</code> on <a href="/todo?a=1&amp;b=2">To do</a>')
    """
    found = coded(text)
    for word, address in places.items():
        found = found.replace(word, Markup('<a href="{}">{}</a>').format(address, word))
    return found


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
    found.filters.update(
        shown=shown,
        ago=ago,
        amount=amount,
        told=told,
        change=change,
        chance=chance,
        chances=chances,
        figures=figures,
        coded=coded,
        nobreak=nobreak,
        named=named,
        whole=whole,
        linked=linked,
    )
    found.globals.update(counted=counted, runs=runs, reasons=REASONS, did=did, static=address)
    return found


_PLAIN: Mapping[str, Any] = {"guest": False, "embedded": False, "theme": None}
"""What a page is where nothing else is said: nobody's guest, and in no frame."""


def render(template: str, **values: Any) -> str:
    """Fill a template. Rows are the JSON of answers, so that pages and REST cannot disagree."""
    return environment().get_template(template).render(**{**_PLAIN, **values})


def style() -> bytes:
    """The style sheet: the colours of the theme, and what uses them."""
    return theme.style_sheet().encode() + (files("dashboards") / "static/site.css").read_bytes()


@cache
def address(path: str) -> str:
    """Where pages load a file from, below the root: with what is in it, so that it may be kept for ever."""
    return f"/static/{path}?v={mark_of(path)}"


@cache
def mark_of(path: str) -> str:
    """A text that is another one when the file is. Raises NotFound."""
    return blake2b(asset(path)[0], digest_size=6).hexdigest()


@cache
def packed(path: str, coding: Literal["br", "gzip"]) -> bytes:
    """The bytes of a file that pages load, made smaller, once for all who ask. Raises NotFound."""
    body, _ = asset(path)
    if coding == "gzip":
        return gzip.compress(body, mtime=0)
    return bytes(cramjam.brotli.compress(body, level=_BROTLI))


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
