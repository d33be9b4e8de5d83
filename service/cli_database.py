"""`lastcall db`: look after the database."""

from typing import Annotated

import typer
from typer import echo

from service import terminal
from service.cli_common import AsJson, Db, print_json, ready_engine, settings_of
from service.clock import system_clock
from service.errors import NotFound

app = typer.Typer(help="Look after the database.", no_args_is_help=True)


@app.command()
def upgrade(db: Db = None) -> None:
    """Bring the schema up to date."""
    from service.store import engine, migrate

    migrate.upgrade(engine.make_engine(settings_of(db).database_url))
    terminal.say("the schema is up to date")


@app.command()
def check(db: Db = None) -> None:
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
        raise typer.Exit(1)
    terminal.say("every roll-up agrees with the events")


@app.command()
def rebuild(db: Db = None) -> None:
    """Derive the roll-ups and all else that is derived from the events again."""
    from service.store import check as checking
    from service.store import engine

    with engine.writing(ready_engine(db)) as connection:
        changed = checking.rebuild(connection)
    terminal.say(f"rebuilt; cells and rows that were different: {changed}")


@app.command()
def retire(
    server: Annotated[str, typer.Argument(help="the server")],
    source: Annotated[str, typer.Argument(help="the feed of it that has ended")],
    undo: Annotated[bool, typer.Option("--undo", help="it goes on after all")] = False,
    db: Db = None,
) -> None:
    """Say that a feed has ended, so that its silence is no gap."""
    from service.store import engine, feeds

    at_us = None if undo else system_clock()
    with engine.writing(ready_engine(db)) as connection:
        known = feeds.retire(connection, server_name=server, source_name=source, at_us=at_us)
    if not known:
        raise NotFound(f"no source {source!r} of server {server!r}; `lastcall db stats` lists them")
    terminal.say(f"{server}/{source} {'goes on' if undo else 'has ended'}")


@app.command()
def stats(as_json: AsJson = False, db: Db = None) -> None:
    """Count what is stored, and list the batches it came in."""
    from service.store import engine
    from service.store import stats as counting

    with engine.reading(ready_engine(db)) as connection:
        found = counting.stats(connection)
    if as_json:
        print_json(found)
    else:
        terminal.stats(found)
