"""`lastcall clients`: who is whom, whose calls do not count, and what was done about them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click
from click import echo

from service import terminal
from service.cli_common import InOrder, db_option, existing_settings

if TYPE_CHECKING:
    from service.telling import Telling

T = TypeVar("T")
note_option = click.option("--note", help="why")
ACTOR = "command"


@click.group("clients", cls=InOrder)
def group() -> None:
    """Say who is whom, whose calls do not count, and what was done about them."""


def _tell(db: str | None, work: "Callable[[Telling], T]") -> T:
    from service.telling import open_telling

    with open_telling(existing_settings(db)) as telling:
        return work(telling)


@group.command()
@click.argument("client", metavar="CLIENT", help="the client, in any spelling")
@click.argument("target", metavar="TARGET", help="the client that it is, as it is to be shown")
@note_option
@db_option
def alias(client: str, target: str, note: str | None, db: str | None) -> None:
    """Say that one client is another: its calls count as the other's."""
    kept, outcome = _tell(db, lambda telling: telling.alias(client, target, note, actor=ACTOR))
    echo(terminal.safe(f"{kept.client} is {kept.target}: {outcome}"))


@group.command()
@click.argument("client", metavar="CLIENT", help="the client, in any spelling")
@db_option
def unalias(client: str, db: str | None) -> None:
    """Take an alias back."""
    _tell(db, lambda telling: telling.unalias(client, actor=ACTOR))
    echo(terminal.safe(f"{client} is itself again"))


@group.command()
@click.option("--client", help="only calls of this client, in any spelling; * for any text")
@click.option("--server", help="only calls to this MCP server")
@click.option("--version", help="only calls of this version")
@click.option("--network", help="only calls from this range of addresses, such as 203.0.113.0/24")
@note_option
@db_option
def exclude(
    client: str | None,
    server: str | None,
    version: str | None,
    network: str | None,
    note: str | None,
    db: str | None,
) -> None:
    """Leave calls out that have everything which is named: own tests, probes."""
    rule, outcome = _tell(
        db,
        lambda telling: telling.exclude(
            server=server, client=client, version=version, network=network, note=note, actor=ACTOR
        ),
    )
    echo(f"exclusion {rule.id}: {outcome}")


@group.command()
@click.argument(
    "number", metavar="NUMBER", type=click.IntRange(1, 2**31 - 1), help="of the exclusion"
)
@db_option
def include(number: int, db: str | None) -> None:
    """Take an exclusion back."""
    _tell(db, lambda telling: telling.include(number, actor=ACTOR))
    echo(f"exclusion {number} is taken back")


@group.command()
@click.argument(
    "kind",
    metavar="KIND",
    type=click.Choice(["contacted", "known", "resolved"]),
    help="contacted, known or resolved",
)
@click.argument("server", metavar="SERVER", help="the MCP server")
@click.argument("client", metavar="CLIENT", help='the client; "" for calls that name none')
@click.option("--name", help="the retired name; every one, if not given")
@click.option(
    "--at", metavar="INSTANT", help="when, such as 2026-10-05T10:15:02Z; now if not given"
)
@note_option
@db_option
def mark(
    kind: str,
    server: str,
    client: str,
    name: str | None,
    at: str | None,
    note: str | None,
    db: str | None,
) -> None:
    """Say that a client was contacted, is known, or was fixed: then only later calls are open."""
    from zoneinfo import ZoneInfo

    from service.answers.query import instant_asked, iso

    at_us = None if at is None else instant_asked("--at", at, ZoneInfo("UTC"))
    kept = _tell(
        db,
        lambda telling: telling.mark(
            kind=kind, server=server, client=client, name=name, at_us=at_us, note=note, actor=ACTOR
        ),
    )
    about = kept.name or "every name"
    who = client.strip() if kept.client else "what names no client"
    for what in kept.unknown:
        said = {"server": kept.server, "client": who, "name": about}[what]
        terminal.say(f"nothing is known of the {what} {said} yet; is it spelled as in the log?")
    echo(terminal.safe(f"mark {kept.id}: {who}, {about}: {kept.kind} at {iso(kept.at_us)}"))


@group.command()
@click.argument("number", metavar="NUMBER", type=click.IntRange(1, 2**31 - 1), help="of the mark")
@db_option
def unmark(number: int, db: str | None) -> None:
    """Take a mark back."""
    _tell(db, lambda telling: telling.unmark(number, actor=ACTOR))
    echo(f"mark {number} is taken back")
