"""`lastcall share`: links that show one filter to whoever holds them."""

from typing import TYPE_CHECKING, Any

import click
from click import echo

from service import terminal
from service.cli_common import InOrder, db_option, existing_settings, json_option, print_json
from service.clock import system_clock

if TYPE_CHECKING:
    from service.shares import Share

ACTOR = "command"


@click.group("share", cls=InOrder)
def group() -> None:
    """
    Show one server, and of it one retired name or client if you want, to whoever holds a link: its pages, figures and
    answers, and nothing else, without a token.
    """


@group.command()
@click.option("--server", required=True, metavar="SERVER", help="the MCP server that it shows")
@click.option("--name", metavar="NAME", help="only this retired name")
@click.option("--client", metavar="CLIENT", help="only this client; '' for calls that name none")
@click.option("--expires", metavar="SPAN", help="12h, 30d, 8w or never; 30d, if not given")
@click.option(
    "--embed",
    metavar="ORIGIN",
    multiple=True,
    help="whose pages may frame it: https://wiki.example",
)
@json_option
@db_option
def add(
    server: str,
    name: str | None,
    client: str | None,
    expires: str | None,
    embed: tuple[str, ...],
    as_json: bool,
    db: str | None,
) -> None:
    """Make a link and print its path, which is shown this once; put it after the address of the service."""
    from service.sharing import open_sharing

    with open_sharing(existing_settings(db)) as sharing:
        made = sharing.add(server, name, client, expires=expires, embed=embed, actor=ACTOR)
    row = _plain(made.share)
    if as_json:
        print_json(row | {"path": made.path})
        return
    terminal.say(f"link {row['id']} to {_words(row)}; its path, this once:")
    echo(made.path)


@group.command("list")
@json_option
@db_option
def list_(as_json: bool, db: str | None) -> None:
    """List all links, the oldest first, those that have ended too; their secrets are not known."""
    from service.sharing import open_sharing

    with open_sharing(existing_settings(db)) as sharing:
        rows = [_plain(share) for share in sharing.shares()]
    if as_json:
        print_json(rows)
        return
    if not rows:
        echo("Nothing was ever shared.")
    for row in rows:
        echo(terminal.safe(f"{row['id']}: {_words(row)}"))


@group.command()
@click.argument("number", metavar="NUMBER", type=int, help="as `lastcall share list` numbers it")
@db_option
def revoke(number: int, db: str | None) -> None:
    """End a link at once."""
    from service.sharing import open_sharing

    with open_sharing(existing_settings(db)) as sharing:
        share = sharing.revoke(number, actor=ACTOR)
    echo(f"link {share.id} is revoked")


def _plain(share: "Share") -> dict[str, Any]:
    """A link as JSON."""
    from service.answers.query import iso

    times = {
        "created": share.created_us,
        "expires": share.expires_us,
        "last_used": share.used_us,
        "revoked": share.revoked_us,
    }
    return {
        "id": share.id,
        "server": share.bound.server,
        "name": share.bound.name,
        "client": share.bound.client,
        "embed": list(share.embed),
        **{name: None if at_us is None else iso(at_us) for name, at_us in times.items()},
        "created_by": share.actor,
        "revoked_by": share.revoked_by,
        "stands": share.stands(system_clock()),
    }


def _words(row: dict[str, Any]) -> str:
    """What a link shows, and until when."""
    said = [f"server {row['server']}"]
    if row["name"] is not None:
        said.append(f"name {row['name']}")
    if row["client"] is not None:
        said.append(f"client {row['client'] or 'not named in the log'}")
    said.append(f"made {row['created'][:10]} by {row['created_by']}")
    said.append(f"ends {row['expires'][:16]}Z" if row["expires"] else "never ends")
    if row["embed"]:
        said.append(f"may be framed by {' '.join(row['embed'])}")
    if row["last_used"]:
        said.append(f"last used {row['last_used'][:16]}Z")
    if row["revoked"]:
        said.append(f"revoked {row['revoked'][:16]}Z by {row['revoked_by']}")
    elif not row["stands"]:
        said.append("has ended")
    return terminal.safe(", ".join(said))
