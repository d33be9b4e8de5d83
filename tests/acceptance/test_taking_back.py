"""`lastcall db undo`, `forget`, `audit` and `stats`, as they are typed."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from service.cli import app
from service.errors import BadParameter, NotFound
from service.store.engine import Engine
from tests.acceptance.test_undo import line
from tests.store.support import execute, query


@pytest.fixture
def typed(database_url: str, tmp_path: Path) -> Any:
    """Runs a command on the test's database."""

    def run(*words: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, [*words, "--db", database_url], input=answer)

    def ingest(*numbers: int) -> str:
        log = tmp_path / "server.log"
        log.write_text("".join(f"{line(number)}\n" for number in numbers) + '{"cut\n')
        done = run("ingest", str(log), "--server", "maps", "--json")
        return str(json.loads(done.stdout)["batch"])

    run.ingest = ingest  # type: ignore[attr-defined]
    return run


def test_a_run_is_counted_and_then_taken_back(typed: Any, engine: Engine) -> None:
    """The dry run tells what the real one does; the audit tells that it was done."""
    first, second = typed.ingest(0, 1, 2, 3, 4), typed.ingest(0, 1)

    planned = typed("db", "undo", first, "--dry-run")
    done = typed("db", "undo", first)

    assert planned.stdout == done.stdout
    assert "nothing was changed" in planned.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith(f"batch {first}: ingest 20")
    assert told[0].endswith(" of maps/files")
    assert told[1:] == [
        "events deleted 3: 1 stale_call, 1 listing, 1 hello",
        f"events left to other batches 2: 2 to batch {second}",
        "records out of the account 6: 5 accepted, 1 rejected",
        "rejected records deleted 1",
    ]
    assert query(engine, "SELECT count(*) FROM event") == [(2,)]
    said = typed("db", "audit").stdout
    assert f"command  undo batch {first}: deleted 3, events (" in said
    assert len(said.splitlines()) == 1
    assert (
        json.loads(typed("db", "audit", "--json").stdout)["items"][0]["subject"] == f"batch {first}"
    )


def test_the_same_run_twice_is_an_error(typed: Any) -> None:
    """As is one that never was."""
    batch = typed.ingest(0)
    assert json.loads(typed("db", "undo", batch, "--json").stdout)["deleted"] == 1
    for number, says in ((batch, "taken back already"), ("99", "no batch 99")):
        refused = typed("db", "undo", number)
        assert isinstance(refused.exception, NotFound)
        assert says in refused.exception.detail


def test_stats_list_batches_with_their_age(typed: Any, engine: Engine) -> None:
    """As many as are asked for, the newest first."""
    first, second = typed.ingest(0), typed.ingest(1)
    execute(
        engine, f"UPDATE batch SET started_us = started_us - 86400000000 * 3 WHERE id = {first}"
    )
    found = json.loads(typed("db", "stats", "--json").stdout)["batches"]
    assert [(str(batch["id"]), batch["age_days"]) for batch in found] == [(second, 0), (first, 3)]
    assert found[0]["records"] == {"accepted": 1, "rejected": 1}
    assert len(json.loads(typed("db", "stats", "--batches", "1", "--json").stdout)["batches"]) == 1
    assert "age_days 3" in typed("db", "stats").stdout


def test_forgetting_asks_first(typed: Any, engine: Engine) -> None:
    """It tells what would go; without a yes, nothing does."""
    typed.ingest(*range(24))
    execute(engine, "UPDATE reject SET excerpt = 'zed'")
    before = query(engine, "SELECT count(*) FROM event")

    counted = typed("db", "forget", "--client", "Zed", "--dry-run")
    declined = typed("db", "forget", "--client", "Zed", answer="n\n")

    assert declined.exit_code == 1
    assert declined.stdout.startswith(counted.stdout)
    assert "client zed: would be forgotten\nspellings: zed, zed/1.2\n" in counted.stdout
    assert "rejected records 1\n" in counted.stdout
    assert query(engine, "SELECT count(*) FROM event") == before

    done = typed("db", "forget", "--client", "Zed", answer="y\n")
    assert ": batches 0, deleted " in (said := typed("db", "audit").stdout)
    assert "None" not in said

    assert "client zed: forgotten\n" in done.stdout
    assert "bring it back" in done.stderr
    assert query(engine, "SELECT raw FROM client") == [("Cursor",)]
    assert isinstance(typed("db", "forget", "--client", "Zed").exception, NotFound)


def test_a_server_is_forgotten_without_asking_where_yes_is_said(typed: Any, engine: Engine) -> None:
    """And something has to be named."""
    typed.ingest(*range(24))
    assert isinstance(typed("db", "forget", "--yes").exception, BadParameter)
    done = json.loads(typed("db", "forget", "--server", "maps", "--yes", "--json").stdout)
    assert (done["deleted"], done["batches"], done["dry_run"]) == (24, 1, False)
    for table in ("event", "batch", "source", "server", "client", "session", "tally"):
        assert query(engine, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert "forget server maps: batches 1, deleted 24" in typed("db", "audit").stdout
