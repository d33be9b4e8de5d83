"""
Recognise the lines that say something about tools: a line is one event, one rejection, or ignored.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar

from service.clock import Clock, system_clock
from service.events import Event, Ignored, Kind, Outcome, Reason, Rejected
from service.ingest import envelopes
from service.ingest.envelopes import otlp
from service.ingest.extract import Extractor, Values
from service.ingest.jsontext import TooDeep, deeper_than, depth, loads
from service.ingest.keys import Hasher
from service.ingest.lines import BLANK
from service.ingest.needles import Search, needles_of
from service.ingest.profiles import Path, Profile
from service.ingest.quarantine import EXCERPT_BYTES, Redactor, excerpt_of
from service.ingest.records import BARE, Line, Origin
from service.ingest.textlines import TEXTS, Format, Text, decode
from service.ingest.times import BadTime, check_time, parse_time

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Reader(Protocol[_T_co]):
    """Reads what is inside of all wrappers; a recogniser itself is one."""

    def known(self, raw: bytes) -> _T_co | None:
        """Return what a line is that is known by its bytes, without being parsed."""

    def bare(self, record: dict[str, Any], origin: Origin, raw: bytes | None, /) -> _T_co:
        """Return what a record is; *raw* is the line that it was."""


_BOM: Final = b"\xef\xbb\xbf"
_PADDING: Final = frozenset(bytes([byte]) for byte in BLANK)
_IGNORED: Final = Ignored()
_OUTCOME: Final = {
    int(Kind.STALE_CALL): Outcome.TOMBSTONE,
    int(Kind.UNKNOWN_CALL): Outcome.UNKNOWN_TOOL,
}
_TEXT_TIME: Final = re.compile(
    rb"(?:(?:level=[A-Za-z0-9+-]{1,16} )?(?:time|timestamp|ts|t)=\"?|\[)?"
    rb"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s\]\"]{0,40}(?: ?Z)?)"
)
_ACCESS_TIME: Final = re.compile(
    rb"[0-9a-fA-F.:]{2,45} [^\"\[]{1,600}\[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d[^\]\"]{0,20})\] \""
)
_HEAD: Final = 4096


class Recogniser:
    """
    Reads lines with the help of profiles.

    Pure but for the clock, which is asked only where a time lies ahead of what it said before.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        hasher: Hasher,
        *,
        max_depth: int = 100,
        skew_s: int = 86_400,
        clock: Clock = system_clock,
    ) -> None:
        """*max_depth* is the deepest JSON nesting; *skew_s* how many seconds ahead of *clock* a
        line's time may lie."""
        self.profiles = tuple(profiles)
        self.extractors = _extractors(profiles, "json")
        """Those of JSON records, in the order in which they are asked."""
        self.text_extractors = {format_: _extractors(profiles, format_) for format_ in TEXTS}
        self.search = Search((*needles_of(profiles), *envelopes.NEEDLES))
        """Finds the needles, of which a line has at least one, else it is not ours."""
        self.hasher = hasher
        self._max_depth = max_depth
        self._skew_s = skew_s
        self._clock = clock
        self._now_us = clock()
        json = self.json_profiles = tuple(each.profile for each in self.extractors)
        self._redactor = Redactor(json, hasher)
        self._text_redactor = Redactor(profiles, hasher, text=True)
        self._line_time = _line_time_pattern(json)
        wrappers = [(key,) for key in envelopes.TIMES]
        places = [*_paths_of("time", json), *wrappers, *_paths_of("sent", json)]
        self._time_paths = tuple(dict.fromkeys(places))

    def read(
        self, line: Line, reader: Reader[_T] | None = None
    ) -> Event | Rejected | Ignored | _T | None:
        """Return what a single line is; *reader* as in `line`."""
        if not line.too_long:
            return self.line(line.raw, line.origin, last_unfinished=line.unfinished, reader=reader)
        if not (line.json_like or self._wraps_object(line.raw)):
            return _IGNORED
        return Rejected(reason=Reason.LINE_TOO_LONG, excerpt=excerpt_of(line.raw), whole=False)

    def line(
        self,
        raw: bytes,
        origin: Origin = BARE,
        *,
        last_unfinished: bool = False,
        reader: Reader[_T] | None = None,
    ) -> Event | Rejected | Ignored | _T | None:
        """
        Return what one line is, or None for a blank one; wrappers are taken off.

        *last_unfinished*: the line is the last of a file that is read once, and has no newline.
        *reader* reads the record inside, in place of this recogniser.
        """
        if b"\0" in raw:
            raw = raw.replace(b"\0", b"")
        raw = raw.strip(BLANK)
        if raw.startswith(_BOM):
            raw = raw[3:].lstrip(BLANK)
        if not raw:
            return None
        begins = raw[0]
        if not self.search.within(raw):
            if begins == 0x7B and raw[-1] != 0x7D:
                return _broken(raw, last_unfinished)
            return _IGNORED
        inner: Reader[Any] = reader or self
        if begins == 0x7B:
            return self._object_line(raw, origin, last_unfinished, inner)
        if (inside := envelopes.of_line(raw, origin)) is not None:
            return self._inside(*inside, last_unfinished, inner)
        return self._list_line(raw) if begins == 0x5B else self._text_line(raw, origin)

    def value(
        self,
        value: object,
        origin: Origin = BARE,
        *,
        broken: bool = False,
        reader: Reader[_T] | None = None,
    ) -> Event | Rejected | Ignored | _T:
        """
        Return what an already parsed record is; wrappers are taken off, *reader* as in `line`.

        *broken*: the value is the text of what is no JSON. Quarantine keeps a text as it is, anything
        else as JSON with identities hashed.
        """
        reason = Reason.INVALID_JSON if broken else Reason.NOT_AN_OBJECT
        if deeper_than(value, self._max_depth):
            reason = Reason.TOO_DEEP
        elif isinstance(value, dict):
            inner: Reader[Any] = reader or self
            return self._record(value, origin, None, False, inner)
        if isinstance(value, str):
            return _rejected(reason, excerpt_of(value.encode(errors="replace")), whole=False)
        return _rejected(reason, *self._redactor.show(value))

    def known(self, raw: bytes) -> None:
        """No line is known here before it is parsed."""

    def bare(
        self, record: dict[str, Any], origin: Origin = BARE, _raw: bytes | None = None, /
    ) -> Event | Rejected | Ignored:
        """
        Return what a record is that is no wrapper: the first profile counts that knows it and finds
        all it needs; where only the tool is missing, the next may still find it. A request to a proxy
        that names none is nothing: whoever sends such could fill the quarantine.
        """
        incomplete: Values | None = None
        by_request = False
        for extractor in self.extractors:
            if extractor.lacks(record) is not None:
                continue
            values, _ = extractor.values(record)
            kind = extractor.kind(values)
            if kind is not None and extractor.complete(kind, values):
                return self._event(extractor, kind, values, record, origin)
            if extractor.closes(kind, values):
                break
            by_request = by_request or (kind is not None and extractor.profile.headers)
            if kind is not None and not by_request:
                incomplete = incomplete or values
        if incomplete is None:
            return _IGNORED
        return self._missing_tool(incomplete, self._redactor.show(record), origin)

    def look_at(self, now_us: int) -> None:
        """Take an instant for the present until the clock is asked again: a delivery's arrival, so
        that a clock which was ahead once leaves nothing behind."""
        self._now_us = now_us

    @property
    def latest_ns(self) -> int:
        """Up to this instant a time is not too far ahead; later ones need another look at the clock."""
        return (self._now_us + self._skew_s * 1_000_000) * 1_000

    @property
    def needles(self) -> tuple[bytes, ...]:
        """The byte strings of which a line has at least one, else it is not ours."""
        return self.search.needles

    def has_needle(self, raw: bytes) -> bool:
        """Say whether a line can be ours at all."""
        return self.search.within(raw)

    def line_time(self, raw: bytes) -> int | None:
        """
        Return the time of any line in ns, found without parsing the line; None where none is seen
        or it cannot be right.

        JSON lines are searched for a key that holds a time in one of the profiles; a text line
        must begin with an ISO time, a pair that holds one, or what a wrapper puts there, or be one of an
        access log.
        """
        if b"\0" in raw:
            raw = raw.replace(b"\0", b"")
        if raw[:1] in _PADDING:
            raw = raw.lstrip(BLANK)
        inside: tuple[object, Origin] | None = (raw[:_HEAD], BARE)
        while inside is not None:
            head, origin = inside
            if isinstance(origin.time, str):
                return self._usable(origin.time)
            if not isinstance(head, bytes):
                return None
            head = head.removeprefix(_BOM)
            if head.startswith(b"{"):
                found = self._line_time.search(head)
                return self._checked_text(next(filter(None, found.groups()))) if found else None
            if found := _TEXT_TIME.match(head) or _ACCESS_TIME.match(head):
                return self._checked_text(found[1])
            inside = envelopes.of_line(head, origin)
        return None

    def value_time(self, value: object) -> int | None:
        """Return the time of an already parsed record in ns; None where none is seen or it cannot
        be right."""
        for path in self._time_paths:
            found = value
            for key in path:
                found = found.get(key) if isinstance(found, dict) else None
            if found is not None:
                return self._usable(found)
        return None

    def origin_time(self, origin: Origin) -> int | None:
        """Return the time that wrappers give in ns; None where none does or it cannot be right."""
        return self._usable(origin.time)

    def _wraps_object(self, head: bytes) -> bool:
        """Whether a line that begins so is a JSON object within wrappers."""
        inside = envelopes.of_line(head.lstrip(BLANK + b"\0"), BARE)
        while inside is not None:
            inner, origin = inside
            if not isinstance(inner, bytes) or inner.startswith(b"{"):
                return True
            inside = envelopes.of_line(inner, origin)
        return False

    def _record(
        self,
        record: dict[str, Any],
        origin: Origin,
        raw: bytes | None,
        unfinished: bool,
        reader: Reader[_T],
    ) -> Event | Rejected | Ignored | _T:
        """A record that is not too deep; *raw* is the line that it was."""
        inside = envelopes.of_record(record, origin, self.is_text_record)
        if inside is None:
            if (number := otlp.how_many(record)) > 1:
                # What identifies somebody in there would not be hashed, so that nothing of it is shown.
                return _rejected(Reason.SEVERAL_RECORDS, f"an export of {number} records", False)
            return reader.bare(record, origin, raw)
        return self._inside(*inside, unfinished, reader)

    def _inside(
        self, inner: object, origin: Origin, unfinished: bool, reader: Reader[_T]
    ) -> Event | Rejected | Ignored | _T:
        """What a wrapper was taken off; a blank line inside of one is a record too."""
        if isinstance(inner, bytes):
            found = self.line(inner, origin, last_unfinished=unfinished, reader=reader)
            return _IGNORED if found is None else found
        if isinstance(inner, dict):
            return self._record(inner, origin, None, unfinished, reader)
        return _IGNORED

    def _object_line(
        self, raw: bytes, origin: Origin, unfinished: bool, reader: Reader[_T]
    ) -> Event | Rejected | Ignored | _T:
        """A line that begins with `{` and has a needle."""
        if origin.wrappers and origin.native_id is None:
            known = reader.known(raw)
            if known is not None:
                return known
        if self._too_deep(raw):
            return _of_line(Reason.TOO_DEEP, raw)
        try:
            value = loads(raw)
        except TooDeep:
            return _of_line(Reason.TOO_DEEP, raw)
        except ValueError:
            return _broken(raw, unfinished)
        if not isinstance(value, dict):
            return _IGNORED
        return self._record(value, origin, raw, unfinished, reader)

    def _list_line(self, raw: bytes) -> Rejected | Ignored:
        """A line that begins with `[` and has a needle: a list, or text such as `[2026-…] …`."""
        if self._too_deep(raw):
            return _of_line(Reason.TOO_DEEP, raw) if raw.endswith(b"]") else _IGNORED
        try:
            value = loads(raw)
        except ValueError:
            return _IGNORED
        return _rejected(Reason.NOT_AN_OBJECT, *self._redactor.show(value))

    def _too_deep(self, raw: bytes) -> bool:
        limit = self._max_depth
        return raw.count(b"{") + raw.count(b"[") > limit and depth(raw) > limit

    def is_text_record(self, raw: bytes) -> bool:
        """Say whether a line is one of text that has fields and can be ours."""
        return self.search.within(raw) and bool(decode(raw))

    def _text_line(self, raw: bytes, origin: Origin) -> Event | Rejected | Ignored:
        """A line of text that has a needle: the first thing that it can be read as counts."""
        for text in decode(raw):
            outcome = self._text(text, origin, raw)
            if outcome is not None:
                return outcome
        return _IGNORED

    def _text(self, text: Text, origin: Origin, raw: bytes) -> Event | Rejected | Ignored | None:
        """As `bare`; where fields cannot be read for sure, a line that has our message is rejected. None
        where no profile says what it is."""
        incomplete: Values | None = None
        broken = closed = False
        for extractor in self.text_extractors[text.format]:
            if extractor.lacks(text.fields) is not None:
                continue
            values, _ = extractor.values(text.fields)
            kind = extractor.kind(values)
            read = extractor.unread(text) is None
            if read and kind is not None and extractor.complete(kind, values):
                return self._event(extractor, kind, values, text.fields, origin, text=True)
            if closed := extractor.closes(kind, values):
                break
            if kind is not None and not read:
                broken = broken or extractor.by_message(values)
            elif kind is not None and not extractor.profile.headers:
                incomplete = incomplete or values
        if broken:
            return _of_line(Reason.INVALID_PAIRS, raw)
        if incomplete is not None:
            return self._missing_tool(incomplete, self._text_redactor.show(text.fields), origin)
        return _IGNORED if closed else None

    def _missing_tool(self, values: Values, shown: tuple[str, bool], origin: Origin) -> Rejected:
        try:
            time_ns = self._time(values, origin)
        except BadTime:
            time_ns = None
        return _rejected(Reason.MISSING_TOOL, *shown, time_ns)

    def _event(
        self,
        extractor: Extractor,
        kind: Kind,
        values: Values,
        record: dict[str, Any],
        origin: Origin,
        *,
        text: bool = False,
    ) -> Event | Rejected:
        try:
            time_ns = self._time(values, origin)
        except BadTime as error:
            redactor = self._text_redactor if text else self._redactor
            return _rejected(error.reason, *redactor.show(record))
        get = values.get
        stdio = extractor.profile.stdio
        outcome = _OUTCOME.get(int(kind))
        if kind is Kind.STALE_CALL:
            outcome = get("outcome", extractor.profile.outcome or outcome)
        return Event(
            kind=kind,
            time_ns=time_ns,
            profile=extractor.profile.name,
            key_fields=extractor.key_fields(values),
            server=get("server"),
            tool=get("tool"),
            client=get("client"),
            version=get("version"),
            session=get("session"),
            request_id=get("request_id"),
            principal=get("principal"),
            address=get("address"),
            user_agent=get("user_agent"),
            hostname=get("hostname"),
            pid=get("pid"),
            stdio=get("stdio", False) if stdio is None else stdio,
            outcome=outcome,
            protocol_version=get("protocol_version"),
            last_release=get("last_release"),
            replaced_by=get("replaced_by"),
            message=get("tombstone"),
            trigger=get("trigger"),
            ttl_ms=get("ttl_ms"),
            listed_count=get("listed_count"),
            native_id=origin.native_id,
        )

    def _time(self, values: Values, origin: Origin) -> int | None:
        if "time" in values:
            return self._checked(values["time"])
        sent = self._usable(values.get("sent"))
        return self._usable(origin.time) if sent is None else sent

    def _checked_text(self, text: bytes) -> int | None:
        return self._usable(text.decode("ascii", errors="replace"))

    def _usable(self, value: object) -> int | None:
        """A time of no event's own, or None: nothing is rejected for it."""
        try:
            return None if value is None else self._checked(value)
        except BadTime:
            return None

    def _checked(self, value: object) -> int:
        ns = parse_time(value)
        reason = check_time(ns, self._now_us, self._skew_s)
        if reason is Reason.FUTURE_TIMESTAMP:
            self._now_us = self._clock()
            reason = check_time(ns, self._now_us, self._skew_s)
        if reason is not None:
            raise BadTime(reason)
        return ns


