"""
A line like one that was read before is known by its bytes, and need not even be parsed.

Cut a line at its quotes, and take out the parts that hold the time, the session and the other values in
which records of one form differ: what is left, the **skeleton**, is the same for every line that a logger
writes of that form. What is taken out is a whole JSON string or a whole number, so whatever stands there
cannot change how the rest of the line is read, as long as it is plain.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, cast

from service.ingest.forms import Form, Forms, Known, Ready, Session, Varying, is_plain
from service.ingest.jsontext import loads
from service.ingest.needles import Search
from service.ingest.recent import Recent
from service.ingest.times import EARLIEST_NS, LATEST_NS, parse_time

SKELETONS: Final = 2_048
"""How many skeletons are remembered at least, and half of how many at most."""

READY: Final = 16_384
"""How many pairs of a form and a client, version and tool are remembered at least."""

SESSIONS: Final = 16_384
"""How many sessions are remembered at least."""

_LONGEST: Final = 2_048
_ORDERS: Final = 4
_TRIES: Final = 4_096
_PAUSE: Final = 65_536
_DIGITS: Final = 18
_ABSENT: Final = 0
"""The part before a line's first quote, which is never a value."""

Cut = tuple[bytes, bytes, bytes, bytes, bytes, bytes]
"""What stands in a line in the places of an order."""


class Order(NamedTuple):
    """Which parts of a line, cut at its quotes, are taken out."""

    places: tuple[int, ...]
    """Those that hold `VARYING`; `_ABSENT` where a form has none."""
    pick: Callable[[Sequence[bytes]], Cut]
    """Gets them."""
    texts: tuple[int, ...]
    """The ones that are strings, which end with the part."""
    numbers: tuple[int, ...]
    """The ones that are numbers, of which the part is `:17,`: time and request id can be."""


class _Skeleton(NamedTuple):
    """What the lines are that leave the same when an order is taken out of them."""

    order: Order
    form: Form
    session: Session | None
    """Of all the lines, where it is not taken out."""


