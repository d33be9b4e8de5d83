"""`lastcall catalogue`: what is known of the servers beside their logs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click import echo

from service import cli_surface, terminal
from service.cli_common import InOrder, asked, db_option, json_option, print_json, settings_of

if TYPE_CHECKING:
    from service.entries import Told

server_option = click.option("--server", required=True, help="the MCP server whose names these are")
name_argument = click.argument("name", metavar="NAME", help="the retired name")


@click.group("catalogue", cls=InOrder)
def group() -> None:
    """Say what is known of the servers beside their logs: retired names, tools, releases."""


@group.command()
@click.argument("server", metavar="SERVER", help="the server")
@click.argument("version", metavar="VERSION", help="the version that came")
@click.option(
    "--at", metavar="INSTANT", help="when, such as 2026-10-05T10:15:02Z; now if not given"
)
@db_option
def release(server: str, version: str, at: str | None, db: str | None) -> None:
    """Record that a version of a server came. The same version again moves it, if the instant differs."""
    from service.answers.query import iso
    from service.cataloguing import open_cataloguing

    at_us = _instant("--at", at)
    with open_cataloguing(settings_of(db)) as cataloguing:
        kept, outcome = cataloguing.release(
            server, version, at_us, source="command", actor="command"
        )
    echo(terminal.safe(f"{kept.server} {kept.version} at {iso(kept.at_us)}: {outcome}"))


@group.command("import")
@click.argument("paths", metavar="FILE…", nargs=-1, required=True, help="files, or - for stdin")
@server_option
@click.option("--constant", metavar="NAME", help="the constant of a source file that holds them")
@click.option("--dry-run", is_flag=True, help="store nothing; say what would change")
@json_option
@db_option
def import_(
    paths: tuple[str, ...],
    server: str,
    constant: str | None,
    dry_run: bool,
    as_json: bool,
    db: str | None,
) -> None:
    """Read retired names from JSON, or from TypeScript or JavaScript, of which no code is run."""
    from service import importing

    read = importing.read_files(paths, server, constant)
    changes = importing.changes(settings_of(db), server, read)
    if not dry_run:
        importing.store(settings_of(db), server, read)
    if as_json:
        print_json(
            {
                "entries": changes,
                "names": None if read.names is None else len(read.names),
                "problems": read.problems,
                "stored": not dry_run,
            }
        )
    else:
        _show_import(read.names, changes, dry_run)
    for name, number in sorted(read.ignored.items()):
        terminal.say(f"left out: {name} ({number} entries), which is nothing that is kept")
    for name in read.twice:
        terminal.say(f"more than once, of which the last counts: {name}")
    if importing.waits_for_snapshot(settings_of(db), server, read):
        terminal.say(
            "the list of all names is held against a snapshot, and there is none yet: see "
            "`lastcall catalogue snapshot`, then `lint`"
        )
    for problem in read.problems:
        terminal.complain(problem)
    if read.problems:
        raise SystemExit(1)


def _show_import(names: Sequence[str] | None, changes: list[dict[str, Any]], dry_run: bool) -> None:
    if dry_run:
        terminal.say("dry run: nothing was stored")
    for change in changes:
        if change["outcome"] == "unchanged":
            continue
        echo(terminal.safe(f"{change['outcome']:<9} {change['name']}"))
        for fact, (before, after) in change["changes"].items():
            echo(terminal.safe(f"  {fact}: {_word(before)} → {_word(after)}"))
    if names is not None:
        echo(f"all names: {len(names)}")
    outcomes = [change["outcome"] for change in changes]
    counted = [f"{outcomes.count(w)} {w}" for w in ("created", "changed", "unchanged")]
    echo(f"entries: {len(outcomes)} ({', '.join(counted)})")


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(value) or "nothing"
    return "–" if value is None else str(value)


@group.command()
@click.option("--server", help="only this server")
@db_option
def export(server: str | None, db: str | None) -> None:
    """Print the catalogue as JSON that `import` reads back to the same."""
    rows = asked(db, "catalogue", server=server)["items"]
    kept = ("server", "name", "last_release", "replaced_by", "message", "retired_at", "hidden")
    print_json({"entries": [{name: row[name] for name in kept} for row in rows]})


@group.command("list")
@click.option("--server", help="only this server")
@json_option
@db_option
def list_(server: str | None, as_json: bool, db: str | None) -> None:
    """List the entries, hidden ones too."""
    answer = asked(db, "catalogue", server=server)
    if as_json:
        print_json(answer)
        return
    for row in answer["items"]:
        release = f"after {row['last_release']}" if row["last_release"] else "release not said"
        replaced = row["replaced_by"]
        by = "replacement not said" if replaced is None else f"replaced by {_word(replaced)}"
        hidden = ", hidden" if row["hidden"] else ""
        echo(terminal.safe(f"{row['server']}  {row['name']}: {release}, {by}{hidden}"))
    if not answer["items"]:
        terminal.say("the catalogue is empty; `lastcall catalogue import` fills it")


@group.command("set")
@name_argument
@server_option
@click.option("--last-release", help="the last release that listed it")
@click.option("--replaced-by", metavar="TOOL", multiple=True, help="a tool that does its job now")
@click.option("--no-replacement", is_flag=True, help="nothing replaces it")
@click.option("--message", help="what its callers are told")
@click.option("--retired-at", metavar="INSTANT", help="since when it is not listed")
@db_option
def set_(
    name: str,
    server: str,
    last_release: str | None,
    replaced_by: tuple[str, ...],
    no_replacement: bool,
    message: str | None,
    retired_at: str | None,
    db: str | None,
) -> None:
    """Say that a name is retired, and what else is known of it. What is not given stays; "" takes it back."""
    from service.entries import told

    if replaced_by and no_replacement:
        raise click.UsageError("give --replaced-by or --no-replacement, not both")
    said: dict[str, Any] = {}
    if replaced_by or no_replacement:
        said["replaced_by"] = None if replaced_by == ("",) else list(replaced_by)
    given = {"last_release": last_release, "message": message}
    said |= {fact: value or None for fact, value in given.items() if value is not None}
    if retired_at is not None:
        said["retired_us"] = _instant("--retired-at", retired_at or None)
    _tell(db, server, told(name, **said))


@group.command()
@name_argument
@server_option
@db_option
def hide(name: str, server: str, db: str | None) -> None:
    """Take a mistyped or hostile name out of all answers. Nothing of it is deleted."""
    _hide(db, server, name, hidden=True)


@group.command()
@name_argument
@server_option
@db_option
def unhide(name: str, server: str, db: str | None) -> None:
    """Show a hidden name again."""
    _hide(db, server, name, hidden=False)


def _tell(db: str | None, server: str, said: "Told") -> None:
    from service.cataloguing import open_cataloguing

    with open_cataloguing(settings_of(db)) as cataloguing:
        [(entry, outcome)] = cataloguing.entries(server, [said], source="set", actor="command")
    echo(terminal.safe(f"{entry.server} {entry.name}: {outcome}"))


def _hide(db: str | None, server: str, name: str, *, hidden: bool) -> None:
    from service.cataloguing import open_cataloguing

    with open_cataloguing(settings_of(db)) as cataloguing:
        entry, outcome = cataloguing.hide(server, name, hidden=hidden, actor="command")
    word = "unchanged" if outcome == "unchanged" else "hidden" if hidden else "shown again"
    echo(terminal.safe(f"{entry.server} {entry.name}: {word}"))


def _instant(option: str, text: str | None) -> int | None:
    from zoneinfo import ZoneInfo

    from service.answers.query import instant_asked

    return None if text is None else instant_asked(option, text, ZoneInfo("UTC"))


for command in cli_surface.COMMANDS:
    group.add_command(command)
