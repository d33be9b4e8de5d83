"""The schema: brought up, taken down and told apart, on both databases."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from service.errors import SchemaOutOfDate
from service.events import Recorded, Release
from service.ingest.rows import request_number
from service.store import migrate, releases
from service.store.driver import HEAD
from service.store.engine import Engine, driver_of, make_engine, reading, writing
from service.store.migrate import SchemaState
from service.store.schema import metadata
from service.store.secrets import read_secrets
from tests.store.support import NOON, contents, differences, query, rich_rows, row, store


def test_the_history_and_the_schema_agree(engine: Engine) -> None:
    """Alembic finds nothing to add to a migrated database."""
    with writing(engine) as conn:
        command.check(migrate.alembic_config(conn))


def test_alembic_sees_what_the_history_lacks(engine: Engine) -> None:
    """The check above is not blind: a dropped index and a dropped column are found."""
    with writing(engine) as conn:
        conn.exec_driver_sql("DROP INDEX ix_event_silent")
        conn.exec_driver_sql("ALTER TABLE event DROP COLUMN outcome")
        with pytest.raises(Exception, match="New upgrade operations detected") as found:
            command.check(migrate.alembic_config(conn))
    assert "ix_event_silent" in str(found.value)
    assert "outcome" in str(found.value)


def test_up_down_and_up_again(engine: Engine) -> None:
    """Taken back to nothing, a database is empty, and can be brought up once more."""
    with writing(engine) as conn:
        command.downgrade(migrate.alembic_config(conn), "base")
    assert migrate.current_state(engine) is SchemaState.EMPTY
    with reading(engine) as conn:
        assert set(sa.inspect(conn).get_table_names()) == {"lastcall_version"}

    migrate.upgrade(engine)

    assert migrate.current_state(engine) is SchemaState.UP_TO_DATE
    with reading(engine) as conn:
        assert set(sa.inspect(conn).get_table_names()) == {*metadata.tables, "lastcall_version"}


def test_head_is_the_newest_revision(engine: Engine) -> None:
    """The revision that is known without loading Alembic is the last of the history."""
    with reading(engine) as conn:
        history = ScriptDirectory.from_config(migrate.alembic_config(conn))
        assert history.get_current_head() == HEAD


def test_an_upgrade_of_what_is_up_to_date_changes_nothing(engine: Engine) -> None:
    """Secrets and schema stay as they are."""
    with reading(engine) as conn:
        before = read_secrets(driver_of(conn))
    migrate.upgrade(engine)
    with reading(engine) as conn:
        assert read_secrets(driver_of(conn)) == before


def test_the_embedded_database_upgrades_itself_and_postgresql_does_not(
    empty_database_url: str, database: str
) -> None:
    """PostgreSQL says which command would do it, and does it where the setting allows."""
    engine = make_engine(empty_database_url)
    assert migrate.current_state(engine) is SchemaState.EMPTY
    if database == "postgresql":
        with pytest.raises(SchemaOutOfDate, match="lastcall db upgrade"):
            migrate.ensure_ready(engine, auto_upgrade=False)
    migrate.ensure_ready(engine, auto_upgrade=database == "postgresql")
    assert migrate.current_state(engine) is SchemaState.UP_TO_DATE
    engine.dispose()


def test_a_database_of_a_newer_version_is_left_alone(engine: Engine) -> None:
    """Its revision is not in our history: neither start nor upgrade touches it, and says why."""
    with writing(engine) as conn:
        conn.exec_driver_sql("UPDATE lastcall_version SET version_num = '9999'")
    assert migrate.current_state(engine) is SchemaState.AHEAD
    with pytest.raises(SchemaOutOfDate, match="newer version"):
        migrate.ensure_ready(engine, auto_upgrade=True)
    with pytest.raises(SchemaOutOfDate, match="newer version"):
        migrate.upgrade(engine)


@pytest.mark.parametrize(
    "tables",
    [
        ["CREATE TABLE event (id INTEGER)"],
        ["CREATE TABLE bookmarks (url TEXT)"],
        [
            "CREATE TABLE alembic_version (version_num VARCHAR(32))",
            "INSERT INTO alembic_version VALUES ('0001')",
            "CREATE TABLE users (id INTEGER)",
        ],
    ],
    ids=["with a name of ours", "with other names", "kept with Alembic too"],
)
def test_a_database_of_another_program_is_refused_and_left_alone(
    tables: list[str], empty_database_url: str
) -> None:
    """Whatever it holds, nothing is built upon it or taken for ours."""
    engine = make_engine(empty_database_url)
    with writing(engine) as conn:
        for statement in tables:
            conn.exec_driver_sql(statement)
        before = set(sa.inspect(conn).get_table_names())
    with pytest.raises(SchemaOutOfDate, match="another program"):
        migrate.ensure_ready(engine, auto_upgrade=True)
    with pytest.raises(SchemaOutOfDate, match="another program"):
        migrate.upgrade(engine)
    with reading(engine) as conn:
        assert set(sa.inspect(conn).get_table_names()) == before
    engine.dispose()


def test_a_file_of_another_program_keeps_every_byte(tmp_path: Path) -> None:
    """Not even its journal is switched."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    engine = make_engine(f"sqlite:///{path}")
    with pytest.raises(SchemaOutOfDate, match="another program"):
        migrate.ensure_ready(engine, auto_upgrade=True)
    engine.dispose()

    assert path.read_bytes() == before


