"""
What was read once is not read again: records that differ in time, session and request only.

A **form** is what such records have in common. It is found by the values of every place in which a
profile looks for anything, so two records of one form are the same event but for the three. What a
record means is said in one place only, `recognise`; here it is remembered.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeGuard

from service.events import TOOL_KINDS, Event, Subject
from service.ingest.extract import text_of
from service.ingest.keys import Frame, Hasher
from service.ingest.profiles import Path, Profile
from service.ingest.recent import Recent
from service.ingest.rows import subject_of
from service.ingest.times import EARLIEST_NS, LATEST_NS, BadTime, parse_time

VARYING: Final = ("time", "session", "request_id")
"""The fields in which records of one form differ."""

FORMS: Final = 8_192
"""How many forms are remembered at least, and half of how many at most."""

SESSIONS: Final = 16_384
"""How many sessions are remembered at least."""

_TEXT: Final = 256
_TEXTS: Final = 2_048
"""Longest single text, and all texts of a form together, that are remembered."""
_ABSENT: Final = -1
_UNCLEAR: Final = -2


class Form:
    """What records that differ in time, session and request only have in common."""

    __slots__ = ("_event", "_ready", "is_call", "kind", "places", "request", "session")

    def __init__(self, event: Event, places: tuple[int, int, int]) -> None:
        self._event = event
        self._ready: dict[str | None, tuple[Subject, Frame]] = {}
        self.kind = int(event.kind)
        self.is_call = event.kind in TOOL_KINDS
        self.places = places
        """Which of the varying values of a record are its time, session and request id; -1: none."""
        self.session = event.session
        self.request = None if event.request_id is None else event.request_id.encode()

    def ready(
        self, server: str | None, server_of: Callable[[Event], str], hasher: Hasher
    ) -> tuple[Subject, Frame]:
        """
        Return what is stored and hashed of every event of this form.

        *server* is that of the delivery; where it names none, *server_of* tells it from the event.
        """
        known = self._ready.get(server)
        if known is None:
            name = server or server_of(self._event)
            known = subject_of(self._event, name, hasher), Frame(name, self._event, hasher)
            self._ready[server] = known
        return known


class Session(NamedTuple):
    """A session id in the clear and its hash, which stands for it from here on."""

    text: str
    digest: str
    ascii: bytes
    """The hash once more, as the bytes that go into a key."""


Known = tuple[Form, int, Session | None, bytes | None]
"""A record of a known form: (form, time in ns, session, request id as it stands in the record). A
plain tuple: one is made for every event."""


Varying = tuple[object, object, object]
"""Time, session and request id as they stand in a record; None for one that the form has not."""


class Print(NamedTuple):
    """What is looked for in a record, as it stands there."""

    fingerprint: tuple[Any, ...]
    """The places that hold something, in the order of the record's keys, each with its value but where
    records of one form differ."""
    values: list[Any]
    """What stands in the latter, in the same order."""


class _Node:
    """A place in a record, and the places below."""

    __slots__ = ("below", "fields", "varies")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.fields: set[str] = set()
        self.varies = False


class Forms:
    """Remembers the forms of records. Threads may share it: the worst that can happen is that one
    of them reads what another has read too."""

    def __init__(self, profiles: Iterable[Profile], hasher: Hasher) -> None:
        self._hasher = hasher
        self._sessions: Recent[str, Session] = Recent(SESSIONS)
        self._root = _Node()
        self._ranks: dict[str, dict[str, list[_Node]]] = {}
        for profile in profiles:
            ranks = self._ranks.setdefault(profile.name, {})
            for field, paths in profile.paths.items():
                nodes = [self._plant(path, field) for path in paths]
                if field in VARYING:
                    ranks.setdefault(field, []).extend(nodes)
            for path in profile.requires:
                self._plant(path, "required")
        self._settle(self._root)
        self._known: Recent[tuple[Any, ...], Form] = Recent(FORMS)

    def read(self, record: dict[str, Any]) -> Print | None:
        """Return by what a record's form is found; None for a record whose form is not remembered."""
        found: list[Any] = []
        values: list[Any] = []
        try:
            _fingerprint(self._root.below, record, found, values)
            taken = Print(tuple(found), values)
            hash(taken.fingerprint)
        except TypeError:  # a list of lists, or the like
            return None
        return taken

    def find(self, taken: Print) -> tuple[Form, Varying] | None:
        """Return a record's form, and what it holds where records of that form differ."""
        form = self._known.get(taken.fingerprint)
        if form is None:
            return None
        time, session, request = form.places
        values = taken.values
        return form, (
            values[time],
            values[session] if session >= 0 else None,
            values[request] if request >= 0 else None,
        )

    def learn(self, taken: Print, event: Event) -> None:
        """Remember the form of a record that was read the long way."""
        if event.time_ns is None or not (event.request_id is None or _plain(event.request_id)):
            return
        found, values = taken
        nodes = [item for item in found if type(item) is _Node]
        ranks = self._ranks[event.profile]
        places = [_place(ranks.get(field, ()), nodes) for field in VARYING]
        texts = sum(len(item) for item in found if type(item) is str)
        if texts > _TEXTS or not _agree(event, places, values):
            return
        self._known.put(found, Form(event, (places[0], places[1], places[2])))

    def known(
        self, form: Form, time: object, session: object, request: object, latest_ns: int
    ) -> Known | None:
        """
        Return a record of a form, its time, session and request id (None where they do not vary)
        read.

        None where they need a closer look: a time that is none or later than *latest_ns*, a session
        that is no plain text.
        """
        try:
            time_ns = parse_time(time)
        except BadTime:
            return None
        if not EARLIEST_NS <= time_ns <= latest_ns or time_ns >= LATEST_NS:
            return None
        if session is None:
            session = form.session
        if session is not None:
            if type(session) is not str:
                return None
            session = self._sessions.get(session) or self._session(session)
            if session is None:
                return None
        if request is None:
            return form, time_ns, session, form.request
        if type(request) is int:
            request = str(request)
        if not _plain(request):
            return None
        return form, time_ns, session, request.encode()

    def _session(self, text: str) -> Session | None:
        """Remember a session; None where it is no plain text."""
        if not _plain(text):
            return None
        digest = self._hasher.identity("session", text)
        found = Session(text, digest, digest.encode())
        self._sessions.put(text, found)
        return found

    def _plant(self, path: Path, field: str) -> _Node:
        node = self._root
        for key in path:
            node = node.below.setdefault(key, _Node())
        node.fields.add(field)
        return node

    def _settle(self, node: _Node) -> None:
        """A place varies where only a time, only a session, … is looked for in it, by any profile."""
        node.varies = len(node.fields) == 1 and node.fields <= {*VARYING} and not node.below
        for inner in node.below.values():
            self._settle(inner)


