"""
What was read once is not read again: records that differ in a few plain values only.

A **form** is what records have in common that differ in time, session, request id, client, version and
tool only. It is found by the values of every other place in which a profile looks for anything, so two
records of one form are the same event but for the six. What a record means is said in one place only,
`recognise`; here it is remembered.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeGuard, cast

from service.events import TOOL_KINDS, Event, Subject
from service.ingest.extract import text_of
from service.ingest.keys import Frame, Hasher
from service.ingest.profiles import Path, Profile
from service.ingest.recent import Recent
from service.ingest.rows import server_of, subject_of, varied_subject
from service.ingest.times import EARLIEST_NS, LATEST_NS, BadTime, parse_time

VARYING: Final = ("time", "session", "request_id", "client", "version", "tool")
"""The fields in which records of one form differ."""

FORMS: Final = 2_048
"""How many forms are remembered at least, and half of how many at most."""

READY: Final = 16_384
"""How many pairs of a form and a client, version and tool are remembered at least."""

SESSIONS: Final = 16_384
"""How many sessions are remembered at least."""

_TEXT: Final = 256
_TEXTS: Final = 2_048
"""Longest single text, and all texts of a form together, that are remembered."""
_ABSENT: Final = -1
_UNCLEAR: Final = -2


Varying = tuple[object, object, object, object, object, object]
"""What stands in a record for `VARYING`; None for a field that its form has not, or that is the same in
all records of the form."""

Places = tuple[int, int, int, int, int, int]
"""Which of several values are those of `VARYING`; -1 where none is."""


class Form:
    """What records have in common that differ in `VARYING` only."""

    __slots__ = ("event", "first", "places", "request", "session")

    def __init__(self, event: Event, places: Places) -> None:
        self.event = event
        """The first record of this form, which stands for the others."""
        self.first: dict[str | None, Ready] = {}
        """What that record is, by the server of the delivery."""
        self.places = places
        """Which of the varying values of a record are those of `VARYING`."""
        self.session = event.session
        self.request = None if event.request_id is None else event.request_id.encode()


class Ready(NamedTuple):
    """What the events of one form, client, version and tool have in common."""

    subject: Subject
    frame: Frame
    kind: int
    is_call: bool


class Session(NamedTuple):
    """A session id in the clear and its hash, which stands for it from here on."""

    text: str
    digest: str
    ascii: bytes
    """The hash once more, as the bytes that go into a key."""


Known = tuple[Ready, int, Session | None, bytes | None]
"""An event of a known form: (what it is, time in ns, session, request id). A plain tuple: one is made
for every event."""


class Print(NamedTuple):
    """What is looked for in a record, as it stands there."""

    fingerprint: tuple[Any, ...]
    """The places that hold something, in the order of the record's keys, each with its value but where
    records of one form differ."""
    values: list[Any]
    """What stands in the latter, in the same order."""


class _Node:
    """A place in a record, and the places below."""

    __slots__ = ("below", "fields", "inside", "json", "varies")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.fields: set[str] = set()
        self.json: set[str] = set()
        """Names of the profiles that look into a text that is here."""
        self.inside = object()
        """Stands in a fingerprint where an object is here, which is no value of this place."""
        self.varies = False


class Forms:
    """Remembers the forms of records. Threads may share it: the worst that can happen is that one
    of them reads what another has read too."""

    def __init__(self, profiles: Sequence[Profile], hasher: Hasher) -> None:
        self._hasher = hasher
        self._sessions: Recent[str, Session] = Recent(SESSIONS)
        self._root = _Node()
        self._ranks: dict[str, dict[str, list[_Node]]] = {}
        self._encoded = frozenset(each.name for each in profiles if each.headers)
        """Profiles whose texts are not read as they stand."""
        for profile in profiles:
            ranks = self._ranks.setdefault(profile.name, {})
            for field, paths in profile.paths.items():
                if field == "sent":
                    continue  # read only where there is no time, and without one no form is remembered
                nodes = [self._plant(path, field) for path in paths]
                if field in VARYING:
                    ranks.setdefault(field, []).extend(nodes)
            for path in profile.requires:
                self._plant(path)
            for path in profile.json:
                self._plant(path).json.add(profile.name)
        self._settle(self._root)
        self._known: Recent[tuple[Any, ...], Form] = Recent(FORMS)
        self._ready: Recent[tuple[object, ...], Ready] = Recent(READY)
        self._greetings = frozenset(tool for each in profiles for tool in each.greeting_tools)

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
        form = self._known[taken.fingerprint]
        if form is None:
            return None
        values = taken.values
        time, session, request, client, version, tool = form.places
        return form, (
            values[time],
            values[session] if session >= 0 else None,
            values[request] if request >= 0 else None,
            values[client] if client >= 0 else None,
            values[version] if version >= 0 else None,
            values[tool] if tool >= 0 else None,
        )

    def learn(self, taken: Print, event: Event) -> None:
        """Remember the form of a record that was read the long way."""
        if event.time_ns is None or event.profile in self._encoded:
            return
        if not (event.request_id is None or is_plain(event.request_id)):
            return
        found, values = taken
        nodes = [item for item in found if type(item) is _Node]
        if sum(node.fields == {"tool"} for node in nodes) > 1:
            return  # which profile counts may depend on which of them is blank
        if any(event.profile in node.json for node in nodes):
            return  # a value may come from within the text
        ranks = self._ranks[event.profile]
        places = [_place(ranks.get(field, ()), nodes) for field in VARYING]
        texts = sum(len(item) for item in found if type(item) is str)
        if texts <= _TEXTS and _agree(event, places, values):
            self._known.put(found, Form(event, cast(Places, tuple(places))))

    def known(
        self, form: Form, values: Varying, server: str | None, latest_ns: int
    ) -> Known | None:
        """
        Return the event that a record of *form* is whose varying values are *values*.

        None where they need a closer look: a time that is none or later than *latest_ns*, text that is
        not plain. *server* is the delivery's; where it names none, the record's own.
        """
        time, session, request, client, version, tool = values
        try:
            time_ns = parse_time(time)
        except BadTime:
            return None
        if not EARLIEST_NS <= time_ns <= latest_ns or time_ns >= LATEST_NS:
            return None
        ready = self.ready(form, server, client, version, tool)
        if ready is None:
            return None
        joined = None
        if session is not None or form.session is not None:
            joined = self.session(form.session if session is None else session)
            if joined is None:
                return None
        if type(request) is int:
            request = str(request)
        if request is None or is_plain(request):
            return ready, time_ns, joined, form.request if request is None else request.encode()
        return None

    def ready(
        self, form: Form, server: str | None, client: object, version: object, tool: object
    ) -> Ready | None:
        """
        Return what the records of a form are that hold these; None stands for one that is the same in
        all of them.

        None where one of them is no plain text.
        """
        try:
            found = self._ready[form, server, client, version, tool]
        except TypeError:  # a list where a text belongs
            return None
        return found or self._make_ready(form, server, client, version, tool)

    def _make_ready(
        self, form: Form, server: str | None, client: object, version: object, tool: object
    ) -> Ready | None:
        """Remember what the records of a form with these values are."""
        texts: dict[str, str] = {}
        for name, text in (("client", client), ("version", version), ("tool", tool)):
            if text is not None:
                if not is_plain(text):
                    return None
                texts[name] = text
        if tool in self._greetings:
            return None
        first = form.first.get(server)
        if first is None:
            first = form.first[server] = self._first(form.event, server)
        ready = Ready(
            varied_subject(first.subject, texts),
            first.frame.varied(texts),
            first.kind,
            first.is_call,
        )
        self._ready.put((form, server, client, version, tool), ready)
        return ready

    def _first(self, event: Event, server: str | None) -> Ready:
        """What the record is that a form was learnt from."""
        name = server_of(event, server)
        return Ready(
            subject_of(event, name, self._hasher),
            Frame.of(name, event, self._hasher),
            int(event.kind),
            event.kind in TOOL_KINDS,
        )

    def session(self, text: object) -> Session | None:
        """Return a session by its id; None where that is no plain text."""
        if type(text) is not str:
            return None
        found = self._sessions[text]
        if found is None and is_plain(text):
            digest = self._hasher.identity("session", text)
            found = Session(text, digest, digest.encode())
            self._sessions.put(text, found)
        return found

    def _plant(self, path: Path, field: str | None = None) -> _Node:
        node = self._root
        for key in path:
            node = node.below.setdefault(key, _Node())
        if field is not None:
            node.fields.add(field)
        return node

    def _settle(self, node: _Node) -> None:
        """A place varies where only a time, only a session, … is looked for in it, by any profile, or
        only that there is something: which places hold something, every fingerprint says."""
        only = len(node.fields) == 1 or not (node.fields or node.below)
        node.varies = only and node.fields <= {*VARYING}
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
        if type(value) is dict and node.below:
            found.append(node.inside)
            _fingerprint(node.below, value, found, values)
            continue
        found.append(node)
        if node.varies:
            values.append(value)
        elif type(value) is str:
            found.append(value)
        elif type(value) is dict:
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
    if places[0] < 0 or _UNCLEAR in places:
        return False
    read = (event.session, event.request_id, event.client, event.version, event.tool)
    for at, text in zip(places[1:], read, strict=True):
        if at >= 0 and (text is None or text_of(values[at]) != text):
            return False
    try:
        return parse_time(values[places[0]]) == event.time_ns
    except BadTime:
        return False


def is_plain(value: object) -> TypeGuard[str]:
    """Say whether a value is text that is read as it stands."""
    return (
        type(value) is str
        and 0 < len(value) <= _TEXT
        and value.isascii()
        and value.isprintable()
        and not value.isspace()
    )
