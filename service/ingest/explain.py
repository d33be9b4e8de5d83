"""
What becomes of one pasted line, step by step, as data; printing is the command's business.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from service.events import Event, Ignored, Reason, Rejected
from service.ingest import envelopes, textlines
from service.ingest.extract import Extractor, Values
from service.ingest.keys import IDENTITIES
from service.ingest.profiles import Path
from service.ingest.recognise import Recogniser
from service.ingest.records import Origin
from service.ingest.textlines import Text


@dataclass(frozen=True, slots=True)
class Tried:
    """A profile that was asked, and why it did not match; None for the one that did."""

    profile: str
    why_not: str | None
    alien: bool = field(default=False, compare=False)
    """Whether it is a built-in profile for lines of quite another shape: the record lacks one of its places."""


@dataclass(frozen=True, slots=True)
class Found:
    """A field, its value as text, and the place in the record that it came from."""

    field: str
    value: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """All that is known about one line."""

    wrappers: tuple[str, ...]
    """The wrappers that were peeled off, outermost first."""
    tried: tuple[Tried, ...]
    """The profiles in the order asked; the last one matched where the outcome is an event."""
    fields: tuple[Found, ...]
    """What the profile found, sorted by field; of the first that knew the kind, where none matched."""
    outcome: Event | Rejected | Ignored | None
    """None for a blank line."""
    why: str
    """The outcome in a sentence."""
    ingredients: tuple[tuple[str, str], ...]
    """(name, text) of what enters the event's key beside server and ordinal; identities hashed."""

    def as_json(self) -> dict[str, object]:
        """The explanation as `lastcall explain --json` prints it."""
        outcome = self.outcome
        return {
            "outcome": _OUTCOME_WORDS[type(outcome)],
            "kind": outcome.kind.word if isinstance(outcome, Event) else None,
            "reason": outcome.reason.value if isinstance(outcome, Rejected) else None,
            "why": self.why,
            "wrappers": list(self.wrappers),
            "profiles": [{"profile": t.profile, "why_not": t.why_not} for t in self.tried],
            "fields": [{"field": f.field, "value": f.value, "from": f.place} for f in self.fields],
            "key": [{"name": name, "value": text} for name, text in self.ingredients],
        }


_OUTCOME_WORDS: Final[dict[type, str]] = {
    Event: "accepted",
    Rejected: "rejected",
    Ignored: "ignored",
    type(None): "blank",
}


_NAMELESS: Final = "a request that names no tool, which counts as nothing"
_CLOSED: Final = "; no other profile is asked"
_REASONS: Final = {
    Reason.INVALID_JSON: "it begins like JSON and cannot be parsed; perhaps it was cut",
    Reason.INCOMPLETE_LINE: "the file ends in the middle of it",
    Reason.INVALID_PAIRS: "what follows its message is no key=value throughout, or a key stands there twice",
    Reason.MISSING_TOOL: "it is a call that names no tool where the profiles look for one",
    Reason.NOT_AN_OBJECT: "a record is a JSON object",
    Reason.SEVERAL_RECORDS: "it is an export of OpenTelemetry that holds several; send it to /v1/logs, or read "
    "its file with `lastcall ingest`",
    Reason.BAD_TIMESTAMP: "its time cannot be read",
    Reason.IMPLAUSIBLE_TIMESTAMP: "its time lies before 2001 or after 2261",
    Reason.FUTURE_TIMESTAMP: "its time lies too far ahead of the clock",
    Reason.LINE_TOO_LONG: "it is longer than LASTCALL_MAX_LINE_BYTES",
    Reason.TOO_DEEP: "it nests deeper than LASTCALL_MAX_DEPTH",
    Reason.UNSUPPORTED_ENCODING: "its encoding is not one that can be read",
    Reason.INVALID_ENCODING: "it is not text in its encoding",
}


def explain(raw: bytes, recogniser: Recogniser) -> Explanation:
    """Say what becomes of one line and why. Never raises: any bytes have an outcome."""
    outcome = recogniser.line(raw)
    inner, origin = envelopes.innermost(raw, recogniser.is_text_record)
    tried: tuple[Tried, ...] = ()
    fields: tuple[Found, ...] = ()
    if isinstance(inner, bytes):
        tried, fields = _ask_text(inner, recogniser)
    elif inner is not None and (not isinstance(outcome, Rejected) or outcome.whole):
        tried, fields = _ask(inner, recogniser.extractors)
    if isinstance(outcome, Event) and outcome.time_ns is not None:
        fields = _with_time(fields, origin)
    return Explanation(
        wrappers=origin.wrappers,
        tried=tried,
        fields=fields,
        outcome=outcome,
        why=_sentence(raw, outcome, recogniser, tried),
        ingredients=_ingredients(outcome, recogniser) if isinstance(outcome, Event) else (),
    )


