"""An upgrade from the first release on keeps every row and its identity (case 61)."""

import json
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.script import ScriptDirectory

from service.settings import Settings
from service.store import engine as db
from service.store import migrate
from tests.acceptance.service import running

CASE = Path(__file__).parent / "data" / "61-migration-keeps-rows"


def test_every_revision_keeps_every_row(database_url: str) -> None:
    """One head; after each revision as many rows as before; a resend afterwards adds nothing."""
    case = json.loads((CASE / "case.json").read_text())
    expect, settings = case["expect"], Settings(database_url=database_url)
    body = (CASE / case["inputs"][0]).read_bytes()
    with running(settings, now=case["settings"]["now"]) as service:
        assert service.client.post("/ingest", content=body).json()["accepted"] == 5

    engine = db.make_engine(database_url)
    with db.writing(engine) as connection:
        config = migrate.alembic_config(connection)
        script = ScriptDirectory.from_config(config)
        revisions = [each.revision for each in script.walk_revisions()][::-1]
        assert len(script.get_heads()) == expect["alembic_heads"]
        command.downgrade(config, revisions[0])
    counted = []
    for revision in revisions:
        with db.writing(engine) as connection:
            command.upgrade(migrate.alembic_config(connection), revision)
            counted.append(connection.scalar(sa.text("SELECT count(*) FROM event")))
    engine.dispose()

    assert expect["rows_before"] == 5
    assert counted == [expect["rows_after_each_revision"]] * len(revisions)
    with running(settings, now=case["settings"]["now"]) as service:
        again = service.client.post("/ingest", content=body).json()
        stale = [row for row in service.rows("events") if row["kind"] == "stale_call"]
    assert len(stale) == expect["stale_calls"]
    assert {word: again[word] for word in ("accepted", "duplicates")} == expect[
        "resend_after_upgrade"
    ]