class Alike:
    """Remembers skeletons. Threads may share it."""

    def __init__(self, forms: Forms, search: Search) -> None:
        self._forms = forms
        self._search = search
        self._orders: dict[int, tuple[Order, ...]] = {}
        """By the number of parts."""
        self._known: Recent[bytes, _Skeleton] = Recent(SKELETONS)
        self._ready: Recent[tuple[Form, str | None, bytes, bytes, bytes], Ready] = Recent(READY)
        self._sessions: Recent[bytes, Session] = Recent(SESSIONS)
        self._tries = self._misses = self._pause = 0

    def find(self, raw: bytes, server: str | None, latest_ns: int) -> Known | None:
        """Return what a line is, where one of the same skeleton was read before and it is plain;
        *server* and *latest_ns* as in `Forms.known`."""
        if self._pause:
            self._pause -= 1
            return None
        self._tries += 1
        if self._tries >= _TRIES:
            self._take_stock()
        parts = raw.split(b'"')
        for order in self._orders.get(len(parts), ()):
            cut = order.pick(parts)
            for place in order.texts:
                parts[place] = b""
            for place in order.numbers:
                parts[place] = b":,"
            known = self._known[b'"'.join(parts)]
            if known is not None and known.order is order:
                return self._event(known, cut, server, latest_ns)
            parts = raw.split(b'"')
        self._misses += 1
        return None

    def learn(self, raw: bytes, form: Form, values: Varying) -> None:
        """
        Remember the skeleton of a line.

        *form* and *values* are what `Forms.find` says of the record that the line is.
        """
        if self._pause or len(raw) > _LONGEST:
            return
        parts = raw.split(b'"')
        orders = self._orders.get(len(parts), ())
        order = _order(parts, values)
        if order is None:
            return
        order = next((each for each in orders if each[::2] == order[::2]), order)
        if not self._same_form(parts, order, form):
            return
        for place in order.texts:
            parts[place] = b""
        for place in order.numbers:
            parts[place] = b":,"
        session = None if form.session is None else self._forms.session(form.session)
        self._known.put(b'"'.join(parts), _Skeleton(order, form, session))
        if order not in orders:
            self._orders[len(parts)] = (order, *orders[: _ORDERS - 1])

    def _event(
        self, known: _Skeleton, cut: Cut, server: str | None, latest_ns: int
    ) -> Known | None:
        """Return the event of a line with this skeleton; None where it needs a closer look."""
        order, form, joined = known
        time, session, request, client, version, tool = cut
        try:
            if order.numbers:
                if order.places[0] in order.numbers:
                    time_ns = parse_time(_number(time))
                else:
                    time_ns = parse_time(str(time, "ascii"))
                if order.places[2] in order.numbers:
                    request = b"%d" % _number(request)
            else:
                time_ns = parse_time(str(time, "ascii"))
        except ValueError:
            return None
        if not EARLIEST_NS <= time_ns <= latest_ns or time_ns >= LATEST_NS:
            return None
        ready = self._ready[form, server, client, version, tool]
        if ready is None:
            ready = self._make_ready(known, server, client, version, tool)
            if ready is None:
                return None
        if order.places[1]:
            joined = self._sessions[session] or self._session(session)
            if joined is None:
                return None
        if not order.places[2]:
            return ready, time_ns, joined, form.request
        if (request.isalnum() and len(request) <= _DIGITS) or _text(request) is not None:
            return ready, time_ns, joined, request
        return None

    def _make_ready(
        self, known: _Skeleton, server: str | None, client: bytes, version: bytes, tool: bytes
    ) -> Ready | None:
        """Remember what lines are that hold these; None where one is no plain text."""
        *_, client_at, version_at, tool_at = known.order.places
        texts: list[str | None] = []
        for place, said in ((client_at, client), (version_at, version), (tool_at, tool)):
            texts.append(_text(said) if place else None)
            if place and texts[-1] is None:
                return None
        ready = self._forms.ready(known.form, server, *texts)
        if ready is not None:
            self._ready.put((known.form, server, client, version, tool), ready)
        return ready

    def _session(self, said: bytes) -> Session | None:
        """Remember a session; None where its id is no plain text."""
        text = _text(said)
        found = None if text is None else self._forms.session(text)
        if found is not None:
            self._sessions.put(said, found)
        return found

    def _same_form(self, parts: Sequence[bytes], order: Order, form: Form) -> bool:
        """Whether other values in the same places give the same form, and are what varies in it."""
        others = list(parts)
        values: dict[int, object] = {}
        for place in order.texts:
            values[place] = f"other-{place}"
            others[place] = b"other-%d" % place
        for place in order.numbers:
            number = values[place] = 7_000_000 + place
            others[place] = b":%d," % number
        line = b'"'.join(others)
        if not self._search.within(line):
            return False
        try:
            record = loads(line)
        except ValueError:
            return False
        taken = self._forms.read(record) if isinstance(record, dict) else None
        found = self._forms.find(taken) if taken is not None else None
        if found is None or found[0] is not form:
            return False
        return found[1] == tuple(values.get(place) for place in order.places)

    def _take_stock(self) -> None:
        """Where hardly a line is like another, stop looking for a while."""
        if (self._tries - self._misses) * 8 < self._tries:
            self._pause = _PAUSE
        self._tries = self._misses = 0


def _order(parts: Sequence[bytes], values: Varying) -> Order | None:
    """Where *values* stand in a line; None where one of them does not stand there plainly."""
    places = []
    numbers = []
    for at, value in enumerate(values):
        place = _ABSENT
        if isinstance(value, str):
            place = _where(parts, value)
        elif value is not None:
            if isinstance(value, bool) or not isinstance(value, int) or at not in (0, 2):
                return None
            text = b":%d," % value
            place = parts.index(text) if text in parts else _ABSENT
            numbers.append(place)
        if value is not None and not place:
            return None
        places.append(place)
    present = set(places) - {_ABSENT}
    if not places[0] or len(present) < len(places) - places.count(_ABSENT):
        return None
    return Order(
        tuple(places),
        cast(Callable[[Sequence[bytes]], Cut], itemgetter(*places)),
        tuple(sorted(present.difference(numbers))),
        tuple(numbers),
    )


def _where(parts: Sequence[bytes], value: str) -> int:
    """Which part is a text that is the value of a key."""
    text = value.encode(errors="replace")
    for at in range(3, len(parts), 2):
        if parts[at] == text and parts[at - 1].strip() == b":":
            return at
    return _ABSENT


def _number(part: bytes) -> int:
    """
    Read a part such as `:17,`.

    Raises:
        ValueError: It is no whole number, or is written in another way.
    """
    digits = part[1:-1]
    if part[:1] != b":" or part[-1:] != b"," or not digits.isdigit() or len(digits) > _DIGITS:
        raise ValueError(part)
    if digits[0] == ord("0") and len(digits) > 1:
        raise ValueError(part)
    return int(digits)


def _text(part: bytes) -> str | None:
    """Read what stands between two quotes, where it is plain text and nothing in it is escaped."""
    text = str(part, "ascii", "replace")
    return text if is_plain(text) and "\\" not in text else None
