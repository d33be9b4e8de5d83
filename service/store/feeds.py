"""Sources that have ended: their silence is no gap any more."""

import sqlalchemy as sa

from service.store import audit
from service.store.engine import Connection, driver_of
from service.store.schema import server, source
from service.store.writer import raise_data_version


def retire(
    conn: Connection,
    server_name: str,
    source_name: str,
    *,
    ended: bool,
    now_us: int,
    actor: str,
) -> bool:
    """
    Mark a source as ended now, or as going on.

    Returns:
        Whether there is such a source.
    """
    owner = sa.select(server.c.id).where(server.c.name == server_name).scalar_subquery()
    done = conn.execute(
        sa.update(source)
        .where(source.c.server_id == owner, source.c.name == source_name)
        .values(retired_us=now_us if ended else None)
    )
    if done.rowcount:
        written = driver_of(conn)
        detail = {"server": server_name, "source": source_name}
        action = "retire" if ended else "unretire"
        audit.record(written, now_us, actor, action, f"{server_name}/{source_name}", detail)
        raise_data_version(written)
    return done.rowcount > 0
