"""As of an instant, a database says what one would that knows nothing later."""

import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.events import Row
from service.store.engine import Engine, reading
from service.store.read_cut import cut_at
from service.store.schema import event
from tests.store.rows import TIMES, some_rows
from tests.store.support import query, store, wipe


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=some_rows(), as_of_us=st.sampled_from(sorted(TIMES)))
def test_the_lines_that_count_are_those_that_would_have_counted_then(
    two_engines: tuple[Engine, Engine], rows: list[Row], as_of_us: int
) -> None:
    """Writing and reading agree on which line of a call stands for it."""
    whole, early = two_engines
    wipe(whole)
    wipe(early)
    store(whole, rows)
    store(early, [line for line in rows if line[0] < as_of_us])
    with reading(whole) as conn:
        counted = sa.select(event.c.key).where(
            event.c.time_us < as_of_us, cut_at(conn, as_of_us).counted()
        )
        keys = sorted(conn.scalars(counted))
    assert keys == [
        key for (key,) in query(early, "SELECT key FROM event WHERE counted = 1 ORDER BY key")
    ]