def test_two_that_start_at_once_both_find_it_ready(empty_database_url: str) -> None:
    """One upgrades, the others wait and see the same secrets."""
    seen: list[object] = []

    def start() -> None:
        engine = make_engine(empty_database_url)
        try:
            migrate.ensure_ready(engine, auto_upgrade=True)
            with reading(engine) as conn:
                seen.append(read_secrets(driver_of(conn)))
        except Exception as error:  # noqa: BLE001
            seen.append(error)
        finally:
            engine.dispose()

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 4
    assert isinstance(seen[0], tuple), seen
    assert set(seen) == {seen[0]}


def test_a_database_of_the_first_revision_keeps_its_rows(
    empty_database_url: str, new_engine: Callable[[], Engine]
) -> None:
    """Brought up to date it holds what storing the same rows today leaves, has every row that it
    had, agrees with itself, and knows its rows when they are sent again. Three rows had nothing rare
    but the call that they are lines of."""
    engine = make_engine(empty_database_url)
    rows = [*rich_rows(), row(13, arrival=True)]
    counts = _fill_first_revision(engine)

    migrate.upgrade(engine)

    today = new_engine()
    store(today, rows)
    assert contents(engine) == contents(today)
    counts |= {"event_extra": counts["event_extra"] - 3, "call_line": 3}
    assert {name: query(engine, f"SELECT count(*) FROM {name}")[0][0] for name in counts} == counts
    assert differences(engine) == []
    with reading(engine) as conn:
        assert read_secrets(driver_of(conn)) == (b"\x00" * 32, b"\x11" * 32)
    again = store(engine, [*rows, row(14, NOON, client="new", session="new")], label="again")
    assert (again.accepted, again.duplicates) == (1, len(rows))
    assert differences(engine) == []
    engine.dispose()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("8", 8),
        ("999999999999999999", 999_999_999_999_999_999),
        ("1000000000000000000", None),
        ("007", None),
        ("-7", None),
        ("7.0", None),
        ("٧", None),
        ("", None),
        ("req-é-😀", None),
        ("x" * 256 + "…#0123456789abcdef", None),
    ],
)
def test_a_request_id_of_an_earlier_version_is_numbered_as_it_is_today(
    empty_database_url: str, text: str, number: int | None
) -> None:
    """A plain number is itself; any other text is a negative number, the one that `ingest` makes."""
    engine = make_engine(empty_database_url)
    _fill_first_revision(engine)
    with writing(engine) as conn:
        conn.execute(
            sa.text("UPDATE event_extra SET request_id = :text WHERE key = 3"), {"text": text}
        )
        conn.exec_driver_sql("UPDATE event_extra SET ns = 5 WHERE key = 3")

    migrate.upgrade(engine)

    [(request,)] = query(engine, "SELECT request FROM call_line WHERE key = 3")
    assert request == request_number(text.encode(errors="replace"))
    assert request == number if number is not None else request < 0
    assert query(engine, "SELECT ns FROM event_extra WHERE key = 3") == [(5,)]
    assert query(engine, "SELECT request FROM call_line WHERE key <> 3 ORDER BY key") == [
        (7,),
        (7,),
    ]
    engine.dispose()


