"""A database is copied into an empty one of the other kind: SQLite to PostgreSQL and back."""

from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from service.cli import app
from service.errors import LastCallError
from service.store import copying
from service.store.engine import Engine, driver_of, reading, writing
from service.store.numbers import keep_number, new_number
from service.store.schema import metadata
from service.store.secrets import read_secrets
from tests.store.support import assert_alike, differences, execute, rich_rows, row, store


def every_row(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """What every table holds, ids and all, but for the numbers of rows that are gone."""
    with reading(engine) as conn:
        held = {
            table.name: sorted(map(tuple, conn.execute(sa.select(table))), key=repr)
            for table in metadata.sorted_tables
        }
    held["meta"] = [(name, value) for name, value in held["meta"] if not name.startswith("last_")]
    return held


def fill(engine: Engine) -> None:
    """Rows in which everything meets, and one of what people tell, with a flag and a document."""
    store(engine, rich_rows())
    execute(
        engine,
        "INSERT INTO entry (server_id, name, number, hidden, source, said_us, actor) "
        "VALUES (1, 'näme', 1, true, 'command', 5, 'anna')",
    )


def test_every_row_is_copied(engine: Engine, other_engine: Engine) -> None:
    """With its ids and both secrets; nothing differs from what the rows say."""
    fill(engine)

    copied = copying.copy(engine, other_engine)

    there = every_row(other_engine)
    assert there == every_row(engine)
    assert copied == sum(map(len, there.values())) - len(there["meta"])
    assert_alike(other_engine, engine)
    with reading(engine) as given, reading(other_engine) as taken:
        assert read_secrets(driver_of(given)) == read_secrets(driver_of(taken))


def test_the_copy_goes_on_where_the_other_was_left(engine: Engine, other_engine: Engine) -> None:
    """Lines sent again are duplicates, new ones are stored beside them as in the original."""
    fill(engine)
    copying.copy(engine, other_engine)
    more = [*rich_rows(), row(99, session="new", client="a new one", version="9", server="third")]

    done = [store(each, more, label="more") for each in (engine, other_engine)]

    assert [each.accepted for each in done] == [1, 1]
    assert_alike(other_engine, engine)


def test_numbers_of_rows_that_are_gone_are_not_given_again(
    engine: Engine, other_engine: Engine
) -> None:
    """Whoever takes back mark 1 twice must not meet another one."""
    with writing(engine) as conn:
        number = new_number(driver_of(conn), "mark")
        conn.execute(
            metadata.tables["mark"]
            .insert()
            .values(
                id=number,
                kind="known",
                server="m",
                client="c",
                at_us=1,
                note="",
                said_us=1,
                actor="a",
            )
        )
        keep_number(driver_of(conn), "mark")
        conn.execute(metadata.tables["mark"].delete())

    copying.copy(engine, other_engine)

    with writing(other_engine) as conn:
        assert new_number(driver_of(conn), "mark") == number + 1


def test_a_target_that_holds_something_is_left_alone(engine: Engine, other_engine: Engine) -> None:
    """Two databases are never mixed: each has keys of its own."""
    store(engine, [row(1)])
    store(other_engine, [row(2)])
    before = every_row(other_engine)

    with pytest.raises(LastCallError, match="empty database"):
        copying.copy(engine, other_engine)

    assert every_row(other_engine) == before


def test_a_copy_that_breaks_off_leaves_the_target_as_it_was(
    engine: Engine, other_engine: Engine
) -> None:
    """All or nothing: here the last table of the target refuses every row."""
    fill(engine)
    before = every_row(other_engine)
    execute(other_engine, "ALTER TABLE activity ADD COLUMN wanted INTEGER NOT NULL DEFAULT 1")
    execute(other_engine, "CREATE UNIQUE INDEX one_only ON activity (wanted)")

    with pytest.raises(sa.exc.IntegrityError):
        copying.copy(engine, other_engine)

    execute(other_engine, "DROP INDEX one_only")
    execute(other_engine, "ALTER TABLE activity DROP COLUMN wanted")
    assert every_row(other_engine) == before


def test_the_command_copies(engine: Engine, other_engine: Engine) -> None:
    """It says how many rows, and `db check` finds nothing in the copy."""
    fill(engine)
    urls = [
        each.url.set(drivername=each.dialect.name).render_as_string(hide_password=False)
        for each in (engine, other_engine)
    ]

    done = CliRunner().invoke(app, ["db", "copy", "--from", urls[0], "--to", urls[1]])
    assert done.exit_code == 0, done.output
    assert "rows copied: " in done.output
    assert differences(other_engine) == []
