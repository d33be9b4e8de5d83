"""Who told, changed or took back what: one line each, never changed."""

import json
from typing import Any

from service.store.driver import Connection


def record(
    conn: Connection, at_us: int, actor: str, action: str, subject: str, detail: dict[str, Any]
) -> None:
    """Write one line within the write transaction that *conn* has open."""
    conn.run(
        "INSERT INTO audit (at_us, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (at_us, actor, action, subject, json.dumps(detail)),
    )
