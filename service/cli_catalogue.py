"""`lastcall catalogue`: what is known of the servers beside their logs."""

from typing import Annotated
from zoneinfo import ZoneInfo

import typer
from typer import echo

from service import terminal
from service.cli_common import Db, settings_of

app = typer.Typer(help="Say what is known of the servers beside their logs.", no_args_is_help=True)


@app.command()
def release(
    server: Annotated[str, typer.Argument(help="the server")],
    version: Annotated[str, typer.Argument(help="the version that came")],
    at: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANT", help="when, such as 2026-10-05T10:15:02Z; now if not given"
        ),
    ] = None,
    db: Db = None,
) -> None:
    """Record that a version of a server came. The same version again moves it, if the instant differs."""
    from service import intake
    from service.answers.query import instant_asked, iso

    at_us = None if at is None else instant_asked("--at", at, ZoneInfo("UTC"))
    with intake.open_pipeline(settings_of(db)) as pipeline:
        kept, outcome = pipeline.release(server, version, at_us, source="command")
    echo(terminal.safe(f"{kept.server} {kept.version} at {iso(kept.at_us)}: {outcome}"))