def _of_line(reason: Reason, raw: bytes) -> Rejected:
    return _rejected(reason, excerpt_of(raw), len(raw) <= EXCERPT_BYTES)


def _broken(raw: bytes, unfinished: bool) -> Rejected:
    return _of_line(Reason.INCOMPLETE_LINE if unfinished else Reason.INVALID_JSON, raw)


def _rejected(reason: Reason, excerpt: str, whole: bool, time_ns: int | None = None) -> Rejected:
    return Rejected(reason=reason, excerpt=excerpt, whole=whole, time_ns=time_ns)


def _extractors(profiles: Iterable[Profile], format_: Format) -> tuple[Extractor, ...]:
    return tuple(Extractor(each, format_) for each in profiles if format_ in each.formats)


def _paths_of(field: str, profiles: Iterable[Profile]) -> list[Path]:
    return [path for profile in profiles for path in profile.paths.get(field, ())]


def _line_time_pattern(profiles: Sequence[Profile]) -> re.Pattern[bytes]:
    """Finds the first key that holds a time in one of the profiles, and its value. Where a sender puts
    its own, a number may be anything else."""
    keys = sorted({*(path[-1] for path in _paths_of("time", profiles)), *envelopes.TIMES})
    sent = sorted({path[-1] for path in _paths_of("sent", profiles)} - {*keys})
    text = r'"([^"\\]{8,40})"'
    pattern = rf'"(?:{_any_of(keys)})"\s*:\s*(?:{text}|(-?[0-9][0-9.eE+]{{7,30}}))'
    if sent:
        pattern += rf'|"(?:{_any_of(sent)})"\s*:\s*{text}'
    return re.compile(pattern.encode())


def _any_of(keys: Iterable[str]) -> str:
    return "|".join(re.escape(key) for key in keys)
