"""Plans of roll-outs, read. There are few, so all of a server's are."""

import sqlalchemy as sa

from service.store.engine import Connection
from service.store.schema import plan, plan_unit
from service.told import Plan


def plans(connection: Connection, id_: int | None = None) -> list[Plan]:
    """Every plan, the oldest first, or the one of that number; withdrawn ones too."""
    kept = sa.select(plan).order_by(plan.c.id)
    units = sa.select(plan_unit).order_by(plan_unit.c.client)
    if id_ is not None:
        kept, units = kept.where(plan.c.id == id_), units.where(plan_unit.c.plan_id == id_)
    waves: dict[int, dict[str, int]] = {}
    for unit in connection.execute(units):
        waves.setdefault(unit.plan_id, {})[unit.client] = unit.wave
    return [
        Plan(
            id=row.id,
            server=row.server,
            key=bytes.fromhex(row.key),
            wave_1_us=row.wave_1_us,
            wave_2_us=row.wave_2_us,
            note=row.note,
            made_us=row.made_us,
            actor=row.actor,
            waves=waves.get(row.id, {}),
            withdrawn_us=row.withdrawn_us,
        )
        for row in connection.execute(kept)
    ]
