"""Events in the flat form in which tests tell them."""

from dataclasses import dataclass

from service.events import TOOL_KINDS, Caller, Fact, Kind, Outcome, Row, Subject
from service.ingest.rows import request_number


@dataclass(frozen=True, kw_only=True)
class Told:
    """One event with all that it says; `row` is what the store takes."""

    time_us: int
    key: int
    kind: Kind
    server: str
    client: str | None = None
    version: str | None = None
    tool: str | None = None
    session: str | None = None
    caller: Caller | None = None
    outcome: Outcome | None = None
    fact: Fact | None = None
    request_id: str | None = None
    trigger: str | None = None
    protocol_version: str | None = None
    ttl_ms: int | None = None
    listed_count: int | None = None
    ns: int = 0

    def row(self) -> Row:
        """The event as it is stored."""
        request = None
        if self.request_id is not None and self.session is not None and self.kind in TOOL_KINDS:
            request = request_number(self.request_id.encode())
        subject = Subject(
            kind=self.kind,
            server=self.server,
            client=self.client,
            version=self.version,
            tool=self.tool,
            caller=self.caller,
            outcome=self.outcome,
            fact=self.fact,
            trigger=self.trigger,
            protocol_version=self.protocol_version,
            ttl_ms=self.ttl_ms,
            listed_count=self.listed_count,
        )
        return self.time_us, self.key, subject, self.session, request, self.ns
