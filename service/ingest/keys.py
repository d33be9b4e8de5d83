"""
Keys that make an event count exactly once, and hashes that stand for identities.

The key of an event is 64 bits of a keyed hash over its server, time in nanoseconds, kind, key
fields in canonical form and ordinal; see the decision on exactly-once in the documents. What goes
into the hash is frozen: stored keys cannot be computed again from rows.
"""

import ipaddress
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from service.events import Event, Kind

WINDOW: Final = 10_000
"""Equal records farther apart than this many recognised records of their kind count once."""

IDENTITIES: Final = frozenset({"session", "principal", "address"})
"""Key fields that enter the key, and the database, as hashes only."""

HASH_PREFIX: Final = "lastcall-hash:"
"""Stands before the hash that replaces an identity in quarantine."""

PAGE: Final = 512
"""Records of a kind on one page of the saved ordinals."""

Pages = dict[tuple[int, int], bytes]
"""By kind and number of the page: its records' digests and ordinals."""

_NUMBERED: Final = struct.Struct("<8sI")
_REMEMBERED: Final = 8_192
_REMEMBERED_LENGTH: Final = 256
_HASHED: Final = re.compile(re.escape(HASH_PREFIX) + r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The two secrets of a database, each 16 to 64 bytes: never rotated, part of every back-up."""

    key: bytes
    identity: bytes


def identity(secrets: Secrets, kind: str, text: str) -> str:
    """
    Return the hash (32 hex digits) that stands for an identity of a kind of at most 16 bytes.

    Equal text of two kinds (a session and an address) gives two hashes.
    """
    return blake2b(
        text.encode(errors="replace"), digest_size=16, key=secrets.identity, person=kind.encode()
    ).hexdigest()


class Hasher:
    """
    Hashes identities with a database's secrets, and remembers the latest of them.

    With `replay`, text that stands for a hash in quarantine is that hash; records from outside
    must never be able to claim one.
    """

    def __init__(self, secrets: Secrets, *, replay: bool = False) -> None:
        self.secrets = secrets
        self._replay = replay
        self._known: dict[tuple[str, str], str] = {}

    def identity(self, kind: str, text: str) -> str:
        """Return the hash (32 hex digits) that stands for an identity of this kind."""
        known = self._known.get((kind, text))
        if known is not None:
            return known
        if self._replay and _HASHED.fullmatch(text):
            digest = text.removeprefix(HASH_PREFIX)
        else:
            digest = identity(self.secrets, kind, text)
        if len(text) <= _REMEMBERED_LENGTH:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[kind, text] = digest
        return digest


def network_of(address: str) -> str | None:
    """
    Return the /24 (IPv4) or /48 (IPv6) that an address lies in, or None where it is no address.

    A port, brackets, a zone index and IPv4 mapped into IPv6 are seen through.

    >>> network_of("203.0.113.77:51234")
    '203.0.113.0/24'
    >>> network_of("[2001:db8:1:2::7]:443")
    '2001:db8:1::/48'
    """
    bare = address.strip()
    if bracketed := re.fullmatch(r"\[([^\]]*)\](?::\d+)?", bare):
        bare = bracketed[1]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is None:
            return str(ipaddress.ip_network((parsed, 48), strict=False))
        parsed = parsed.ipv4_mapped
    return str(ipaddress.ip_network((parsed, 24), strict=False))


class _Ordinals:
    """Counts equal records of one kind over the last `WINDOW` records of it, in bounded memory."""

    __slots__ = ("_current", "_previous", "_records")

    def __init__(self) -> None:
        self._records = 0
        self._current: dict[bytes, tuple[int, int]] = {}
        self._previous: dict[bytes, tuple[int, int]] = {}

    def next(self, digest: bytes) -> int:
        """Return the ordinal of one more record: 0 for the first of its equals in the window."""
        at = self._records
        if at % WINDOW == 0:
            self._previous, self._current = self._current, {}
        self._records = at + 1
        seen = self._current.get(digest) or self._previous.get(digest)
        ordinal = seen[1] + 1 if seen is not None and at - seen[0] <= WINDOW else 0
        self._current[digest] = (at, ordinal)
        return ordinal


class _Saved(_Ordinals):
    """
    Ordinals that are saved as they are given, in pages, and gone on with from there.

    Only what lies within the window counts, so the pages before it can be forgotten.
    """

    __slots__ = ("fresh",)

    def __init__(self, pages: Mapping[int, bytes], *, copied: bool) -> None:
        super().__init__()
        self.fresh: dict[int, bytearray] = {}
        """The pages that changed since they were last saved, and the last one as far as it goes."""
        if not pages:
            return
        last = max(pages)
        self.fresh = {at: bytearray(pages[at]) for at in (pages if copied else [last])}
        self._records = last * PAGE + len(pages[last]) // _NUMBERED.size
        turned = (self._records - 1) // WINDOW * WINDOW
        for page in sorted(pages):
            for at, (digest, ordinal) in enumerate(_NUMBERED.iter_unpack(pages[page]), page * PAGE):
                known = self._previous if at < turned else self._current
                known[digest] = (at, ordinal)

    @property
    def oldest(self) -> int:
        """The page before which none is needed."""
        return max(self._records - WINDOW, 0) // PAGE

    def next(self, digest: bytes) -> int:
        """Return the ordinal of one more record, and note it."""
        page = self._records // PAGE
        ordinal = super().next(digest)
        noted = self.fresh.get(page)
        if noted is None:
            noted = self.fresh[page] = bytearray()
        noted += _NUMBERED.pack(digest, ordinal)
        return ordinal

    def settle(self) -> None:
        """Take what was noted for saved; the last page stays, for it may grow."""
        if self.fresh:
            last = max(self.fresh)
            self.fresh = {last: self.fresh[last]}


class Delivery:
    """
    One request, one stdin stream or one pass over a file: within it equal records are numbered.

    Records are to be handed over in the order in which they stand in the delivery.
    """

    def __init__(self, hasher: Hasher, body: bytes | None = None) -> None:
        """*body* is the whole decompressed body of a request; a file or stream has none."""
        self._hasher = hasher
        self._secret = hasher.secrets.key
        self._keyed = blake2b(digest_size=8, key=self._secret)
        self._ordinals: Mapping[int, _Ordinals] = {int(kind): _Ordinals() for kind in Kind}
        self._chained = body is None
        self._fingerprint = self._hash(b"" if body is None else body, 16)

    @property
    def fingerprint(self) -> bytes:
        """
        What tells this delivery's records without a time from another's: of a request the hash of
        its body, of a file or stream a hash over the time-less records so far.
        """
        return self._fingerprint

    def varied_key(self, frame: bytes, kind: int) -> int:
        """
        Return the key of the next event of this delivery, given what `Frame.fill` made for it.

        It is the key that `key` gives the same event.
        """
        hashing = self._keyed.copy()
        hashing.update(frame)
        digest = hashing.digest()
        if ordinal := self._ordinals[kind].next(digest):
            digest = self._hash(b"%b#%d" % (frame, ordinal), 8)
        return int.from_bytes(digest, "big", signed=True)

    def numbered(self, server: str, event: Event) -> Callable[[int], int]:
        """
        Return the keys of an event that has a native id and a time: that of the first of its equals, of
        the second, … Which one it is, the ids that are stored say.
        """
        frame = _frame(server, event, self._hasher)

        def key(ordinal: int) -> int:
            return _signed(self._hash(b"%b#%d" % (frame, ordinal) if ordinal else frame, 8))

        return key

    def native(self, native_id: str) -> int:
        """Return the signed 64-bit number that stands for a native id."""
        text = native_id.encode(errors="replace")
        return _signed(blake2b(text, digest_size=8, key=self._secret, person=b"native").digest())

    def key(self, server: str, event: Event, position: int) -> int:
        """
        Return the signed 64-bit key of the next event of this delivery.

        *position* is the event's 0-based place among the delivery's records; it matters only where
        the event has no time of its own.
        """
        frame = _frame(server, event, self._hasher)
        if event.time_ns is None:
            if self._chained:
                self._fingerprint = self._hash(self._fingerprint + frame, 16)
            place = b"arrival,%d,%b," % (position, self._fingerprint.hex().encode())
            return _signed(self._hash(place + server.encode(errors="surrogatepass"), 8))
        digest = self._hash(frame, 8)
        if ordinal := self._ordinals[int(event.kind)].next(digest):
            digest = self._hash(b"%b#%d" % (frame, ordinal), 8)
        return _signed(digest)

    def _hash(self, data: bytes, size: int) -> bytes:
        return blake2b(data, digest_size=size, key=self._secret).digest()


class Continued(Delivery):
    """A delivery that comes in pieces and is gone on with later, also by another process."""

    def __init__(
        self,
        hasher: Hasher,
        chain: bytes = b"",
        pages: Pages | None = None,
        *,
        copied: bool = False,
    ) -> None:
        """
        Go on with a delivery.

        Args:
            hasher: As for every delivery.
            chain: Its `fingerprint` as the last piece left it.
            pages: Its `pages` that were saved.
            copied: They were those of another delivery that began alike, and are to be saved again.
        """
        super().__init__(hasher)
        self._fingerprint = chain or self._fingerprint
        by_kind: dict[int, dict[int, bytes]] = {int(kind): {} for kind in Kind}
        for (kind, number), page in (pages or {}).items():
            by_kind[kind][number] = page
        self._saved = {kind: _Saved(own, copied=copied) for kind, own in by_kind.items()}
        self._ordinals = dict(self._saved)

    @property
    def pages(self) -> Pages:
        """The pages of ordinals that may have changed since `settle`."""
        return {
            (kind, number): bytes(page)
            for kind, saved in self._saved.items()
            for number, page in saved.fresh.items()
        }

    @property
    def oldest(self) -> dict[int, int]:
        """By kind, the number of the page before which none is needed any more."""
        return {kind: saved.oldest for kind, saved in self._saved.items()}

    def settle(self) -> None:
        """Take `pages` for saved."""
        for saved in self._saved.values():
            saved.settle()


def _frame(server: str, event: Event, hasher: Hasher) -> bytes:
    """Every text stands behind its length and the fields behind their number, so that no two events
    share a frame and no frame begins another."""
    frame = f"{len(server)}:{server},{event.time_ns},{int(event.kind)},{len(event.key_fields)}"
    for name, text in event.key_fields:
        if name in IDENTITIES:
            text = hasher.identity(name, text)
        frame += f",{name}={len(text)}:{text}"
    return frame.encode(errors="surrogatepass")


class Frame:
    """
    What is hashed into the keys of events that differ in time, session and request only.

    Where the event has no session or request, or its profile does not count them, nothing is filled in.
    """

    __slots__ = ("_pattern", "_pieces", "_request", "_session")

    def __init__(self, pieces: dict[str, bytes]) -> None:
        """*pieces* are patterns, by the field that each stands for."""
        self._pieces = pieces
        self._pattern = b"".join(pieces.values())
        self._request = "request_id" in pieces
        self._session = "session" in pieces

    @classmethod
    def of(cls, server: str, event: Event, hasher: Hasher) -> "Frame":
        """Return the frame of events like this one."""
        fields = event.key_fields
        head = b"%%d,%d,%d" % (int(event.kind), len(fields))
        pieces = {"": _escaped(f"{len(server)}:{server},") + head}
        for name, text in fields:
            if name in ("request_id", "session"):  # in this order: fields are sorted
                pieces[name] = b"," + name.encode() + b"=%d:%b"
            else:
                said = hasher.identity(name, text) if name in IDENTITIES else text
                pieces[name] = _piece(name, said)
        return cls(pieces)

    def varied(self, texts: dict[str, str]) -> "Frame":
        """Return the frame of events that differ in some fields, which are no identities."""
        changed = {name: _piece(name, text) for name, text in texts.items() if name in self._pieces}
        return Frame(self._pieces | changed)

    def fill(self, time_ns: int, session: bytes | None, request: bytes | None) -> bytes:
        """Return the bytes for one event; *session* is the hash of its session, in hex."""
        if self._session:
            if self._request:
                return self._pattern % (time_ns, len(request), request, len(session), session)  # type: ignore[arg-type]
            return self._pattern % (time_ns, len(session), session)  # type: ignore[arg-type]
        if self._request:
            return self._pattern % (time_ns, len(request), request)  # type: ignore[arg-type]
        return self._pattern % time_ns


def _piece(name: str, text: str) -> bytes:
    return _escaped(f",{name}={len(text)}:{text}")


def _escaped(text: str) -> bytes:
    return text.encode(errors="surrogatepass").replace(b"%", b"%%")


def _signed(digest: bytes) -> int:
    return int.from_bytes(digest, "big", signed=True)
