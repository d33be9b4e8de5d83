"""
Events made ready to be stored: identities hashed, text bounded, time split into µs and ns.
"""

from service import names
from service.events import Caller, CallerLevel, Event, Fact, Kind, Row
from service.ingest.keys import Hasher, network_of


def row_of(event: Event, *, server: str, key: int, now_us: int, hasher: Hasher) -> Row:
    """Make an event ready to be stored: identities hashed, text bounded, time split."""
    time_us, ns = divmod(event.time_ns, 1_000) if event.time_ns is not None else (now_us, 0)
    named = event.client is not None and names.read_client(event.client) is not None
    return Row(
        time_us=time_us,
        key=key,
        kind=event.kind,
        server=server,
        client=_bounded(event.client) if named else None,
        version=_bounded(event.version),
        tool=_bounded(event.tool),
        session=hasher.identity("session", event.session) if event.session else None,
        caller=caller_of(event, hasher),
        outcome=event.outcome,
        fact=_fact_of(event),
        request_id=_bounded(event.request_id),
        trigger=_bounded(event.trigger),
        protocol_version=_bounded(event.protocol_version),
        ttl_ms=event.ttl_ms,
        listed_count=event.listed_count,
        ns=ns,
        arrival=event.time_ns is None,
    )


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
