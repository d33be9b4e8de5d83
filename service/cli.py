"""
The command `lastcall`: parses, calls, prints. Rooms that are slow to import are imported where used.

Results go to standard output, everything said beside them to standard error. Exit status: 0 done,
1 something could not be read or is wrong, 2 bad usage.
"""

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes
from typing import Annotated

import typer
from typer import echo

from service import __version__, cli_catalogue, cli_database, terminal, terminal_report
from service.cli_common import AsJson, Db, existing_settings, print_json, ready_engine, settings_of
from service.clock import system_clock
from service.errors import LastCallError, UnreadableInput
from service.settings import Settings, sqlite_path, unknown_variables, url_of

app = typer.Typer(
    name="lastcall",
    help="Who still calls a retired MCP tool: reads server logs, stores every event once, answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(cli_catalogue.app, name="catalogue")
app.add_typer(cli_database.app, name="db")

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH…", help="files, globs, .gz, or - for stdin")
]
Server = Annotated[str | None, typer.Option(help="the MCP server whose log this is")]


def main() -> None:
    """Run the command; a mistake ends in one clear line and its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the encoding cannot write
    try:
        app()
    except LastCallError as error:
        terminal.complain(error.detail)
        raise SystemExit(error.exit_status) from None


@contextmanager
def _temporary_settings(settings: Settings) -> Iterator[Settings]:
    """The same settings over a database that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lastcall-") as folder:
        url = url_of(str(Path(folder) / "lastcall.db"))
        yield settings.model_copy(update={"database_url": url})


def _version(wanted: bool) -> None:
    if wanted:
        echo(f"lastcall {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass


@app.command()
def ingest(
    paths: Paths,
    server: Server = None,
    source: Annotated[str, typer.Option(help="the feed that these files are")] = "files",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="store nothing; say what would be recognised")
    ] = False,
    as_json: AsJson = False,
    db: Db = None,
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
def report(
    paths: Paths,
    server: Server = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="write one self-contained page")
    ] = None,
    as_json: AsJson = False,
    tz: Annotated[str, typer.Option(help="time zone of the answer")] = "UTC",
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
        terminal_report.report(answer, done.receipt)
    _complain_of(done.unread)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="port to listen on")] = None,
    db: Db = None,
) -> None:
    """Serve REST and the pages, and take log lines on POST /ingest."""
    from service import serving

    settings = settings_of(db)
    given = {"host": host, "port": port}
    changed = {name: value for name, value in given.items() if value is not None}
    serving.serve(settings.model_copy(update=changed))


@app.command()
def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="port; 0 takes a free one")] = 0,
) -> None:
    """Fill a temporary database with three made-up months, serve it, and print the address."""
    from service import demo as months
    from service import intake, serving

    with _temporary_settings(settings_of()) as settings:
        now = datetime.fromtimestamp(system_clock() / 1e6, UTC)
        intake.read_lines(months.demo_logs(now), settings)
        intake.record(months.demo_releases(now), settings)
        serving.serve(settings.model_copy(update={"host": "127.0.0.1", "port": port}))


@app.command()
def explain(
    line: Annotated[str, typer.Argument(metavar="LINE", help="one log line, or - for stdin")],
    as_json: AsJson = False,
) -> None:
    """Show what is made of one log line: profile, fields and where they came from, outcome."""
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
def rejects(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="how many, newest first")] = 20,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List rejected records: what arrived, when, and why it could not be used."""
    from service import offline

    answer = offline.rejects(existing_settings(db), limit=limit)
    if as_json:
        print_json(answer)
    else:
        terminal.rejects(answer)


@app.command()
def doctor(db: Db = None) -> None:
    """Check installation, settings, profiles and database, and say what is wrong."""
    from service.doctor import refuse_shared_names
    from service.pipeline import profiles_of

    terminal.say(f"lastcall {__version__}, Python {sys.version.split()[0]}")
    refuse_shared_names()
    terminal.say("installation: in an environment of its own")
    settings = settings_of(db)
    for name in unknown_variables(os.environ):
        terminal.complain(f"{name} is not a setting; see docs/reference/settings.md")
    terminal.say("profiles: " + ", ".join(profile.name for profile in profiles_of(settings)))
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        terminal.say(f"database: none at {path} yet; `lastcall ingest` or `serve` makes it")
        return
    opened = ready_engine(db)
    terminal.say(f"database: {opened.url.render_as_string(hide_password=True)}, schema up to date")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnreadableInput(f"cannot write {path}: {error.strerror}") from error


def _complain_of(unread: list[str]) -> None:
    for complaint in unread:
        terminal.complain(complaint)
    if unread:
        raise typer.Exit(1)
