"""`lastcall weekly`: the weekly log, for whoever does not leave `lastcall serve` running."""

import click
from click import echo

from service import terminal
from service.cli_common import db_option, json_option, print_json, ready_engine, settings_of
from service.clock import system_clock


@click.command()
@json_option
@db_option
def weekly(as_json: bool, db: str | None) -> None:
    """
    Keep what is said as of the last Monday (00:00 UTC), and as of Mondays before it that were missed, eight in
    all. `lastcall serve` does it by itself; without it, run this each Monday. To run it again changes
    nothing.
    """
    from service.answers.query import iso, moment_at
    from service.weekly import look

    opened = ready_engine(db)
    try:
        looked = look(opened, moment_at(system_clock(), settings_of(db)))
    finally:
        opened.dispose()
    if as_json:
        rows = [
            {"question": str(e.question), "week": iso(e.week_us), "words": e.words} for e in looked
        ]
        print_json(rows)
        return
    for each in looked:
        echo(f"{iso(each.week_us)[:10]}  {each.question}: {each.words:,} words kept")
    if not looked:
        terminal.say("nothing to keep: the last Monday was looked at, or no event lies before it")
