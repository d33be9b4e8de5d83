"""
The command `lastcall`: parses, calls, prints. Rooms that are slow to import are imported where used.

Results go to standard output, everything said beside them to standard error. Exit status: 0 done,
1 something could not be read or is wrong, 2 bad usage.
"""

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes
from typing import Annotated, Any

import typer
from typer import echo

from service import __version__, terminal, terminal_report
from service.clock import system_clock
from service.errors import LastCallError, NotFound, UnreadableInput
from service.events import Receipt
from service.settings import (
    Settings,
    settings_from_environment,
    sqlite_path,
    unknown_variables,
    url_of,
)

app = typer.Typer(
    name="lastcall",
    help="Who still calls a retired MCP tool: reads server logs, stores every event once, answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
database = typer.Typer(help="Look after the database.", no_args_is_help=True)
app.add_typer(database, name="db")

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH…", help="files, globs, .gz, or - for stdin")
]
Db = Annotated[
    str | None, typer.Option("--db", metavar="URL", help="database URL, or path of a SQLite file")
]
Server = Annotated[str | None, typer.Option(help="the MCP server whose log this is")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


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


def _settings(db: str | None = None) -> Settings:
    """Settings from the environment, with `--db` before `LASTCALL_DATABASE_URL`."""
    return settings_from_environment(**({"database_url": db} if db else {}))


def _existing(db: str | None) -> Settings:
    """Settings whose database is there: a question must not make an empty one."""
    settings = _settings(db)
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        raise UnreadableInput(f"no database at {path}; `lastcall ingest` or `serve` makes one")
    return settings


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

    settings = _settings(db)
    if dry_run:
        with _temporary_settings(settings) as temporary:
            done = intake.read(paths, temporary, server=server, source=source, hints=True)
    else:
        done = intake.read(paths, settings, server=server, source=source)
    if as_json:
        _print_json(done.receipt.as_json())
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

    with _temporary_settings(_settings()) as settings:
        done = intake.read(paths, settings, server=server, source="files")
        from service import offline

        answer = offline.report(settings, tz=tz)
    if html is not None:
        from dashboards.report import report_page

        _write(html, report_page(answer, files=paths, receipt=done.receipt.as_json()))
        terminal.say(f"wrote {html}")
    if as_json:
        _print_json({**answer, "receipt": done.receipt.as_json()})
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

    settings = _settings(db)
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

    with _temporary_settings(_settings()) as settings:
        logs = months.demo_logs(datetime.fromtimestamp(system_clock() / 1e6, UTC))
        intake.read_lines(logs, settings)
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
    explanation = explaining.explain(raw.rstrip(b"\r\n"), recogniser(_settings(), passing))
    if as_json:
        _print_json(explanation.as_json())
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

    answer = offline.rejects(_existing(db), limit=limit)
    if as_json:
        _print_json(answer)
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
    settings = _settings(db)
    for name in unknown_variables(os.environ):
        terminal.complain(f"{name} is not a setting; see docs/reference/settings.md")
    terminal.say("profiles: " + ", ".join(profile.name for profile in profiles_of(settings)))
    path = sqlite_path(settings.database_url)
    if path is not None and not path.exists():
        terminal.say(f"database: none at {path} yet; `lastcall ingest` or `serve` makes it")
        return
    opened = _ready(db)
    terminal.say(f"database: {opened.url.render_as_string(hide_password=True)}, schema up to date")


@database.command()
def upgrade(db: Db = None) -> None:
    """Bring the schema up to date."""
    from service.store import engine, migrate

    migrate.upgrade(engine.make_engine(_settings(db).database_url))
    terminal.say("the schema is up to date")


@database.command()
def check(db: Db = None) -> None:
    """Compare every roll-up with the events; name each cell that differs (then exit status 1)."""
    from service.store import check as checking
    from service.store import engine

    with engine.reading(_ready(db)) as connection:
        found = checking.differences(connection)
    for line in found:
        echo(terminal.safe(line))
    if found:
        terminal.complain(
            f"{len(found)} differences; `lastcall db rebuild` derives the roll-ups again"
        )
        raise typer.Exit(1)
    terminal.say("every roll-up agrees with the events")


@database.command()
def rebuild(db: Db = None) -> None:
    """Derive the roll-ups and all else that is derived from the events again."""
    from service.store import check as checking
    from service.store import engine

    with engine.writing(_ready(db)) as connection:
        changed = checking.rebuild(connection)
    terminal.say(f"rebuilt; {changed} cells or rows were different")


@database.command()
def retire(
    server: Annotated[str, typer.Argument(help="the server")],
    source: Annotated[str, typer.Argument(help="the feed of it that has ended")],
    undo: Annotated[bool, typer.Option("--undo", help="it goes on after all")] = False,
    db: Db = None,
) -> None:
    """Say that a feed has ended, so that its silence is no gap."""
    from service.store import engine, feeds

    at_us = None if undo else system_clock()
    with engine.writing(_ready(db)) as connection:
        known = feeds.retire(connection, server_name=server, source_name=source, at_us=at_us)
    if not known:
        raise NotFound(f"no source {source!r} of server {server!r}; `lastcall db stats` lists them")
    terminal.say(f"{server}/{source} {'goes on' if undo else 'has ended'}")


@database.command()
def stats(as_json: AsJson = False, db: Db = None) -> None:
    """Count what is stored, and list the batches it came in."""
    from service.store import engine
    from service.store import stats as counting

    with engine.reading(_ready(db)) as connection:
        found = counting.stats(connection)
    if as_json:
        _print_json(found)
    else:
        terminal.stats(found)


def _ready(db: str | None) -> Any:
    """An engine over a database that is there and whose schema is up to date."""
    from service.store import engine, migrate

    settings = _existing(db)
    opened = engine.make_engine(settings.database_url)
    migrate.ensure_ready(opened, settings.auto_upgrade)
    return opened


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnreadableInput(f"cannot write {path}: {error.strerror}") from error


def _print_json(value: object) -> None:
    # On a terminal a stranger's control characters must stay text.
    ascii_only = sys.stdout.isatty()
    echo(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=2))


def _complain_of(unread: list[str]) -> None:
    for complaint in unread:
        terminal.complain(complaint)
    if unread:
        raise typer.Exit(1)


__all__ = ["Receipt", "app", "main"]
