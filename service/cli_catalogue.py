"""`lastcall catalogue`: what is known of the servers beside their logs."""

import click
from click import echo

from service import terminal
from service.cli_common import InOrder, db_option, settings_of


@click.group("catalogue", cls=InOrder)
def group() -> None:
    """Say what is known of the servers beside their logs."""


@group.command()
@click.argument("server", metavar="SERVER", help="the server")
@click.argument("version", metavar="VERSION", help="the version that came")
@click.option(
    "--at", metavar="INSTANT", help="when, such as 2026-10-05T10:15:02Z; now if not given"
)
@db_option
def release(server: str, version: str, at: str | None, db: str | None) -> None:
    """Record that a version of a server came. The same version again moves it, if the instant differs."""
    from zoneinfo import ZoneInfo

    from service import intake
    from service.answers.query import instant_asked, iso

    at_us = None if at is None else instant_asked("--at", at, ZoneInfo("UTC"))
    with intake.open_pipeline(settings_of(db)) as pipeline:
        kept, outcome = pipeline.release(server, version, at_us, source="command")
    echo(terminal.safe(f"{kept.server} {kept.version} at {iso(kept.at_us)}: {outcome}"))