def test_many_lines_of_an_earlier_version_are_numbered_a_page_at_a_time(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is lost or met twice where a page ends, also between two of one instant."""
    engine = make_engine(empty_database_url)
    _fill_first_revision(engine)
    with writing(engine) as conn:
        for key in range(100, 110):
            conn.exec_driver_sql(
                "INSERT INTO event (time_us, key, kind, server_id, source_id, batch_id, session_id, "
                f"tool_id, counted) VALUES ({NOON}, {key}, 3, 1, 1, 1, 1, 2, 1)"
            )
            conn.exec_driver_sql(
                "INSERT INTO event_extra (time_us, key, call, request_id) "
                f"VALUES ({NOON}, {key}, {key}, '{key}')"
            )
        script = ScriptDirectory.from_config(migrate.alembic_config(conn)).get_revision("0003")
        assert script is not None
        monkeypatch.setattr(script.module, "PAGE", 3)
        script.module._number_requests(_with_lines(conn))
        found = conn.exec_driver_sql("SELECT request FROM call_line ORDER BY request").all()
    assert [request for (request,) in found] == [7, 7, 7, *range(100, 110)]
    engine.dispose()


def _with_lines(conn: sa.Connection) -> sa.Connection:
    """The connection, with the table that the lines go into."""
    metadata.tables["call_line"].create(conn)
    return conn


def test_what_an_earlier_version_left_is_brought_up_by_the_start_of_this_one(
    empty_database_url: str, database: str
) -> None:
    """The embedded database by itself; PostgreSQL says which command does it. Releases then have room."""
    engine = make_engine(empty_database_url)
    _fill_first_revision(engine)
    assert migrate.current_state(engine) is SchemaState.BEHIND
    if database == "postgresql":
        with pytest.raises(SchemaOutOfDate, match="behind; run `lastcall db upgrade`"):
            migrate.ensure_ready(engine, auto_upgrade=False)
    migrate.ensure_ready(engine, auto_upgrade=database == "postgresql")

    release = Release(server="main", version="1.0", at_us=NOON, source="rest")
    with writing(engine) as conn:
        assert releases.record(driver_of(conn), release, now_us=0, actor="rest") is Recorded.CREATED
        command.check(migrate.alembic_config(conn))
    engine.dispose()


def _fill_first_revision(engine: Engine) -> dict[str, int]:
    """Make a database of the first revision, filled; returns how many rows each table has."""
    counts: dict[str, int] = {}
    script = (Path(__file__).parent / "revision_0001.sql").read_text(encoding="utf-8")
    with writing(engine) as conn:
        command.upgrade(migrate.alembic_config(conn), "0001")
        for statement in script.partition("\n\n")[2].split(";\n"):
            if statement.strip():
                table = statement.split()[2]
                counts[table] = conn.exec_driver_sql(statement).rowcount
        if engine.dialect.name == "postgresql":  # ids were given, so the sequences lag behind
            inspected = sa.inspect(conn)
            for table in counts:
                if any(column["name"] == "id" for column in inspected.get_columns(table)):
                    conn.exec_driver_sql(
                        f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 1000)"
                    )
    return counts


def test_every_text_is_compared_by_code_points(new_engine: Callable[[], Engine]) -> None:
    """'Z' comes before 'a' and 'ä' after 'z', as in Python, whatever the server's locale."""
    engine = new_engine()
    words = ["a", "Z", "ä", "z", "é", "😀", "\uffee"]
    with writing(engine) as conn:
        tool = metadata.tables["tool"]
        conn.execute(tool.insert(), [{"name": word} for word in words])
        stored = list(conn.scalars(sa.select(tool.c.name).order_by(tool.c.name)))
    assert stored == sorted(words)
