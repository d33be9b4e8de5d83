"""`lastcall db`: look after the database."""

import click
from click import echo

from service import terminal
from service.cli_common import (
    InOrder,
    db_option,
    existing_settings,
    json_option,
    print_json,
    ready_engine,
    settings_of,
)
from service.clock import DAY_US, system_clock
from service.errors import NotFound


@click.group("db", cls=InOrder)
def group() -> None:
    """Look after the database."""


@group.command()
@db_option
def upgrade(db: str | None) -> None:
    """Bring the schema up to date."""
    from service.store import engine, migrate

    migrate.upgrade(engine.make_engine(settings_of(db).database_url))
    terminal.say("the schema is up to date")


@group.command()
@db_option
def check(db: str | None) -> None:
    """Compare every roll-up with the events; name each cell that differs (then exit status 1)."""
    from service.store import check as checking
    from service.store import engine

    with engine.reading(ready_engine(db)) as connection:
        found = checking.differences(connection)
    for line in found:
        echo(terminal.safe(line))
    if found:
        terminal.complain(
            f"differences: {len(found)}; `lastcall db rebuild` derives the roll-ups again"
        )
        raise SystemExit(1)
    terminal.say("every roll-up agrees with the events")


@group.command()
@db_option
def rebuild(db: str | None) -> None:
    """Derive the roll-ups and all else that is derived from the events again."""
    from service.store import check as checking
    from service.store import engine

    with engine.writing(ready_engine(db)) as connection:
        changed = checking.rebuild(connection)
    terminal.say(f"rebuilt; cells and rows that were different: {changed}")


@group.command()
@click.option("--from", "source", metavar="URL", required=True, help="the database to read")
@click.option("--to", "target", metavar="URL", required=True, help="the empty database to fill")
def copy(source: str, target: str) -> None:
    """
    Copy everything from one database into an empty one, as from SQLite to PostgreSQL. Keys, tokens and numbers
    stay. Stop whatever writes to either before.
    """
    from service.store import copying, engine, migrate

    given = ready_engine(source)
    settings = settings_of(target)
    taking = engine.make_engine(settings.database_url)
    try:
        migrate.ensure_ready(taking, settings.auto_upgrade)
        copied = copying.copy(given, taking)
    finally:
        given.dispose()
        taking.dispose()
    terminal.say(
        f"rows copied: {copied}; `lastcall db check` holds the roll-ups against the events"
    )


@group.command()
@click.argument("server", metavar="SERVER", help="the server")
@click.argument("source", metavar="SOURCE", help="the feed of it that has ended")
@click.option("--undo", is_flag=True, help="it goes on after all")
@db_option
def retire(server: str, source: str, undo: bool, db: str | None) -> None:
    """Say that a feed has ended, so that its silence is no gap."""
    from service.store import engine, feeds

    with engine.writing(ready_engine(db)) as connection:
        known = feeds.retire(
            connection, server, source, ended=not undo, now_us=system_clock(), actor="command"
        )
    if not known:
        raise NotFound(f"no source {source!r} of server {server!r}; `lastcall db stats` lists them")
    terminal.say(f"{server}/{source} {'goes on' if undo else 'has ended'}")


@group.command()
@click.option("--batches", type=click.IntRange(min=0), default=50, help="list so many of them")
@json_option
@db_option
def stats(batches: int, as_json: bool, db: str | None) -> None:
    """Count what is stored, and list the batches it came in, the newest first."""
    from service.store import engine
    from service.store import stats as counting

    opened = ready_engine(db)
    with engine.reading(opened) as connection:
        found = counting.stats(connection, batches)
    opened.dispose()
    for batch in found["batches"]:
        batch["age_days"] = (system_clock() - batch["started_us"]) // DAY_US
    if as_json:
        print_json(found)
    else:
        terminal.stats(found)


@group.command()
@click.argument(
    "batch", metavar="BATCH", type=int, help="its number, as `lastcall db stats` lists them"
)
@click.option("--dry-run", is_flag=True, help="change nothing; say what it would come to")
@json_option
@db_option
def undo(batch: int, dry_run: bool, as_json: bool, db: str | None) -> None:
    """
    Take a batch back, as if it had never come: an `ingest` run, a followed file's day, or a source's
    requests of one hour. What another batch delivered, too, is left to that one. Up to 30 days after it
    began.
    """
    from service.taking_back import open_taking_back

    with open_taking_back(existing_settings(db)) as taking_back:
        done = taking_back.undo(batch, actor="command", dry_run=dry_run).as_json()
    if as_json:
        print_json(done)
    else:
        terminal.undone(done)


@group.command()
@click.option("--client", metavar="NAME", help="the client, in any spelling")
@click.option("--server", help="only at this server; without --client all of the server")
@click.option("--dry-run", is_flag=True, help="change nothing; count what would go")
@click.option("--yes", is_flag=True, help="do not ask")
@json_option
@db_option
def forget(
    client: str | None, server: str | None, dry_run: bool, yes: bool, as_json: bool, db: str | None
) -> None:
    """
    Delete all data of a client or of a whole server, for good. The same lines, sent or read again, bring
    them back: stop their feed first.
    """
    from service.taking_back import open_taking_back

    with open_taking_back(existing_settings(db)) as taking_back:
        done = taking_back.forget(client, server, actor="command", dry_run=True)
        if not dry_run:
            if not yes:
                terminal.forgotten(done.as_json(), to_come=True)
                click.confirm("Delete all of it, for good?", abort=True, err=True)
            done = taking_back.forget(client, server, actor="command")
    if as_json:
        print_json(done.as_json())
    else:
        terminal.forgotten(done.as_json(), to_come=done.dry_run)


@group.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=100, help="list so many of them")
@json_option
@db_option
def audit(limit: int, as_json: bool, db: str | None) -> None:
    """List what was changed by hand and taken back, the newest first."""
    from service import offline

    answer = offline.audit(existing_settings(db), limit=limit)
    if as_json:
        print_json(answer)
    else:
        terminal.audit(answer)
