"""
Everything of one database into another, as when a SQLite file is moved to PostgreSQL.

The secrets go with it, so keys stay: lines that are sent again are duplicates there, too.
"""

import sqlalchemy as sa

from service.errors import LastCallError
from service.store import schema
from service.store.engine import Connection, Engine, reading, writing

_ROWS_AT_ONCE = 1_000
_NUMBERED = ("batch", "exclusion", "mark", "note")
"""Tables whose numbers are never given twice; see `numbers`."""


def copy(source: Engine, target: Engine) -> int:
    """
    Copy every row of *source*, one snapshot of it, into *target*, in one transaction.

    Both must have the schema of this version. What is written to the source meanwhile is not copied.

    Returns:
        How many rows were copied, but for those of `meta`.

    Raises:
        LastCallError: The target holds something already.
        Busy, StorageUnavailable: One of them cannot be used.
    """
    tables = [table for table in schema.metadata.sorted_tables if table is not schema.meta]
    with reading(source) as given, writing(target) as taking:
        for table in tables:
            if taking.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
                raise LastCallError(
                    f"the target holds rows already (table {table.name}); copy into an empty database: "
                    "a new one, after `lastcall db upgrade`"
                )
        taking.execute(schema.meta.delete())
        _rows(given, taking, schema.meta)
        copied = sum(_rows(given, taking, table) for table in tables)
        for table in tables:
            if "id" in table.c:
                _number_on(taking, table, _greatest(given, table))
    return copied


def _rows(given: Connection, taking: Connection, table: sa.Table) -> int:
    """Copy the rows of one table, some in memory at a time; returns how many."""
    copied = 0
    with given.execute(sa.select(table), execution_options={"yield_per": _ROWS_AT_ONCE}) as found:
        for part in found.mappings().partitions():
            taking.execute(table.insert(), [dict(row) for row in part])
            copied += len(part)
    return copied


def _greatest(given: Connection, table: sa.Table) -> int:
    """The greatest id that a row of *table* has, or, where that is known, had; 0 for none."""
    there = int(given.scalar(sa.select(sa.func.max(table.c.id))) or 0)
    if given.dialect.name == "postgresql":
        sequence = given.scalar(sa.select(sa.func.pg_get_serial_sequence(table.name, "id")))
        # The name is PostgreSQL's own, of a table of ours. Without a call yet it is 1, and not called.
        last = given.execute(sa.text(f"SELECT last_value, is_called FROM {sequence}")).one()
        return max(there, last.last_value if last.is_called else 0)
    kept = given.scalar(
        sa.select(schema.meta.c.value).where(schema.meta.c.name == f"last_{table.name}")
    )
    return max(there, int(kept or 0))


def _number_on(taking: Connection, table: sa.Table, greatest: int) -> None:
    """See to it that the next row of *table* gets a number above *greatest*."""
    if not greatest:
        return
    if taking.dialect.name == "postgresql":
        sequence = sa.func.pg_get_serial_sequence(table.name, "id")
        taking.execute(sa.select(sa.func.setval(sequence, greatest)))
    elif table.name in _NUMBERED:
        name = f"last_{table.name}"
        taking.execute(schema.meta.delete().where(schema.meta.c.name == name))
        taking.execute(schema.meta.insert().values(name=name, value=str(greatest)))
