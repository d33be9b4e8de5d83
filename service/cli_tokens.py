"""`lastcall tokens`: who may come in."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from click import echo

from service import terminal
from service.cli_common import (
    InOrder,
    db_option,
    existing_settings,
    json_option,
    print_json,
    settings_of,
)

if TYPE_CHECKING:
    from service.tokens import Token

ACTOR = "command"


@click.group("tokens", cls=InOrder)
def group() -> None:
    """
    Say who may come in. `lastcall serve` asks nobody on a loopback address until the first token is made; from
    then on it asks everybody, also once all are revoked.
    """


@group.command()
@click.argument("name", metavar="NAME", help="who or what will use it, such as vector-maps")
@click.option(
    "--scope",
    metavar="SCOPE",
    required=True,
    help="ingest:SERVER (deliver lines of that server), ingest:* (of any), read, or admin",
)
@click.option("--records-per-s", type=int, help="records a second that it may deliver")
@click.option("--burst", type=int, help="records at once; ten seconds' worth, if not given")
@click.option("--sent-bytes", type=int, help="largest body as it is sent")
@click.option("--body-bytes", type=int, help="largest body after decompression")
@click.option("--line-bytes", type=int, help="longest line")
@click.option("--depth", type=int, help="deepest JSON nesting")
@json_option
@db_option
def add(name: str, scope: str, as_json: bool, db: str | None, **limits: int | None) -> None:
    """Make a token and print its secret, which is shown this once. No name can be used twice."""
    from service.access import open_access
    from service.settings import sqlite_path
    from service.tokens import Limits

    settings = settings_of(db)
    with open_access(settings) as access:
        issued = access.add(name, scope, Limits(**limits), actor=ACTOR)
    if as_json:
        print_json(_plain(issued.token) | {"secret": issued.secret})
        return
    where = sqlite_path(settings.database_url) or "the PostgreSQL database"
    terminal.say(
        f"token {issued.token.name} ({issued.token.scope_text}) in {where}; its secret, this once:"
    )
    echo(issued.secret)


@group.command("list")
@json_option
@db_option
def list_(as_json: bool, db: str | None) -> None:
    """List all tokens, the oldest first, revoked ones too; their secrets are not known."""
    from service.access import open_access

    with open_access(existing_settings(db)) as access:
        rows = [_plain(token) for token in access.tokens()]
    if as_json:
        print_json(rows)
    else:
        terminal.tokens(rows)


@group.command()
@click.argument("name", metavar="NAME", help="the token, as `lastcall tokens list` names it")
@db_option
def revoke(name: str, db: str | None) -> None:
    """End a token at once, also for whoever is logged in with it. Revoking the last one opens nothing."""
    from service.access import open_access

    with open_access(existing_settings(db)) as access:
        token = access.revoke(name, actor=ACTOR)
    echo(terminal.safe(f"token {token.name} is revoked"))


def _plain(token: "Token") -> dict[str, Any]:
    """A token as JSON."""
    from service.answers.query import iso

    times = {"created": token.created_us, "last_used": token.used_us, "revoked": token.revoked_us}
    return {
        "name": token.name,
        "scope": token.scope_text,
        "limits": asdict(token.limits),
        **{name: None if at_us is None else iso(at_us) for name, at_us in times.items()},
        "created_by": token.actor,
        "revoked_by": token.revoked_by,
    }
