"""
The command `lastcall`: parses, calls, prints. Rooms that are slow to import are imported where used.

Results go to standard output, everything said beside them to standard error. Exit status: 0 done,
1 something could not be read or is wrong, 2 bad usage.
"""

import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click import echo

from service import (
    __version__,
    cli_catalogue,
    cli_clients,
    cli_database,
    cli_plan,
    cli_share,
    cli_tokens,
    cli_weekly,
    terminal,
)
from service.cli_common import (
    InOrder,
    db_option,
    existing_settings,
    json_option,
    print_json,
    ready_engine,
    settings_of,
)
from service.clock import system_clock
from service.errors import LastCallError, UnreadableInput
from service.settings import Settings, sqlite_path, unknown_variables, url_of

paths_argument = click.argument(
    "paths", metavar="PATH…", nargs=-1, required=True, help="files, globs, .gz, or - for stdin"
)
server_option = click.option("--server", help="the MCP server whose log this is")


@click.group(
    "lastcall",
    cls=InOrder,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.version_option(__version__, message="lastcall %(version)s", help="print the version")
def app() -> None:
    """Who still calls a retired MCP tool: reads server logs, stores every event once, answers."""


def main() -> None:
    """Run the command; a mistake ends in one clear line and its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the encoding cannot write
    try:
        status = app(standalone_mode=False)
    except LastCallError as error:
        terminal.complain(error.detail)
        status = error.exit_status
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except click.Abort:
        status = 130  # as a shell says that Ctrl-C ended it
    raise SystemExit(status)


@contextmanager
def _temporary_settings(settings: Settings) -> Iterator[Settings]:
    """The same settings over a database that is gone afterwards."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="lastcall-") as folder:
        url = url_of(str(Path(folder) / "lastcall.db"))
        yield replace(settings, database_url=url)


@contextmanager
def _kept_settings(file: Path) -> Iterator[Settings]:
    """Settings over a new file that stays: made-up months never get among real ones."""
    if file.exists():
        raise UnreadableInput(
            f"{file} is there already; name a new file, or show that one with `lastcall serve --db {file}`"
        )
    yield settings_of(str(file))


@app.command()
@paths_argument
@server_option
@click.option("--source", default="files", help="the feed that these files are")
@click.option("--dry-run", is_flag=True, help="store nothing; say what would be recognised")
@json_option
@db_option
def ingest(
    paths: tuple[str, ...],
    server: str | None,
    source: str,
    dry_run: bool,
    as_json: bool,
    db: str | None,
) -> None:
    """Read log files and store every event in them exactly once."""
    from service import intake

    settings = settings_of(db)
    if dry_run:
        with _temporary_settings(settings) as temporary:
            done = intake.read(paths, temporary, server=server, source=source, hints=True)
    else:
        done = intake.read(paths, settings, server=server, source=source)
    if as_json:
        print_json(done.receipt.as_json())
    else:
        terminal.receipt(done.receipt, dry_run=dry_run, hints=done.hints)
    _complain_of(done.unread)


@app.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, help="files or globs")
@server_option
@click.option("--source", default="files", help="the feed that these files are")
@click.option("--once", is_flag=True, help="read what is new, then stop")
@json_option
@db_option
def follow(
    paths: tuple[str, ...],
    server: str | None,
    source: str,
    once: bool,
    as_json: bool,
    db: str | None,
) -> None:
    """Read log files as they grow, through rotation and restarts, until stopped."""
    from service import following

    done = following.follow(paths, settings_of(db), server=server, source=source, once=once)
    if as_json:
        print_json(done.receipt.as_json())
    else:
        terminal.receipt(done.receipt, dry_run=False, hints=())
    _complain_of(done.unread)


@app.command()
@paths_argument
@server_option
@click.option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="write one self-contained page",
)
@json_option
@click.option("--tz", default="UTC", help="time zone of the answer")
def report(
    paths: tuple[str, ...], server: str | None, html: Path | None, as_json: bool, tz: str
) -> None:
    """Answer for log files alone: no server, no database left behind."""
    from service import intake

    with _temporary_settings(settings_of()) as settings:
        done = intake.read(paths, settings, server=server, source="files")
        from service import offline

        answer = offline.report(settings, tz=tz)
    if html is not None:
        from dashboards.report import report_page

        _write(html, report_page(answer, files=paths, receipt=done.receipt.as_json()))
        terminal.say(f"wrote {html}")
    if as_json:
        print_json({**answer, "receipt": done.receipt.as_json()})
    elif html is None:
        from service import terminal_report

        terminal_report.report(answer, done.receipt)
    _complain_of(done.unread)


@app.command()
@click.option("--host", help="address to listen on")
@click.option("--port", type=click.IntRange(0, 65_535), help="port to listen on")
@click.option(
    "--root-path",
    metavar="PATH",
    help="path under which a reverse proxy shows it, such as /lastcall",
)
@db_option
def serve(host: str | None, port: int | None, root_path: str | None, db: str | None) -> None:
    """
    Serve REST and the pages, and take log lines on POST /ingest. On an address that others can reach it asks for
    tokens, and does not start before there is one.
    """
    from service import serving

    settings = settings_of(db)
    given: dict[str, Any] = {"host": host, "port": port, "root_path": root_path}
    changed = {name: value for name, value in given.items() if value is not None}
    serving.serve(replace(settings, **changed))


