"""`lastcall catalogue snapshot`, `diff` and `lint`: what a server lists, and what is wrong with that."""

from typing import Any

import click
from click import echo

from service import terminal
from service.cli_common import asked, db_option, json_option, print_json, settings_of
from service.errors import BadParameter, UnreadableInput


@click.command()
@click.option("--server", required=True, help="the MCP server, as its logs are named")
@click.option("--stdio", metavar="COMMAND", help="start the server with this command, and ask it")
@click.option("--url", help="ask the server at this address")
@click.option(
    "--header", "headers", metavar="'NAME: VALUE'", multiple=True, help="sent with each request"
)
@click.option("--version", help="the release; what the server says of itself if not given")
@json_option
@db_option
def snapshot(
    server: str,
    stdio: str | None,
    url: str | None,
    headers: tuple[str, ...],
    version: str | None,
    as_json: bool,
    db: str | None,
) -> None:
    """Ask a server over MCP which tools it lists, and keep the answer with its time."""
    from service import listing
    from service.answers.query import iso
    from service.cataloguing import open_cataloguing
    from service.entries import tools_of

    found = listing.ask(stdio=stdio, url=url, headers=_headers(headers))
    with open_cataloguing(settings_of(db)) as cataloguing:
        kept, outcome = cataloguing.snapshot(
            server,
            tools_of(found.tools),
            None,
            version=version or found.version,
            protocol_version=found.protocol_version,
            source="url" if url else "stdio",
            actor="command",
        )
    said = {
        "server": kept.server,
        "at": iso(kept.at_us),
        "version": kept.version,
        "protocol_version": kept.protocol_version,
        "tools": [tool["name"] for tool in kept.tools],
        "outcome": outcome.value,
    }
    if as_json:
        print_json(said)
        return
    release = kept.version or "no version"
    echo(
        terminal.safe(
            f"{kept.server} {release} at {said['at']}: {len(kept.tools)} tools, {outcome}"
        )
    )


def _headers(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise BadParameter("--header", "write it as 'Authorization: Bearer …'")
        found[name.strip()] = value.strip()
    return found


@click.command()
@click.argument("before", required=False, help="version, id or instant of the earlier snapshot")
@click.argument("after", required=False, help="of the later one; the latest if not given")
@click.option("--server", help="the MCP server; not needed where there is one")
@click.option("--entries", is_flag=True, help="print only entries for lost names, to be imported")
@json_option
@db_option
def diff(
    before: str | None,
    after: str | None,
    server: str | None,
    entries: bool,
    as_json: bool,
    db: str | None,
) -> None:
    """Say what breaks clients that hold a copy of an earlier tool list: the last two, or those named."""
    answer = asked(db, "diff", server=server, before=before, after=after)
    if answer["before"] is None or answer["after"] is None:
        raise UnreadableInput(
            "there are not two snapshots; `lastcall catalogue snapshot` takes one"
        )
    if entries:
        kept = ("server", "name", "last_release", "retired_at")
        print_json({"entries": [{k: row[k] for k in kept} for row in answer["proposals"]]})
    elif as_json:
        print_json(answer)
    else:
        _show_diff(answer)


def _show_diff(answer: dict[str, Any]) -> None:
    said = [f"{s['version'] or '–'} ({s['at']})" for s in (answer["before"], answer["after"])]
    echo(terminal.safe(f"{answer['after']['server']}: {said[0]} → {said[1]}"))
    echo(f"  {len(answer['lost'])} names lost, {len(answer['gained'])} gained")
    for row in answer["items"]:
        place = row["tool"] + (f", argument {row['argument']}" if row["argument"] else "")
        echo()
        echo(terminal.safe(f"{_word(row['rule'])} ({_word(row['weight'])}): {place}"))
        if row["rule"] != "name_lost":
            for label, text in (("before", row["before"]), ("after", row["after"])):
                if text is not None:
                    echo(terminal.safe(f"  {label}: {text[:300]}"))
        echo(terminal.safe(f"  {row['why']}"))
    echo()
    for row in answer["proposals"]:
        maybe = f", perhaps {' or '.join(row['maybe'])} now" if row["maybe"] else ""
        echo(terminal.safe(f"not catalogued: {row['name']}{maybe}"))
    if answer["proposals"]:
        terminal.say("`lastcall catalogue diff --entries` prints these as a file for `import`")


@click.command()
@click.option("--server", help="only this server")
@json_option
@db_option
def lint(server: str | None, as_json: bool, db: str | None) -> None:
    """Say what is wrong with the catalogue; exit status 1 where something certainly is."""
    answer = asked(db, "lint", server=server)
    if as_json:
        print_json(answer)
    else:
        for row in answer["items"]:
            place = f"{row['server']} {row['name']}"
            echo(
                terminal.safe(
                    f"{_word(row['rule'])} ({_word(row['weight'])}): {place}: {row['says']}"
                )
            )
        if not answer["items"]:
            terminal.say("nothing is wrong with the catalogue")
    if any(row["weight"] == "wrong" for row in answer["items"]):
        raise SystemExit(1)


def _word(name: str) -> str:
    return name.replace("_", " ")


COMMANDS = [snapshot, diff, lint]
