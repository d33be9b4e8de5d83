"""
What PostgreSQL calls the types of the columns that the hot path writes.

`schema` says the same to SQLAlchemy, which the hot path does without.
"""

from typing import Literal

PgType = Literal["int2", "int4", "int8", "text", "bool"]

COLUMNS: dict[str, dict[str, PgType]] = {
    "meta": {"name": "text", "value": "text"},
    "server": {"name": "text"},
    "source": {"server_id": "int4", "name": "text"},
    "batch": {"source_id": "int4", "kind": "text", "label": "text", "started_us": "int8"},
    "tally": {
        "batch_id": "int4",
        "day": "int4",
        "fate": "text",
        "reason": "text",
        "records": "int8",
    },
    "ledger": {"source_id": "int4", "hour": "int4", "batch_id": "int4", "lines": "int8"},
    "reject": {
        "batch_id": "int4",
        "arrived_us": "int8",
        "position": "int8",
        "reason": "text",
        "excerpt": "text",
        "whole": "bool",
    },
    "client": {"raw": "text", "key": "text", "name": "text", "via": "text", "version": "text"},
    "tool": {"name": "text"},
    "version": {"name": "text"},
    "caller": {"server_id": "int4", "level": "int2", "digest": "text", "network": "text"},
    "session": {
        "id": "int4",
        "server_id": "int4",
        "digest": "text",
        "hello_us": "int8",
        "hello_client_id": "int4",
        "hello_version_id": "int4",
        "named_us": "int8",
        "named_client_id": "int4",
        "first_us": "int8",
        "last_us": "int8",
        "unnamed": "int8",
    },
    "fact": {
        "server_id": "int4",
        "tool_id": "int4",
        "digest": "text",
        "last_release": "text",
        "replaced_by": "text",
        "message": "text",
    },
    "event": {
        "time_us": "int8",
        "key": "int8",
        "session_id": "int4",
        "kind": "int2",
        "server_id": "int4",
        "client_id": "int4",
        "caller_id": "int4",
        "tool_id": "int4",
        "version_id": "int4",
        "fact_id": "int4",
        "outcome": "int2",
        "counted": "int2",
        "source_id": "int4",
        "batch_id": "int4",
    },
    "event_extra": {
        "time_us": "int8",
        "key": "int8",
        "ns": "int2",
        "trigger": "text",
        "protocol_version": "text",
        "ttl_ms": "int8",
        "listed_count": "int8",
        "arrival": "int2",
    },
    "subject": {"server_id": "int4", "name": "text", "client": "text", "everyone": "int2"},
    "said": {
        "subject_id": "int4",
        "question": "text",
        "week_us": "int8",
        "word": "text",
        "strength": "text",
        "figures": "text",
    },
    "call_line": {"session_id": "int4", "request": "int8", "time_us": "int8", "key": "int8"},
    "arrival": {"key": "int8", "time_us": "int8"},
    "native": {"time_us": "int8", "key": "int8", "native_id": "int8", "ordinal": "int4"},
    "redelivery": {"batch_id": "int4", "time_us": "int8", "key": "int8"},
    "call_day": {
        "server_id": "int4",
        "tool_id": "int4",
        "kind": "int2",
        "day": "int4",
        "client_id": "int4",
        "calls": "int8",
        "first_us": "int8",
        "last_us": "int8",
    },
    "activity": {
        "server_id": "int4",
        "client_id": "int4",
        "kind": "int2",
        "quarter": "int4",
        "events": "int8",
    },
}
"""By table: the columns that are written, in that order; ids that the database gives are not."""