def _ask_text(raw: bytes, recogniser: Recogniser) -> tuple[tuple[Tried, ...], tuple[Found, ...]]:
    """Ask the profiles of the forms that a line of text has, which are few."""
    tried: tuple[Tried, ...] = ()
    fields: tuple[Found, ...] = ()
    for text in textlines.decode(raw) if recogniser.has_needle(raw) else ():
        asked, found = _ask(text.fields, recogniser.text_extractors[text.format], text)
        tried += asked
        fields = fields or found
        if asked and asked[-1].why_not is None:
            return tried, found
    return tried, fields


def _ask(
    record: dict[str, Any], extractors: Iterable[Extractor], text: Text | None = None
) -> tuple[tuple[Tried, ...], tuple[Found, ...]]:
    tried: list[Tried] = []
    fields: tuple[Found, ...] = ()
    for extractor in extractors:
        why_not, values, ranks = _why_not(extractor, record)
        if values and text is not None and (unread := extractor.unread(text)):
            why_not = unread
        alien = extractor.profile.built_in and extractor.lacks(record) is not None
        tried.append(Tried(extractor.profile.name, why_not, alien))
        if why_not is None:
            return tuple(tried), _found(extractor, values, ranks)
        if values and not fields:
            fields = _found(extractor, values, ranks)
        if why_not.endswith(_CLOSED):
            break
    return tuple(tried), fields


def _with_time(fields: tuple[Found, ...], origin: Origin) -> tuple[Found, ...]:
    """The fields of an event that has a time, be it its wrapper's."""
    if any(found.field == "time" for found in fields):
        return fields
    time = Found("time", str(origin.time), "its wrapper")
    return tuple(sorted((*fields, time), key=lambda found: found.field))


def _why_not(
    extractor: Extractor, record: dict[str, Any]
) -> tuple[str | None, Values, dict[str, int]]:
    if (missing := extractor.lacks(record)) is not None:
        return f"nothing at {_dotted(missing)}", {}, {}
    values, ranks = extractor.values(record)
    kind = extractor.kind(values)
    if extractor.closes(kind, values) and (kind is None or not extractor.complete(kind, values)):
        key = "message" if values.get("message") in extractor.profile.ignored else "method"
        return f"{key} {values[key]!r} counts as nothing{_CLOSED}", {}, {}
    if kind is None and (late := extractor.late(record)) is not None:
        return f"{late[0]} stands behind {late[1]}, which may hold a user's words", {}, {}
    if kind is None:
        said = [f"{key} {values[key]!r}" for key in ("message", "method") if key in values]
        return (
            f"{' and '.join(said)} is no kind that it knows"
            if said
            else "no message and no method",
            {},
            {},
        )
    if not extractor.complete(kind, values):
        if extractor.profile.headers:
            return _NAMELESS, {}, {}
        return f"a {kind.word} without a tool", values, ranks
    return None, values, ranks


def _found(extractor: Extractor, values: Values, ranks: dict[str, int]) -> tuple[Found, ...]:
    places = extractor.profile.paths
    return tuple(
        Found(
            field,
            _shown(values[field]),
            _dotted(places[field][ranks[field]]) if field in ranks else "the text of the message",
        )
        for field in sorted(values)
    )


def _shown(value: object) -> str:
    """A value as people write it: several with commas between them."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _dotted(path: Path) -> str:
    return ".".join(path) if not any("." in key for key in path) else str(list(path))


def _sentence(
    raw: bytes,
    outcome: Event | Rejected | Ignored | None,
    recogniser: Recogniser,
    tried: tuple[Tried, ...],
) -> str:
    if outcome is None:
        return "A blank line is no record."
    if isinstance(outcome, Event):
        when = (
            "" if outcome.time_ns is not None else ", without a time: it takes that of its arrival"
        )
        kind = outcome.kind.word.replace("_", " ")
        article = "An" if kind[0] in "aeiou" else "A"
        return f"{article} {kind}, read by the profile {outcome.profile}{when}."
    if isinstance(outcome, Rejected):
        return f"Rejected: {outcome.reason.value} ({_REASONS[outcome.reason]})."
    if not recogniser.has_needle(raw):
        return "Ignored: it holds none of the messages and methods that any profile knows."
    if not tried:
        return "Ignored: it is neither a JSON object nor text with fields; only a record's own message counts."
    if any(each.why_not == _NAMELESS for each in tried):
        return f"Ignored: it is {_NAMELESS}; its headers are what a client sent."
    return (
        "Ignored: no profile takes its message or method for tool traffic; "
        "`lastcall ingest --dry-run` suggests a profile for messages that look like it."
    )


def _ingredients(event: Event, recogniser: Recogniser) -> tuple[tuple[str, str], ...]:
    hashed = recogniser.hasher.identity
    time = "arrival" if event.time_ns is None else f"{event.time_ns} ns"
    return (
        ("time", time),
        ("kind", event.kind.word),
        *((n, hashed(n, text) if n in IDENTITIES else text) for n, text in event.key_fields),
    )
