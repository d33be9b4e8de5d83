"""
A line like one that was read before is known by its bytes, and need not even be parsed.

Cut the time, the session and the other values in which records of one form differ out of a line: what is
left, the **skeleton**, is the same for every line that a logger writes of that form. The cuts lie inside of JSON strings or numbers,
so whatever stands there cannot change how the rest of the line is read, as long as it is plain.
"""

from collections.abc import Sequence
from typing import Final, cast

from service.ingest.forms import Form, Forms, Known, Places, Varying
from service.ingest.jsontext import loads
from service.ingest.needles import Search
from service.ingest.recent import Recent

SKELETONS: Final = 2_048
"""How many skeletons are remembered at least, and half of how many at most."""

_LONGEST: Final = 2_048
_ORDERS: Final = 4
_TRIES: Final = 4_096
_PAUSE: Final = 65_536
_QUOTE: Final = 0x22
_ZERO: Final = 0x30
_DIGITS: Final = 18

Order = tuple[tuple[bytes, bool, int], ...]
"""What stands before each cut, from `"` of its key on, in the order in which they stand in a line;
whether text is cut or a number; and the length of what stands before."""


class Alike:
    """Remembers skeletons. Threads may share it."""

    def __init__(self, forms: Forms, search: Search) -> None:
        self._forms = forms
        self._search = search
        self._orders: tuple[Order, ...] = ()
        self._known: Recent[bytes, tuple[Form, Places]] = Recent(SKELETONS)
        self._tries = self._hits = self._pause = 0

    def find(self, raw: bytes, server: str | None, latest_ns: int) -> Known | None:
        """Return what a line is, where one of the same skeleton was read before; *server* and
        *latest_ns* as in `Forms.known`."""
        if self._pause:
            self._pause -= 1
            return None
        self._tries += 1
        if self._tries >= _TRIES:
            self._take_stock()
        for order in self._orders:
            skeleton, cuts = cut(raw, order)
            known = self._known.get(skeleton)
            if known is not None:
                self._hits += 1
                form, (time, session, request, client, version, tool) = known
                try:
                    values = (
                        _value(cuts[time]),
                        None if session < 0 else _value(cuts[session]),
                        None if request < 0 else _value(cuts[request]),
                        None if client < 0 else _value(cuts[client]),
                        None if version < 0 else _value(cuts[version]),
                        None if tool < 0 else _value(cuts[tool]),
                    )
                except UnicodeDecodeError:
                    return None
                return self._forms.known(form, values, server, latest_ns)
        return None

    def learn(self, raw: bytes, form: Form, values: Varying) -> None:
        """
        Remember the skeleton of a line.

        *form* and *values* are what `Forms.find` says of the record that the line is.
        """
        if self._pause or len(raw) > _LONGEST or b"\0" in raw:
            return
        for order in self._orders:
            if self._remember(raw, order, form, values):
                return
        order = _order(raw, values)
        if order not in self._orders and self._remember(raw, order, form, values):
            kept = [each for each in self._orders if not _within(each, order)]
            self._orders = (order, *kept[: _ORDERS - 1])

    def _remember(self, raw: bytes, order: Order, form: Form, values: Varying) -> bool:
        """Remember the skeleton that an order of cuts leaves of a line, if it is a good one."""
        skeleton, cuts = cut(raw, order)
        places = _places(cuts, values)
        if places is None or not self._same_form(raw, order, form, places):
            return False
        self._known.put(skeleton, (form, places))
        return True

    def _same_form(self, raw: bytes, order: Order, form: Form, places: Places) -> bool:
        """Whether other text in the cuts gives the same form, with that text in the three places."""
        skeleton, cuts = cut(raw, order)
        others = [
            7_000_000 + n if isinstance(one, int) else b"other-%d" % n for n, one in enumerate(cuts)
        ]
        texts = [b"%d" % one if isinstance(one, int) else one for one in others]
        pieces = skeleton.split(b"\0")
        line = b"".join(a + b for a, b in zip(pieces, [*texts, b""], strict=True))
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
        return found[1] == tuple(None if place < 0 else _value(others[place]) for place in places)

    def _take_stock(self) -> None:
        """Where hardly a line is like another, stop looking for a while."""
        if self._hits * 8 < self._tries:
            self._pause = _PAUSE
        self._tries = self._hits = 0


def cut(raw: bytes, order: Order) -> tuple[bytes, list[bytes | int]]:
    """Return a line's skeleton (its pieces joined by NUL) and what was cut out: text as it stands
    between its quotes, or a whole number."""
    pieces: list[bytes] = []
    cuts: list[bytes | int] = []
    at = 0
    find = raw.find
    for prefix, quoted, length in order:
        start = find(prefix, at)
        if start < 0:
            continue
        start += length
        if quoted:
            end = find(b'"', start)
            if end < 0:
                continue
            cuts.append(raw[start:end])
        else:
            end = find(b",", start)
            digits = raw[start:end]
            if end < 0 or not digits.isdigit() or len(digits) > _DIGITS or digits[0] == _ZERO:
                continue
            cuts.append(int(digits))
        pieces.append(raw[at:start])
        at = end
    pieces.append(raw[at:])
    return b"\0".join(pieces), cuts


def _value(one: bytes | int) -> object:
    """
    Return what a parser reads where this was cut out; empty text where that needs a closer look.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
    """
    if type(one) is int:
        return one
    text = str(one, "utf-8")  # type: ignore[arg-type]
    return "" if "\\" in text else text


def _order(raw: bytes, values: Varying) -> Order:
    """What stands before *values* in a line; empty where one of them does not stand there plainly."""
    found = sorted(_before(raw, value) for value in values if value is not None)
    if not found or found[0][0] < 0:
        return ()
    return tuple((prefix, prefix.endswith(b'"'), len(prefix)) for _, prefix in found)


def _places(cuts: Sequence[bytes | int], values: Varying) -> Places | None:
    """Which cuts hold the varying values of a record; None where one of them was not cut out."""
    try:
        read = [_value(one) for one in cuts]
    except UnicodeDecodeError:
        return None
    places = [-1] * len(values)
    for n, value in enumerate(values):
        if value is not None:
            if value not in read:
                return None
            places[n] = read.index(value)
    return cast(Places, tuple(places))


def _before(raw: bytes, value: object) -> tuple[int, bytes]:
    """Where a value stands in a line, and what from `"` of its key on stands before it; (-1, b"")
    where it does not stand there plainly."""
    text = b'"%b"' % value.encode() if isinstance(value, str) else b"%d," % value  # type: ignore[str-format]
    at = raw.find(b":" + text)
    gap = b":"
    if at < 0:
        gap = b": "
        at = raw.find(gap + text)
    key = raw.rfind(b'"', 0, at - 1) if at > 1 else -1
    if key < 0 or raw[at - 1] != _QUOTE:
        return -1, b""
    return at, raw[key:at] + gap + (b'"' if isinstance(value, str) else b"")


def _within(some: Order, order: Order) -> bool:
    """Whether *some* are all among *order*, in the same order."""
    left = iter(order)
    return all(prefix in left for prefix in some)
