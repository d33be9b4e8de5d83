"""A command loads what it needs and no more: a short log is read sooner than a web framework loads."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.checkout import ROOT

SLOW = (
    "alembic",
    "fastapi",
    "jinja2",
    "numpy",
    "plotly",
    "psycopg",
    "pydantic",
    "rich",
    "sqlalchemy",
)


def loaded(program: str) -> set[str]:
    """The packages that are loaded once *program* has run in a Python of its own."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules, file=sys.__stdout__)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


PARSE = "from service.cli import app\napp.main({arguments!r}, standalone_mode=False)"


@pytest.mark.parametrize(
    "program",
    [
        "import service.cli",
        PARSE.format(arguments=["--version"]),
        PARSE.format(arguments=["--help"]),
        PARSE.format(arguments=["ingest", "--help"]),
        PARSE.format(arguments=["follow", "--help"]),
        "import service.settings as s; s.settings_from_environment(database_url='calls.db')",
    ],
)
def test_the_command_line_starts_without_what_is_slow_to_load(program: str) -> None:
    """Neither definition nor parsing of a command, nor its settings, loads a room that it may not enter."""
    assert loaded(program) & set(SLOW) == set()


def test_reading_a_log_into_a_database_that_is_ready_loads_nothing_slow(tmp_path: Path) -> None:
    """Only making or upgrading the database needs SQLAlchemy and Alembic."""
    log = tmp_path / "server.log"
    log.write_text('{"time":"2026-10-05T10:15:02Z","msg":"Tools listed","data":{}}\n')
    ingest, follow = (
        PARSE.format(arguments=[*command, str(log), "--db", str(tmp_path / "calls.db")])
        for command in (["ingest"], ["follow", "--once"])
    )

    assert "sqlalchemy" in loaded(ingest)
    assert loaded(ingest) & set(SLOW) == set()
    assert loaded(follow) & set(SLOW) == set()


def test_what_is_loaded_is_seen() -> None:
    """The check can fail: a program that loads one of them is found out."""
    assert loaded("import rich.console") & set(SLOW) == {"rich"}
