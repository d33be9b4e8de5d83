"""
Events made ready to be stored: identities hashed, text bounded, time split into µs and ns.
"""

from hashlib import blake2b
from typing import Final

from service import names
from service.events import TOOL_KINDS, Caller, CallerLevel, Event, Fact, Kind, Row, Subject
from service.ingest.keys import Hasher, network_of

DEFAULT_SERVER: Final = "default"
"""The server of records that neither their delivery nor a field of theirs names one for."""

_SIGN: Final = 1 << 63
_ZERO: Final = 0x30
_DIGITS: Final = 18
"""Decimal numbers of up to this many digits stand for themselves."""


def server_of(event: Event, given: str | None) -> str:
    """Return the server that an event belongs to: the delivery's, where that names one."""
    return given or names.bounded(event.server or DEFAULT_SERVER)


def row_of(event: Event, *, server: str, key: int, now_us: int, hasher: Hasher) -> Row:
    """Make an event ready to be stored; *now_us* is the time of one that has none of its own."""
    time_us, ns = divmod(event.time_ns, 1_000) if event.time_ns is not None else (now_us, 0)
    session = hasher.identity("session", event.session) if event.session else None
    request = None
    if session is not None and event.request_id is not None and event.kind in TOOL_KINDS:
        request = request_number(event.request_id.encode(errors="replace"))
    return (time_us, key, subject_of(event, server, hasher), session, request, ns)


def subject_of(event: Event, server: str, hasher: Hasher) -> Subject:
    """Return what an event says beside its time, session and request."""
    named = event.client is not None and names.read_client(event.client) is not None
    return Subject(
        kind=event.kind,
        server=server,
        client=_bounded(event.client) if named else None,
        version=_bounded(event.version),
        tool=_bounded(event.tool),
        caller=caller_of(event, hasher),
        outcome=event.outcome,
        fact=_fact_of(event),
        trigger=_bounded(event.trigger),
        protocol_version=_bounded(event.protocol_version),
        ttl_ms=event.ttl_ms,
        listed_count=event.listed_count,
        arrival=event.time_ns is None,
    )


def varied_subject(subject: Subject, texts: dict[str, str]) -> Subject:
    """Return a subject that says other plain *texts* for client, version or tool."""
    client = texts.get("client")
    named = client is not None and names.read_client(client) is not None
    return Subject(
        kind=subject.kind,
        server=subject.server,
        client=(client if named else None) if client is not None else subject.client,
        version=texts.get("version", subject.version),
        tool=texts.get("tool", subject.tool),
        caller=subject.caller,
        outcome=subject.outcome,
        fact=subject.fact,
        trigger=subject.trigger,
        protocol_version=subject.protocol_version,
        ttl_ms=subject.ttl_ms,
        listed_count=subject.listed_count,
        arrival=subject.arrival,
    )


def request_number(text: bytes) -> int:
    """
    Return the 64-bit number, signed, that stands for a request id in UTF-8.

    A decimal number of up to 18 digits stands for itself, any other text for a negative number made
    from its hash.

    >>> request_number(b"17"), request_number(b"017") < 0, request_number(b"req-17") < 0
    (17, True, True)
    """
    if text.isdigit() and len(text) <= _DIGITS and (text[0] != _ZERO or text == b"0"):
        return int(text)
    digest = blake2b(text, digest_size=8).digest()
    return (int.from_bytes(digest, "big") | _SIGN) - (_SIGN << 1)


def caller_of(event: Event, hasher: Hasher) -> Caller | None:
    """Return the most stable identity that the line gives; None where only its client is known."""
    if event.principal:
        digest = hasher.identity("principal", event.principal)
        return Caller(level=CallerLevel.PRINCIPAL, digest=digest)
    if event.address:
        address = hasher.identity("address", event.address)
        agent = event.user_agent
        network = network_of(event.address)
        return Caller(
            level=CallerLevel.ADDRESS,
            digest=hasher.identity("caller", f"{address} {agent}") if agent else address,
            network=hasher.identity("network", network) if network else None,
        )
    if event.stdio and event.pid:
        digest = hasher.identity("process", f"{event.hostname or ''}\0{event.pid}")
        return Caller(level=CallerLevel.PROCESS, digest=digest)
    return None


def _fact_of(event: Event) -> Fact | None:
    if event.kind is not Kind.STALE_CALL:
        return None
    if event.last_release is None and event.replaced_by is None and event.message is None:
        return None
    replaced = event.replaced_by
    return Fact(
        last_release=_bounded(event.last_release),
        replaced_by=None if replaced is None else tuple(names.bounded(name) for name in replaced),
        message=_bounded(event.message),
    )


def _bounded(text: str | None) -> str | None:
    return None if text is None else names.bounded(text)
