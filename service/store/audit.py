"""The audit, written: one line for whatever somebody told, changed or took back."""

import json
from collections.abc import Mapping

from service.store.driver import Connection

_COLUMNS = "INSERT INTO audit (at_us, actor, action, subject, detail) VALUES (?, ?, ?, ?, ?)"


def record(
    conn: Connection,
    at_us: int,
    actor: str,
    action: str,
    subject: str,
    detail: Mapping[str, object],
) -> None:
    """Add a line within the write transaction that *conn* has open; `detail` becomes JSON."""
    text = json.dumps(dict(detail), ensure_ascii=False, sort_keys=True)
    conn.run(_COLUMNS, (at_us, actor, action, subject, text))
