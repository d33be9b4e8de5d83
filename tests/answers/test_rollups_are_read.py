"""Whole UTC days are answered by the roll-up, and only those, where rows are not read anyway."""

import pytest
import sqlalchemy as sa

from service.answers.query import iso
from service.store.engine import Engine, writing
from service.store.schema import call_day
from tests.answers import world
from tests.answers.test_against_definitions import FALL, ask
from tests.answers.world import DAY


@pytest.mark.parametrize("collection", ["names", "servers", "series", "stopped"])
def test_a_cell_that_is_altered_by_hand_shows(engine: Engine, collection: str) -> None:
    """1,000 calls added to the cells of one whole day are in the sum; those of a cut day are not."""
    world.store(engine, world.random_rows(5, FALL, FALL + 3 * DAY))
    asked = {"since": iso(FALL + DAY // 2), "until": iso(FALL + 3 * DAY)}
    column = "value" if collection == "series" else "stale_calls"
    before = sum(row[column] for row in ask(engine, collection, **asked)["items"])

    with writing(engine) as connection:
        for day in (FALL // DAY, FALL // DAY + 1):
            cell = connection.execute(
                sa.select(call_day).where(call_day.c.day == day, call_day.c.kind == 1).limit(1)
            ).one()
            same = sa.and_(*(c == getattr(cell, c.name) for c in call_day.primary_key))
            connection.execute(call_day.update().where(same).values(calls=cell.calls + 1_000))

    after = sum(row[column] for row in ask(engine, collection, **asked)["items"])
    assert after == before + 1_000
