"""
Numbers by which people and the audit name a row: none is given twice, also not that of a row that is gone, so
that whoever asks twice to take one back cannot meet another. PostgreSQL sees to that itself.
"""

from service.store.dialect import insert_many, new_ids
from service.store.driver import Connection

ACCEPTED = "accepted_"
"""Begins the name in `meta` of how many lines a server brought anew; its id follows."""
_NEXT = """
SELECT max(coalesce((SELECT max(id) FROM {table}), 0),
           coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'last_{table}'), 0)) + 1
"""
_GREATER = """
ON CONFLICT (name) DO UPDATE SET value = excluded.value
WHERE CAST(meta.value AS BIGINT) < CAST(excluded.value AS BIGINT)
"""


def new_number(conn: Connection, table: str) -> int:
    """A number that no row of *table* has or had."""
    if not conn.embedded:
        return new_ids(conn, table, 1)[0]
    [(number,)] = conn.rows(_NEXT.format(table=table))
    return int(number)


def keep_number(conn: Connection, table: str) -> None:
    """To be called before rows of *table* are deleted: remember the greatest number there is."""
    if conn.embedded:
        [(greatest,)] = conn.rows(f"SELECT coalesce(max(id), 0) FROM {table}")
        insert_many(conn, "meta", [(f"last_{table}", str(greatest))], conflict=_GREATER)
