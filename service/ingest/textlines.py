"""
Lines of text as records: the few forms in which loggers and proxies write fields into plain text.

A record of text is flat: key → text, in the order of the line; a key may have dots in it. What a user wrote
must not be able to become a field, so each form is read strictly, and what does not fit is no record at all.
Which keys count is the business of profiles, and so is what may stand in front of them (`head`).
"""

import re
from typing import Final, Literal, NamedTuple

from service.ingest import logfmt

Format = Literal["json", "logfmt", "python", "python pairs", "access log"]
"""The forms of a record; all but the first are lines of text."""

TEXTS: Final[tuple[Format, ...]] = ("logfmt", "python", "python pairs", "access log")

_LEVEL: Final = "(?:TRACE|DEBUG|INFO|NOTICE|SUCCESS|WARN|WARNING|ERROR|CRITICAL|FATAL)"
_PYTHON: Final = re.compile(
    r"(?:(?P<asctime>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    rf" - (?P<name>\S{{1,256}}) - (?P<levelname>{_LEVEL}) - "
    rf"|(?P<level>{_LEVEL}):(?P<logger>[^\s:=]{{1,256}}):)(?P<message>.*)",
    re.DOTALL,
)
_LOGFMT: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*+"|[^\s"=]++)=')
_PAIRS_FOLLOW: Final = re.compile(r" (?=[^\s\"=]++=)")
_ERROR: Final = " error="
_QUOTED: Final = r'"((?:[^"\\]|\\.)*+)"'
_ACCESS: Final = re.compile(
    r"([0-9A-Fa-f]{0,4}[.:][0-9A-Fa-f.:]{1,60}) - ([^\s\"\[]{1,256}) "
    r"\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\.\d{1,9})? [+-]\d{4})\] "
    rf"{_QUOTED} (\d{{3}}|-) (\d{{1,19}}|-)(?: {_QUOTED} {_QUOTED})?(?= |\Z)",
    re.DOTALL,
)
_ACCESS_KEYS: Final = (
    "remote_addr", "remote_user", "time_local", "request", "status", "body_bytes_sent", "http_referer",
    "http_user_agent",
)  # fmt: skip
_ADDED: Final = re.compile(rf' ++(?:([^\s"=]++)={_QUOTED}|{_QUOTED}|[^\s"]++)(?= |\Z)', re.DOTALL)


class Text(NamedTuple):
    """A line of text, or a part of one, as a record."""

    format: Format
    fields: dict[str, str]
    twice: frozenset[str] = frozenset()
    """Keys that stand there again with another value: what they hold is not known."""
    rest: str = ""
    """What could not be read; where it is not empty, there may be more to the record."""


def decode(raw: bytes) -> tuple[Text, ...]:
    """Return what a line may be read as, to be asked in this order; nothing where it is plain prose."""
    text = raw.decode(errors="replace")
    if _LOGFMT.match(text):
        return (Text("logfmt", *logfmt.read(text)),)
    if found := _PYTHON.fullmatch(text):
        return _of_python(found)
    if found := _ACCESS.match(text):
        return _of_access(found, text)
    return ()


def _of_python(found: re.Match[str]) -> tuple[Text, ...]:
    """
    What Python's logging wrote: the message as a whole, and what pairs there are in it.

    Pairs behind a text are its fields, beside the text as `lead`. A message of nothing but pairs could be
    a user's, so that its keys get the logger's name in front: only who knows that logger reads them.
    """
    said = {key: value for key, value in found.groupdict().items() if value is not None}
    if "logger" in said:
        said["name"], said["levelname"] = said.pop("logger"), said.pop("level")
    message = said.pop("message")
    whole = Text("python", {**said, "message": message})
    if _LOGFMT.match(message):
        return whole, _pairs_alone(said, message)
    if behind := _PAIRS_FOLLOW.search(message):
        pairs = logfmt.read(message[behind.end() :])
        fields = {**said, "lead": message[: behind.start()]}
        twice = pairs.twice | (fields.keys() & pairs.fields.keys())
        fields |= {key: value for key, value in pairs.fields.items() if key not in fields}
        return whole, Text("python pairs", fields, twice, pairs.rest)
    return (whole,)


def _pairs_alone(said: dict[str, str], message: str) -> Text:
    """A message of pairs, of which the last may be `error=` with any text to the end."""
    before, error, text = message.partition(_ERROR)
    pairs = logfmt.read(before)
    name = said["name"]
    fields = {f"{name}.{key}": value for key, value in pairs.fields.items()}
    if error:
        fields[f"{name}.error"] = text
    twice = {f"{name}.{key}" for key in pairs.twice}
    if "error" in pairs.fields:
        twice.add(f"{name}.error")
    return Text("python pairs", {**said, **fields}, frozenset(twice), pairs.rest)


def _of_access(found: re.Match[str], text: str) -> tuple[Text, ...]:
    """
    What nginx and Apache write in the common and combined format, and what was added behind it.

    Only pairs whose value stands in quotes are read: proxies escape quotes, so no header can end one.
    """
    fields = {
        key: logfmt.unquoted(value)
        for key, value in zip(_ACCESS_KEYS, found.groups(), strict=True)
        if value is not None
    }
    twice: set[str] = set()
    at = found.end()
    while at < len(text):
        more = _ADDED.match(text, at)
        if more is None:
            return ()
        at = more.end()
        if more[1] is not None:
            value = logfmt.unquoted(more[2])
            if fields.setdefault(more[1], value) != value:
                twice.add(more[1])
    return (Text("access log", fields, frozenset(twice)),)