@app.command()
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="port; 0 takes a free one")
@click.option(
    "--keep",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="keep the database in this new SQLite file, for other commands",
)
def demo(port: int, keep: Path | None) -> None:
    """Fill a temporary database with three made-up months, serve it, and print the address."""
    from service import demo as months
    from service import intake, serving

    # while the months are read, as afterwards: what is temporary goes, however the program is ended
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with _kept_settings(keep) if keep else _temporary_settings(settings_of()) as settings:
        now = datetime.fromtimestamp(system_clock() / 1e6, UTC)
        intake.read_lines(months.demo_logs(now), settings)
        intake.record(months.demo_releases(now), settings)
        serving.serve(replace(settings, host="127.0.0.1", port=port))


@app.command()
@click.argument("line", metavar="LINE", help="one log line, or - for stdin")
@json_option
def explain(line: str, as_json: bool) -> None:
    """Show what is made of one log line: profile, fields and where they came from, outcome."""
    from secrets import token_bytes

    from service.ingest import explain as explaining
    from service.ingest import keys
    from service.pipeline import recogniser

    raw = sys.stdin.buffer.readline() if line == "-" else line.encode("utf-8", "surrogateescape")
    passing = keys.Hasher(keys.Secrets(key=token_bytes(32), identity=token_bytes(32)))
    explanation = explaining.explain(raw.rstrip(b"\r\n"), recogniser(settings_of(), passing))
    if as_json:
        print_json(explanation.as_json())
    else:
        terminal.explanation(explanation)


@app.command()
@server_option
@click.option("--name", help="only this retired name; all of them, if not given")
@click.option(
    "--days", type=click.IntRange(1, 3_660), default=30, help="how long it must have been quiet"
)
@click.option("--as-of", metavar="INSTANT", help="answer as if it were then")
@json_option
@db_option
def check(
    server: str | None,
    name: str | None,
    days: int,
    as_of: str | None,
    as_json: bool,
    db: str | None,
) -> None:
    """
    Are retired names still called? One line of reason, and an exit status for a pipeline: 0 quiet, 1 still
    called, 3 unknown, since nothing is known of the name, part of the time was not watched, it was retired within
    that time and called until then, or something failed.
    """
    from service import offline
    from service.answers.query import plain

    with _unknown_if_it_fails():
        found = offline.check(
            existing_settings(db), server=server, name=name, days=days, as_of=as_of
        )
        if as_json:
            print_json(plain(found))
        else:
            echo(terminal.safe(f"{found.verdict}: {found.reason}"))
        raise SystemExit(found.exit_status)


@contextmanager
def _unknown_if_it_fails() -> Iterator[None]:
    """Whatever keeps a check from its answer leaves it unknown: a pipeline takes status 1 for a call."""
    try:
        yield
    except LastCallError as error:
        if error.exit_status != 1:
            raise
        terminal.complain(error.detail)
        raise SystemExit(3) from error
    except Exception as error:
        traceback.print_exc()
        raise SystemExit(3) from error


@app.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=20, help="how many, newest first")
@json_option
@db_option
def rejects(limit: int, as_json: bool, db: str | None) -> None:
    """List rejected records: what arrived, when, and why it could not be used."""
    from service import offline

    answer = offline.rejects(existing_settings(db), limit=limit)
    if as_json:
        print_json(answer)
    else:
        terminal.rejects(answer)


@app.command()
@db_option
def doctor(db: str | None) -> None:
    """Check installation, settings, profiles and database, and say what is wrong."""
    from service.analysis.known import load_clients
    from service.doctor import refuse_shared_names
    from service.pipeline import profiles_of

    terminal.say(f"lastcall {__version__}, Python {sys.version.split()[0]}")
    refuse_shared_names()
    terminal.say("installation: in an environment of its own")
    settings = settings_of(db)
    for name in unknown_variables(os.environ):
        terminal.complain(f"{name} is not a setting; see docs/reference/settings.md")
    terminal.say("profiles: " + ", ".join(profile.name for profile in profiles_of(settings)))
    layers = load_clients(settings.clients_file).layers
    terminal.say(f"known clients: {sum(map(len, layers))}, {len(layers[-1])} of them ours")
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        terminal.say(f"database: none at {path} yet; `lastcall ingest` or `serve` makes it")
        return
    opened = ready_engine(db)
    terminal.say(f"database: {opened.url.render_as_string(hide_password=True)}, schema up to date")


app.add_command(cli_catalogue.group)
app.add_command(cli_clients.group)
app.add_command(cli_plan.group)
app.add_command(cli_tokens.group)
app.add_command(cli_share.group)
app.add_command(cli_weekly.weekly)
app.add_command(cli_database.group)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnreadableInput(f"cannot write {path}: {error.strerror}") from error


def _complain_of(unread: list[str]) -> None:
    for complaint in unread:
        terminal.complain(complaint)
    if unread:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
