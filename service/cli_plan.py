"""`lastcall plan`: a roll-out of notifications in two waves, made beforehand and read afterwards."""

from typing import Any

import click
from click import echo

from service import terminal
from service.cli_common import (
    InOrder,
    asked,
    db_option,
    existing_settings,
    json_option,
    print_json,
    ready_engine,
    settings_of,
)
from service.clock import system_clock

number_argument = click.argument(
    "number", metavar="NUMBER", type=click.IntRange(1, 2**31 - 1), help="of the plan"
)


@click.group("plan", cls=InOrder)
def group() -> None:
    """Plan a roll-out in two waves, so that its effect can be told from everything else."""


@group.command()
@click.argument("server", metavar="SERVER", help="the MCP server")
@click.option(
    "--wave-1",
    metavar="INSTANT",
    help="from when the first wave is told; the next midnight in UTC if not given",
)
@click.option(
    "--wave-2",
    metavar="INSTANT",
    help="from when the second wave is told; two weeks later if not given",
)
@click.option("--note", help="why")
@json_option
@db_option
def new(
    server: str,
    wave_1: str | None,
    wave_2: str | None,
    note: str | None,
    as_json: bool,
    db: str | None,
) -> None:
    """Split the clients that made stale calls in the last 28 days, before anybody is told."""
    from zoneinfo import ZoneInfo

    from service import answers
    from service.answers.query import instant_asked
    from service.planning import open_planning

    first, second = (
        None if at is None else instant_asked(option, at, ZoneInfo("UTC"))
        for option, at in (("--wave-1", wave_1), ("--wave-2", wave_2))
    )
    clients = _answer(db, answers.to_split, answers.Query.of(server=server))
    with open_planning(existing_settings(db)) as planning:
        made = planning.plan(
            server, clients, wave_1_us=first, wave_2_us=second, note=note, actor="command"
        )
    _show(_read(db, made.id), as_json=as_json)


@group.command("list")
@click.option("--server", help="only of this MCP server")
@json_option
@db_option
def list_plans(server: str | None, as_json: bool, db: str | None) -> None:
    """List every plan."""
    found = asked(db, "plans", server=server)
    if as_json:
        print_json(found)
        return
    for plan in found["items"]:
        echo(terminal.safe(_line(plan)))
    if not found["items"]:
        echo("no plan; `lastcall plan new SERVER` makes one")


@group.command()
@number_argument
@click.option(
    "--snippet",
    type=click.Choice(["typescript", "python"]),
    help="print the code that keeps to the plan, in this language",
)
@json_option
@db_option
def show(number: int, snippet: str | None, as_json: bool, db: str | None) -> None:
    """Show who is in which wave, or the code by which whoever sends notifications keeps to it."""
    from service import answers

    if snippet:
        echo(_answer(db, answers.plan_snippet, answers.Query(), number, snippet), nl=False)
        return
    _show(_read(db, number), as_json=as_json)


@group.command()
@number_argument
@click.option("--as-of", metavar="INSTANT", help="as if only earlier events had happened")
@json_option
@db_option
def read(number: int, as_of: str | None, as_json: bool, db: str | None) -> None:
    """Say whether telling clients changed anything, from the second wave's instant on."""
    found = _read(db, number, as_of)
    if as_json:
        print_json(found)
        return
    reading = found["reading"]
    if reading is None:
        echo(f"plan {number} was withdrawn: nothing is read of it")
        return
    echo(terminal.safe(f"{reading['verdict']}: {reading['sentence']}"))
    for name in ("wave_1", "wave_2"):
        wave = reading[name]
        echo(
            f"{name.replace('_', ' ')}: {wave['clients']} clients came, of them {wave['told']} told "
            f"between the instants, {wave['early']} before, {wave['untold']} not"
        )


@group.command()
@number_argument
@db_option
def withdraw(number: int, db: str | None) -> None:
    """Take a plan back: nothing is read of it any more."""
    from service.planning import open_planning

    with open_planning(existing_settings(db)) as planning:
        planning.withdraw(number, actor="command")
    echo(f"plan {number} is withdrawn")


def _answer(db: str | None, answer: Any, query: Any, *more: Any) -> Any:
    """What *answer* says to a question as of now."""
    from service.answers.query import moment_at
    from service.store.engine import reading

    opened = ready_engine(db)
    try:
        with reading(opened) as connection:
            return answer(connection, query, moment_at(system_clock(), settings_of(db)), *more)
    finally:
        opened.dispose()


def _read(db: str | None, number: int, as_of: str | None = None) -> dict[str, Any]:
    from service import answers
    from service.answers.query import plain

    found: dict[str, Any] = plain(_answer(db, answers.plan, answers.Query(as_of=as_of), number))
    return found


def _show(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    echo(terminal.safe(_line(found["plan"])))
    for wave in (1, 2):
        mine = [each["client"] for each in found["clients"] if each["wave"] == wave]
        echo(terminal.safe(f"wave {wave}: {', '.join(mine)}"))
    echo(f"for the sender: lastcall plan show {found['plan']['id']} --snippet typescript")


def _line(plan: dict[str, Any]) -> str:
    return (
        f"plan {plan['id']} of {plan['server']}: {plan['status']}; {plan['wave_1']} clients from "
        f"{plan['wave_1_at']}, {plan['wave_2']} from {plan['wave_2_at']}"
    )
