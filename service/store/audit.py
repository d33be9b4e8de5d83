"""The audit: who told, changed or took back what, one line each, never changed."""

import json
from typing import Any

from service.store.driver import Connection


def record(
    conn: Connection, at_us: int, actor: str, action: str, subject: str, detail: dict[str, Any]
) -> None:
    """
    Write a line within the write transaction that *conn* has open.

    *actor* is the way it was said: `rest`, `command` or `page`. *detail* is kept as JSON.
    """
    conn.run(
        "INSERT INTO audit (at_us, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (at_us, actor, action, subject, json.dumps(detail, ensure_ascii=False, sort_keys=True)),
    )
