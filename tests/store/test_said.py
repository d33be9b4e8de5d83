"""The weekly log, stored: once, for good, and gone with whom it was about."""

import pytest

from service.said import Question, Saying, Subject
from service.store import forget, read_said, undo
from service.store import said as store_said
from service.store.engine import Engine, driver_of, reading, writing
from tests.store.support import DAY, NOON, query, row, store

MONDAY = 1_791_158_400_000_000
"""2026-10-05T00:00:00Z."""
WEEK = 7 * DAY
WORDS = "SELECT b.name, b.client, w.word FROM said AS w JOIN subject AS b ON b.id = w.subject_id ORDER BY 1, 2, 3"


def saying(word: str, name: str | None, client: str | None, server: str = "main") -> Saying:
    return Saying(
        Subject(server, name, client), word, None, {"probability": 0.5, "wait_days": None}
    )


def keep(engine: Engine, *sayings: Saying, week: int = MONDAY, written: int = NOON) -> bool:
    with writing(engine) as conn:
        return store_said.keep(driver_of(conn), Question.STOPPED, week, sayings, written_us=written)


def version(engine: Engine) -> int:
    [(value,)] = query(engine, "SELECT value FROM meta WHERE name = 'data_version'")
    return int(value)


def test_a_week_is_said_once_whoever_asks_again(engine: Engine) -> None:
    """The second of two services keeps nothing of it, not even whom the first did not speak of."""
    store(engine, [row(1)])
    before = version(engine)
    assert keep(engine, saying("stopped", "old", None))
    assert version(engine) == before + 1
    assert not keep(engine, saying("still calling", "old", None), saying("stopped", "new", None))
    assert keep(engine, saying("stopped", "old", None), week=MONDAY + WEEK, written=NOON + WEEK)

    assert version(engine) == before + 2
    assert query(engine, WORDS) == [("old", "", "stopped")] * 2
    assert query(engine, "SELECT count(*) FROM subject") == [(1,)]
    with reading(engine) as conn:
        looks = read_said.looks(conn)
    assert looks == {
        Question.EFFECT: {},
        Question.STOPPED: {MONDAY: NOON, MONDAY + WEEK: NOON + WEEK},
    }


def test_everyone_a_client_and_nobody_are_three_subjects(engine: Engine) -> None:
    """And so are a server and its names; what is read is what was said."""
    store(engine, [row(1), row(2, server="other")])
    told = [
        saying("a", None, None),
        saying("b", "old", None),
        saying("c", "old", ""),
        saying("d", "old", "zed"),
        saying("e", "old", None, "other"),
        saying("f", "old", None, "never heard of"),
    ]
    keep(engine, *told)

    with reading(engine) as conn:
        ids = [id_ for (id_,) in conn.exec_driver_sql("SELECT id FROM server")]
        found = [
            read_said.subjects(conn, ids, None, by_client=by_client) for by_client in (False, True)
        ]
        words = read_said.words(conn, set().union(*found), None, MONDAY + 1)
        shown = read_said.shown(conn, set().union(*found), {MONDAY})
    subjects = {**found[0], **found[1]}
    said = {(subjects[id_], looks[0][1]) for (id_, _), looks in words.items()}
    assert said == {(each.subject, each.word) for each in told[:5]}
    assert all(each.figures == {"probability": 0.5, "wait_days": None} for each in shown.values())


def test_figures_that_json_cannot_hold_are_refused_and_nothing_is_kept(engine: Engine) -> None:
    """Not a number is no figure."""
    store(engine, [row(1)])
    bad = Saying(Subject("main", "old", None), "stopped", None, {"probability": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        keep(engine, bad)
    assert query(engine, "SELECT count(*) FROM look") == [(0,)]


def test_what_was_said_stays_when_its_batch_is_taken_back(engine: Engine) -> None:
    """It was said. So does the server that it was said of, though nothing else is left of that."""
    store(engine, [row(1, client="Zed")])
    keep(engine, saying("stopped", "old_tool", None), saying("stopped", "old_tool", "zed"))
    with writing(engine) as conn:
        undo.undo(driver_of(conn), 1, NOON, actor="command")

    assert query(engine, "SELECT count(*) FROM event") == [(0,)]
    assert query(engine, "SELECT name FROM client") == []
    assert query(engine, WORDS) == [("old_tool", "", "stopped"), ("old_tool", "zed", "stopped")]
    assert query(engine, "SELECT name FROM server") == [("main",)]


@pytest.mark.parametrize("server", [None, "other"])
def test_what_was_said_of_a_client_goes_with_it(engine: Engine, server: str | None) -> None:
    """At one server or everywhere; what was said of all clients together stays."""
    store(engine, [row(1, client="Zed"), row(2, server="other", client="zed")])
    every = [
        saying("stopped", "old_tool", client, at)
        for at in ("main", "other")
        for client in (None, "", "zed")
    ]
    keep(engine, *every)
    keep(engine, *every, week=MONDAY + WEEK)

    with writing(engine) as conn:
        done = forget.forget(driver_of(conn), "ZED", server, NOON, actor="command")

    gone = 2 if server else 4
    assert (done.told, len(query(engine, WORDS))) == (gone, 12 - gone)
    left = query(engine, "SELECT count(*) FROM subject WHERE client = 'zed'")
    assert left == [(1 if server else 0,)]


def test_what_was_said_of_a_server_goes_with_it(engine: Engine) -> None:
    """Whatever else was told of it does, too; other servers keep theirs."""
    store(engine, [row(1, client="zed"), row(2, server="other")])
    keep(engine, saying("stopped", "old_tool", "zed"), saying("stopped", "x", None, "other"))
    with writing(engine) as conn:
        done = forget.forget(driver_of(conn), None, "main", NOON, actor="command")
    assert done.told == 1
    assert query(engine, WORDS) == [("x", "", "stopped")]
    assert query(engine, "SELECT count(*) FROM subject") == [(1,)]
