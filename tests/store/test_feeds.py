"""A feed that has ended is silent for good, and that is no gap."""

from service import answers
from service.answers import Moment, Query
from service.answers.query import only
from service.store import feeds
from service.store.engine import Engine, writing
from service.store.engine import reading as reading_from
from tests.store.support import DAY, NOON, query, row, store

HOURS = NOON // (DAY // 24)


def gap_count(engine: Engine) -> int:
    """Gaps of server `main`, asked a month after its last line."""
    with reading_from(engine) as connection:
        found = answers.coverage(connection, Query(server=only("main")), Moment(NOON + 50 * DAY))
    return found.coverage.gap_count


def retire(engine: Engine, source: str, now_us: int = NOON, *, ended: bool = True) -> bool:
    with writing(engine) as connection:
        return feeds.retire(connection, "main", source, ended=ended, now_us=now_us, actor="command")


def test_a_feed_that_has_ended_leaves_no_gap_and_may_go_on_again(engine: Engine) -> None:
    """Twenty days of lines, then nothing: a gap, unless somebody says that it has ended."""
    store(engine, [row(1)], hours={HOURS + hour: 1 for hour in range(20 * 24)})

    assert gap_count(engine) == 1
    assert retire(engine, "files", NOON + 21 * DAY)
    assert gap_count(engine) == 0
    assert retire(engine, "files", NOON + 22 * DAY, ended=False)
    assert gap_count(engine) == 1
    assert query(engine, "SELECT at_us, actor, action, subject FROM audit ORDER BY id") == [
        (NOON + 21 * DAY, "command", "retire", "main/files"),
        (NOON + 22 * DAY, "command", "unretire", "main/files"),
    ]


def test_a_feed_that_nobody_knows_cannot_end(engine: Engine) -> None:
    """A misspelt name is told, and changes nothing."""
    store(engine, [row(1)], hours={HOURS: 1})

    assert not retire(engine, "flies")
    assert query(engine, "SELECT * FROM audit") == []