def _fingerprint(
    below: dict[str, _Node], record: dict[str, Any], found: list[Any], values: list[Any]
) -> None:
    """
    Gather what a record has at the places below: the nodes in the order of its keys, each but a
    varying one with its value; the values of the varying ones apart.
    """
    for key, value in record.items():
        node = below.get(key)
        if node is None or value is None:
            continue
        found.append(node)
        if node.varies:
            values.append(value)
        elif type(value) is str:
            found.append(value)
        elif type(value) is dict:
            if node.below:
                _fingerprint(node.below, value, found, values)
            else:
                found.append(dict)
        else:  # 1, 1.0 and True are equal, and read differently
            found.append(type(value))
            found.append(tuple(value) if type(value) is list else value)


def _place(ranked: Iterable[_Node], nodes: list[_Node]) -> int:
    """
    Which of the varying ones among *nodes* gives a field: the first of those in which it is looked
    for. Unclear where that one does not vary: what it holds is part of the form.
    """
    for node in ranked:
        if node in nodes:
            if not node.varies:
                return _UNCLEAR
            return [each for each in nodes if each.varies].index(node)
    return _ABSENT


def _agree(event: Event, places: list[int], values: list[Any]) -> bool:
    """
    Whether the places give what was read. They do not where a value is blank, so that the next place
    counted, or where the time stands in a place that something else is read from too.
    """
    time_at, session_at, request_at = places
    if time_at < 0 or _UNCLEAR in places:
        return False
    for at, read in ((session_at, event.session), (request_at, event.request_id)):
        if at >= 0 and (read is None or text_of(values[at]) != read):
            return False
    try:
        return parse_time(values[time_at]) == event.time_ns
    except BadTime:
        return False


def _plain(value: object) -> TypeGuard[str]:
    """Whether a value is text that is read as it stands."""
    return (
        type(value) is str
        and 0 < len(value) <= _TEXT
        and value.isascii()
        and value.isprintable()
        and not value.isspace()
    )
