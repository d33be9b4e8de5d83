"""Sources that have ended: their silence is no gap any more."""

import sqlalchemy as sa

from service.store.engine import Connection, driver_of
from service.store.schema import server, source
from service.store.writer import raise_data_version


def retire(conn: Connection, *, server_name: str, source_name: str, at_us: int | None) -> bool:
    """
    Mark a source as ended at this instant, or (None) as going on.

    Returns:
        Whether there is such a source.
    """
    owner = sa.select(server.c.id).where(server.c.name == server_name).scalar_subquery()
    done = conn.execute(
        sa.update(source)
        .where(source.c.server_id == owner, source.c.name == source_name)
        .values(retired_us=at_us)
    )
    if done.rowcount:
        raise_data_version(driver_of(conn))
    return done.rowcount > 0
